// A gradient code is a value: who holds which chunks with which weights, and how to combine any set
// of answers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paceline/arrivals.hpp"
#include "paceline/expected.hpp"
#include "paceline/ids.hpp"
#include "paceline/message.hpp"
#include "paceline/message_type.hpp"
#include "paceline/worker_set.hpp"

namespace paceline {

/// One coefficient before it is known which round and task the message belongs to.
struct WorkerWeight {
  WorkerId worker;
  double weight = 1;
  int segment = kWhole;
  int part = kWhole;
};

/// gradient = sum of terms; only workers that answered appear, and none with weight 0.
struct Combination {
  std::vector<WorkerWeight> terms;
  double residual = 0;       ///< squared error |a G - 1|^2 / k; exact codes: rounding only
  double amplification = 1;  ///< A(S) = max_j sum_i |a_i| |G_ij|
};

/// Bound on |decoded - g| / sum_j |g_j| caused by the code: every message is rounded once to
/// `type`, its weights and the decoded sum once to float32, or to `type` if that is finer:
///     u A + v (A + 1) + sqrt(residual * k),
/// u and v the unit roundoffs of the two. Source: ours, derived in docs/math.md.
double decode_error_bound(double amplification, double residual, int chunks, MessageType type);

/// Every code promises that a gradient decoded from float32 messages is off by less than this,
/// relative to sum_j |g_j|. Sets of answers that would break the promise count as undecodable (one
/// more answer nearly always cures it).
inline constexpr double kPromisedError = 1e-5;

/// The same for messages of that type: 1e-2 for float16, 5e-2 for bfloat16.
double promised_error(MessageType type);

/// The largest amplification for which decode_error_bound(A, 0, ..., type) <= promised_error(type).
double promised_amplification(MessageType type);

/// How much a code magnifies rounding errors, measured over straggler sets of size exactly
/// `tolerance`: all of them where there are at most 1000, else 300 seeded random ones and the sets
/// of neighbours (then p95 is the larger of the two percentiles). A set that the code refuses
/// counts as infinite. Cost: below a second for n = 256, any s.
struct CodeQuality {
  double median_amplification = 1;
  double p95_amplification = 1;
  double worst_amplification = 1;  ///< the worst set seen
  double worst_residual = 0;
};

struct GradientCode {
  std::string name;
  bool exact = true;  ///< false: a decoding leaves a residual, even of all answers
  int chunks = 0;
  MessageShape shape = {};
  int tolerance = 0;               ///< s: any so many stragglers still decode (uneven groups may
                                   ///< tolerate more than was asked for)
  double load = 0;                 ///< largest share of the data that one worker processes
  int backward_passes = 1;         ///< what one message costs: 1, or 2 for complex weights
  std::vector<Row> rows;           ///< rows[i]: what worker i sends
  std::vector<double> chunk_size;  ///< shape (chunks), fractions that sum to 1

  /// Whether decode() answers for this set. Monotone: more answers never hurt (with a limit on the
  /// amplification: but for sets so rare that none was met where the code keeps its promise). True
  /// when all have answered.
  std::function<bool(const WorkerSet& answered)> decodable;
  /// Best combination of these answers, or nothing where the code cannot use them (or could not
  /// keep its promise).
  std::function<std::optional<Combination>(const WorkerSet& answered)> decode;
  /// The answer with which a round, in which all have work, becomes decodable; kAfterAllTime if
  /// none does. Empty: no shorter way is known than to ask decodable().
  std::function<Moment(Arrivals& arrivals)> first_decodable;

  int workers() const { return static_cast<int>(rows.size()); }

  const Row& row(WorkerId worker) const { return rows.at(worker.index()); }
};

/// The decoded gradient: out = sum of the combination's terms.
///
/// @param messages  shape (n) of shape (message length): messages[i] is worker i's, read only where
///                  it has a term
/// @param out       shape (d, rounded up to a multiple of code.shape.parts), overwritten
void apply(const GradientCode& code,
           const Combination& combination,
           std::span<const std::vector<float>> messages,
           std::span<float> out);

CodeQuality measure_quality(const GradientCode& code);

/// Fractional repetition: the workers form groups, all members of a group send the plain sum of the
/// group's data, and one answer per group decodes. Uneven groups where the number of groups does
/// not divide n.
/// Source: tandon2017gradient, section 3. Differs: uneven groups, mixed order, one chunk per group.
struct FractionalRepetitionOptions {
  int workers = 0;
  int stragglers = 0;  ///< s; the code uses floor(n / (s+1)) groups
  int groups = 0;      ///< if > 0, used instead of `stragglers`
  bool mixed = true;   ///< worker i in group i mod groups (neighbours straggle together); false:
                       ///< contiguous blocks
};

Expected<GradientCode> make_fractional_repetition(const FractionalRepetitionOptions& options);

/// Cyclic repetition with random weights, column form (exact decoding without stragglers is a plain
/// sum). Worker i holds chunks i, ..., i+s (modulo n).
/// Source: tandon2017gradient, section 4. Differs: draws the left null space instead of the rows.
struct CyclicRepetitionOptions {
  int workers = 0;
  int stragglers = 0;
  std::uint64_t seed = 0;
  int draws = 20;  ///< the draw with the least 95th percentile of the amplification is kept
  double amplification_limit =
      0;  ///< sets above it are undecodable; 0: promised_amplification(kFloat32); may be infinity
};

Expected<GradientCode> make_cyclic_repetition(const CyclicRepetitionOptions& options);

/// Cyclic MDS code on strided roots of unity: deterministic, closed-form decoding, complex weights
/// (two parts). Worker i holds chunks i, ..., i+s (modulo n).
/// Source: raviv2018cyclic. Differs: the stride, the closed form, real gradients as complex halves.
struct CyclicMdsOptions {
  int workers = 0;
  int stragglers = 0;
  int stride = 0;                  ///< u, coprime to n; 0: the one with the least Lambda
  double amplification_limit = 0;  ///< as above
};

Expected<GradientCode> make_cyclic_mds(const CyclicMdsOptions& options);

/// The codes by name: "repetition", "cyclic", "mds", or "auto".
std::vector<std::string> code_names();

/// What a scheme asks for when it needs a code.
struct CodeRequest {
  std::string name = "auto";
  int workers = 0;
  int stragglers = 0;
  std::uint64_t seed = 0;
  bool keep_promise =
      true;  ///< false: no limit on the amplification, no refusal (simulations that follow a paper)
  bool weights = true;  ///< false: costly weights need not be computed, since nobody will decode
                        ///< (the rows name their chunks all the same); only without keep_promise
  MessageType message_type = MessageType::kFloat32;  ///< what the promise is about
};

/// Builds the code, or refuses: wrong parameters, or a code that cannot keep its promise at this
/// (n, s), in which case the error names one that can. "auto" takes the cheapest code (load times
/// backward passes) that keeps its promise, then the least decode-error bound. Cost: cached per
/// (name, n, s, seed, message type) is the caller's business.
Expected<GradientCode> make_code(const CodeRequest& request);

/// Answers decode(set) from an LRU cache of `capacity` straggler sets (fewer where their vectors
/// would take more than about 100 MB); the same set gives the same vector bit for bit. Copies of
/// the returned function share the cache, which is safe to use from several threads.
std::function<std::optional<Combination>(const WorkerSet&)> cached_decoder(
    std::function<std::optional<Combination>(const WorkerSet&)> decode,
    std::size_t capacity = 4096);

}  // namespace paceline
