// A scheme is a pure state machine: it says what each worker shall do in a round, is told who
// answered, says whether the round may close, and says which jobs can be decoded with which
// coefficients. It holds no clock, thread, file or gradient; identifiers go in and out, never
// payloads.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/arrivals.hpp"
#include "paceline/expected.hpp"
#include "paceline/ids.hpp"
#include "paceline/message.hpp"
#include "paceline/message_type.hpp"
#include "paceline/whole_rounds.hpp"
#include "paceline/worker_set.hpp"

namespace paceline {

/// One worker's work for one job in one round; makes one message.
struct MiniTask {
  JobId job;
  Row row;
  double load = 0;  ///< fraction of the data set this costs
};

struct RoundPlan {
  std::vector<std::vector<MiniTask>>
      per_worker;  ///< shape (n); a worker does its list in this order
};

/// What a round has heard so far. All vectors have shape (n).
struct Answers {
  std::vector<int>
      done;  ///< done[i]: how many of worker i's mini-tasks have answered (always the first ones)
  std::vector<Seconds>
      time;  ///< response time of its last answer since the round opened; kNever if none
  std::vector<Seconds>
      compute;  ///< the part of it spent on computing, as the worker reports; 0 if unknown
  std::vector<Seconds>
      waited;  ///< the part of it for which the order lay behind older ones of its worker

  explicit Answers(int workers = 0)
      : done(static_cast<std::size_t>(workers), 0),
        time(static_cast<std::size_t>(workers), kNever),
        compute(static_cast<std::size_t>(workers), Seconds{0}),
        waited(static_cast<std::size_t>(workers), Seconds{0}) {}
};

/// An answer to a round that has closed.
struct LateAnswer {
  Round round;
  WorkerId worker;
  int done = 0;        ///< so many of the worker's mini-tasks of that round are answered now
  Seconds took{0};     ///< since that round opened
  Seconds compute{0};  ///< the part of it spent on computing
  Seconds waited{0};   ///< the part of it behind older orders of the worker
};

/// Which answers are enough to close a round.
enum class CloseRule {
  kDecodable,  ///< every job that is due can be decoded and no later job has become impossible
  kModel,      ///< the pattern conforms to the scheme's straggler model, so the theorem holds
  kPublished,  ///< the test of the published program (spec 9.3): kModel with its quirks, kept to
               ///< reproduce its numbers
};

struct SchemeInfo {
  std::string name;        ///< "m-sgc"
  std::string parameters;  ///< canonical text: "B=1,W=2,lambda=27,code=repetition"
  int workers = 0;         ///< n
  int decode_delay =
      0;  ///< T: a job is decoded by the close of the T-th round after the one it opened in
  int jobs_per_round = 1;  ///< m: new jobs in a full round
  int open_jobs = 1;       ///< most jobs in flight; so many models are needed
  /// A worker answers its list one by one, each message when it is made, instead of all in one go.
  /// All tasks of a round then belong to one job.
  bool one_by_one = false;
  bool self_setting = false;  ///< changes its setting as the run goes; load is that of the first
  MessageShape shape = {};    ///< of the code inside
  // Schemes that add work (Scheme::adds_work) state the next two for a round without open work.
  double load = 0;                 ///< largest normalized load of a worker per round
  int messages_per_round = 1;      ///< most vectors a worker sends per round
  double storage = 1;              ///< fraction of the data set that a worker must hold, largest
  std::vector<double> chunk_size;  ///< fraction of a job's batch in each chunk, sums to 1
  double amplification_limit = std::numeric_limits<double>::infinity();  ///< no decoding exceeds it
  double error_bound =
      0;  ///< bound on a decoded gradient's error from the code, relative to sum_j |g_j|

  /// "m-sgc:B=1,W=2,lambda=27,code=repetition"
  std::string label() const { return parameters.empty() ? name : name + ":" + parameters; }
};

inline constexpr int kEndless = std::numeric_limits<int>::max();

/// Plays an endless sequence of jobs from round 0. Whoever drives it leaves out work of jobs that
/// do not exist. A round goes: plan, then may_close (often), more (where used), then close, once.
/// Rounds come in order.
class Scheme {
 public:
  virtual ~Scheme() = default;

  virtual const SchemeInfo& info() const = 0;

  /// What each worker shall do; depends on everything closed so far. Asking twice changes nothing.
  /// Within a worker's list older jobs come first. @pre round is the first one not closed
  virtual RoundPlan plan(Round round) const = 0;

  /// Whether the round may close on these answers. Monotone in `answers.done`; true when everyone
  /// has answered all.
  virtual bool may_close(Round round, const Answers& answers) const = 0;

  /// Extra mini-tasks in the middle of a round, appended to the lists of workers that are done
  /// (relay's rescue copies). Called after each answer; returns an empty plan (per_worker empty)
  /// when there is nothing to add.
  virtual RoundPlan more(Round /*round*/, const Answers& /*answers*/) { return {}; }

  /// Whether more() ever adds anything, so that drivers can save the calls.
  virtual bool adds_work() const { return false; }

  /// Closes the round and returns what can be decoded now. @pre may_close(round, answers)
  virtual std::vector<Decoding> close(Round round, const Answers& answers) = 0;

  /// What can be decoded now that this has come.
  virtual std::vector<Decoding> late(const LateAnswer& /*answer*/) { return {}; }

  /// Does a small piece of work that improves later plans and can wait (relay's shadow runs).
  /// Drivers call it while they have nothing else to do; a plan never waits for it, but a
  /// simulation lets it finish between close() and plan().
  /// @return whether more is left
  virtual bool study() { return false; }

  /// Whether orders of this round run on although stragglers are stopped when a round closes, since
  /// their times teach. Asked at every close; an order is stopped once the answer is no.
  virtual bool spares_stragglers(Round /*round*/) const { return false; }

  /// Whether a round depends on nothing but its own answers: more(), late() and study() do nothing,
  /// and of `Answers` only `done` and `time` are read. Simulations of stateless workers with the
  /// eager policy then look for the answer with which a round may close, which is faster than to
  /// play every one as an event.
  virtual bool answers_decide() const { return timeless(); }

  // ---- Rounds without messages ----
  // A simulation without gradients only wants to know who works how long, whether the round may
  // close without these workers, and which jobs are done then. A timeless scheme can be asked just
  // that: a round goes loads, then may_pass and first_pass (as needed), then pass, once. A game is
  // played either this way or through plan and close, never both.

  /// Whether nothing counts but who has answered everything when the round closes: more() and
  /// late() do nothing, `Answers` is read for nothing else.
  virtual bool timeless() const { return false; }

  /// Each worker's load in this round, without the work of jobs that do not exist: those before the
  /// first, and those from `jobs` on. With kEndless all that plan() lists counts.
  /// @param loads  shape (n), overwritten: the sum over the worker's list in its order; kNoWork for
  ///               workers with nothing to do
  /// @return how many have work
  virtual int loads(Round round, int jobs, std::span<double> loads) const;

  static constexpr double kNoWork = -1;

  /// may_close() when all but these workers, who have work, have answered everything.
  virtual bool may_pass(Round round, const WorkerSet& missing) const;

  /// The first answer with which the round may pass; kBeforeAnswers if it may without any,
  /// kAfterAllTime if it never may.
  virtual Moment first_pass(Round round, Arrivals& arrivals) const;

  /// close() without messages. @return how many jobs before `jobs` are decoded now
  /// @pre may_pass(round, missing)
  virtual int pass(Round round, const WorkerSet& missing, int jobs);

  /// For schemes that look at times: the same game from its first round on, played by whole rounds
  /// with stateless workers and the eager close policy. Stragglers are stopped if the scheme was
  /// built so. @return null if the scheme cannot be played so
  /// @param times  must outlive the result
  virtual std::unique_ptr<WholeRounds> whole_rounds(const ResponseTimes& /*times*/) const {
    return nullptr;
  }

  /// A copy that continues like its original.
  virtual std::unique_ptr<Scheme> clone() const = 0;

 protected:
  Scheme() = default;
  Scheme(const Scheme&) = default;
  Scheme& operator=(const Scheme&) = default;
};

/// Workers with work in `plan` that have not answered all of it.
WorkerSet stragglers(const RoundPlan& plan, const Answers& answers);

/// What a scheme is built for.
struct SchemeContext {
  int workers = 0;
  int jobs = kEndless;  ///< how many jobs there are, for schemes that hurry at the end (relay)
  CloseRule rule = CloseRule::kDecodable;
  std::uint64_t seed = 0;
  bool stops_stragglers = false;  ///< when a round closes, so that their times stay unknown
  bool keep_promise =
      true;  ///< refuse codes that cannot keep promised_error(); false for payload-free simulations
  bool messages =
      true;  ///< false: only rounds without messages will be played, so codes need no weights
  MessageType message_type = MessageType::kFloat32;  ///< what codes promise their error for
};

/// Builds a scheme from text: "gc:s=3", "m-sgc:B=1,W=2,lambda=27,code=repetition",
/// "sr-sgc:B=1,W=2,lambda=8,bundle=2". Every wrong name or value is an error that names the nearest
/// right choice or what is allowed.
Expected<std::unique_ptr<Scheme>> make_scheme(std::string_view text, const SchemeContext& context);

/// Splits "gc:s=2,code=cyclic,uncoded,m-sgc:B=1,W=2,lambda=4" into one text per scheme.
std::vector<std::string> split_schemes(std::string_view text);

struct SchemeParameter {
  std::string name;     ///< "lambda"
  std::string allowed;  ///< "0 <= lambda <= n"
  std::string meaning;  ///< one line
};

/// One row of `paceline schemes`.
struct SchemeDescription {
  std::string name;
  std::string summary;  ///< one line
  std::vector<SchemeParameter> parameters;
  std::string load;          ///< formula: "(s+1)/n"
  std::string decode_delay;  ///< formula: "W-2+B"
  std::string source;        ///< paper, section or equation
  std::string example;       ///< a text make_scheme accepts for n = 16
};

const std::vector<SchemeDescription>& scheme_catalog();

}  // namespace paceline
