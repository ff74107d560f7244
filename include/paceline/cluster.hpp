// The wall-time driver on several processes: rank 0 is the master, every other rank hosts workers,
// or, if it is one of the first and asked for, a slice of all parameters.
// The same coordinators, schemes and master loop as in one process (local_runtime.hpp); what lies
// between master and workers is a Link. docs/cluster.md says how to start it and what a frozen or
// dead rank costs.
//
//   rank 0:   ClusterMaster master(link, options);  master.admit(me);  master.run(...) ...;
//             master.end(code)
//   others:   serve(link, me, options)  returns the exit code
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paceline/link.hpp"
#include "paceline/local_runtime.hpp"

namespace paceline {

namespace detail {
class ClusterState;
}

/// What a rank brings along; all ranks must agree on it before anything runs.
struct Member {
  std::string version;        ///< of the program
  std::uint64_t options = 0;  ///< digest of what all ranks must have been told alike
  std::uint64_t data = 0;     ///< digest of the training data
  std::string refusal = {};   ///< why this rank cannot work; empty: it can
};

/// For Member: a digest of bytes, to be continued with `seed`.
std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t seed = 0);

struct ClusterOptions {
  /// Seconds of silence after which a rank counts as lost. 0: at least a minute and twenty times
  /// the slowest response so far.
  Seconds rank_limit{0};
  /// Seconds that joining may take. 0: at least half a minute and five times what the master took
  /// from its making to admit(), since the others read the same data.
  Seconds join_limit{0};
  /// Seconds that ranks may take to leave at the end. 0: at least two and five times the slowest
  /// response so far.
  Seconds end_limit{0};
  /// K: ranks 1 ... K hold parameters and decode, each a slice of every model; the master then
  /// handles no payloads. 0: the master holds them.
  int servers = 0;
  const std::atomic<bool>* interrupted = nullptr;
  /// Called with one line when a rank falls silent, speaks again, dies, or sends something damaged.
  std::function<void(const std::string& line)> notice = {};
};

/// What a run put on the links, by the master's count.
struct ClusterTraffic {
  double bytes_sent_per_round = 0;  ///< frames with their headers
  double bytes_received_per_round = 0;
  long long late = 0;     ///< answers that nobody waited for any more
  long long damaged = 0;  ///< frames that were dropped
};

class ClusterMaster {
 public:
  /// @pre link.rank() == 0; the link must outlive the master
  ClusterMaster(Link& link, ClusterOptions options);
  ~ClusterMaster();

  /// Waits until all ranks have joined and agree with `mine`.
  /// @return an error of code kInvalid or kFailed that names the rank and both sides
  Expected<void> admit(const Member& mine);

  /// As run_local(), with the workers on the other ranks, `workers_per_rank` each: worker i lives
  /// on rank 1 + servers + i / workers_per_rank. Injected delays and micro-batches apply there.
  /// With parameter servers the optimizers must be coordinatewise; the bank gets parameters and
  /// optimizer states back when the run has ended well.
  /// `options.compute_slots` is for verification, which the master does itself.
  /// @param workers_per_rank  0: as few as suffice
  Expected<LocalRunResult> run(Coordinator& coordinator,
                               ModelBank& bank,
                               const std::vector<std::unique_ptr<GradientSource>>& sources,
                               const BatchSampler& sampler,
                               const LocalRunOptions& options,
                               int workers_per_rank = 0);

  /// Of the last run.
  const ClusterTraffic& traffic() const;

  /// The names of ranks whose processes are known to have ended.
  std::string dead() const;

  /// Ends all ranks with this exit code, and waits for them no longer than a limit derived from the
  /// slowest response.
  /// @param hurried  somebody else ends the processes soon: wait half a second at most
  /// @return the names of ranks that have died, mostly none; an error that names those that are
  /// there and did not answer: then all that is left is link.abort()
  Expected<std::string> end(int code, bool hurried = false);

 private:
  std::unique_ptr<detail::ClusterState> state_;
};

/// Whether n workers fit, `workers_per_rank` each (0: as few as suffice), beside so many parameter
/// servers.
/// @return workers per rank, or an error that names what is allowed
Expected<int> workers_per_rank(int workers, int ranks, int asked, int servers = 0);

/// Whether so many parameter servers can share gradients of d numbers: each must get one of every
/// part. @return an error that names what is allowed
Expected<void> check_servers_fit(std::size_t length, const MessageShape& shape, int servers);

struct ServeOptions {
  const std::vector<std::unique_ptr<GradientSource>>* sources = nullptr;  ///< one per model
  const BatchSampler* sampler = nullptr;
  /// One per model, fresh, as the master's; only where ranks may be parameter servers.
  const std::vector<std::unique_ptr<Optimizer>>* optimizers = nullptr;
  const DelaySource* delays = nullptr;  ///< injected response times; nullptr: none
  int compute_slots = 1;                ///< threads that compute for this rank's workers
  const std::atomic<bool>* interrupted = nullptr;
  /// Seconds of silence after which the master counts as lost. 0: at least ten minutes (it says
  /// nothing while it evaluates its models) and twenty times its longest silence so far.
  Seconds master_limit{0};
};

/// Hosts workers, or parameters, until the master ends it. Sources, sampler and delays are those of
/// the master.
/// @return the exit code that the master asked for; an error if this rank fails by itself
Expected<int> serve(Link& link, const Member& mine, const ServeOptions& options);

}  // namespace paceline
