// Plays one scheme after the other on one sequence of jobs. Who chooses them is outside and hands
// in the next one as text.
//
// A switch happens at a job boundary. From the next event on no new job is started, those in flight
// are finished by the scheme that began them, and only then does the next scheme open its first
// round, with the first job that nobody has started. So no job is lost, none is done twice, and
// every model has one live version, as with one scheme.
//
// Schemes cut a batch into chunks of their own. A driver knows one cut for the whole run: here
// every sample is a chunk, and rows are rewritten in samples.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paceline/cloned.hpp"
#include "paceline/coordinator.hpp"
#include "paceline/expected.hpp"
#include "paceline/scheme.hpp"

namespace paceline {

/// A scheme with its close policy, as texts.
struct SchemeChoice {
  std::string scheme;
  std::string close = "eager";

  bool operator==(const SchemeChoice&) const = default;
};

struct SwitchOptions {
  int workers = 0;     ///< n >= 1
  int jobs = 0;        ///< J >= 1, of all schemes together
  int models = 0;      ///< M; no scheme may keep more jobs in flight
  int batch_size = 1;  ///< samples per job
  std::uint64_t seed = 0;
  bool cancel_stragglers = true;     ///< as in RoundOptions
  bool study_between_rounds = true;  ///< as in RoundOptions
  MessageType message_type = MessageType::kFloat32;
};

class SwitchingCoordinator final : public Coordinator {
 public:
  /// A gradient is cut into so many parts: the driver's layout must fit every scheme.
  static constexpr int kParts = 2;

  /// What was played from which round and job on.
  struct Segment {
    SchemeChoice choice;
    SchemeInfo info;
    Round first_round;
    JobId first_job;
  };

  /// An error: a wrong text, or a scheme that keeps more than M jobs in flight.
  static Expected<std::unique_ptr<SwitchingCoordinator>> make(const SchemeChoice& first,
                                                              const SwitchOptions& options);

  /// Sizes of the driver's chunks, shape (batch_size): a sample each.
  std::vector<double> chunk_size() const;

  /// Play this next. A later call before the boundary replaces it. An error changes nothing.
  Expected<void> switch_to(const SchemeChoice& next);

  /// Whether a switch was asked for that has not happened.
  bool is_switching() const { return next_.has_value(); }

  /// In order; the last one is being played.
  const std::vector<Segment>& segments() const { return segments_; }

  /// What round `round` belongs to. @pre it has been opened
  const Segment& segment_of(Round round) const;

  Actions start(Seconds now) override;
  Actions on(const Event& event, Seconds now) override;

  bool study() override { return inner_->study(); }

  std::unique_ptr<Coordinator> clone() const override;

 private:
  explicit SwitchingCoordinator(const SwitchOptions& options) : options_(options) {}

  Expected<void> begin(const SchemeChoice& choice, Round first_round, JobId first_job);
  void pass_on(Actions actions, Seconds now, Actions& out);
  Order translated(Order order);
  Row in_samples(const Row& row) const;
  JobId translated(JobId job) const;
  Round translated(Round round) const;

  SwitchOptions options_;
  std::vector<Segment> segments_;
  Cloned<Coordinator> inner_{nullptr};
  std::vector<int> borders_;  ///< of the chunks of the scheme that is played, in samples
  std::optional<SchemeChoice> next_;
  bool draining_ = false;
  int end_job_ = 0;  ///< jobs before it belong to the segments so far
  Round last_round_{-1};
};

}  // namespace paceline
