#include "ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "command.hpp"

#ifdef PACELINE_HAVE_MPI
#include "paceline/mpi_link.hpp"
#endif

namespace paceline::app {
namespace {

/// Options that ranks may be told differently, or whose meaning is compared itself (data, delays).
constexpr std::array<std::string_view, 14> kOwn = {"run-dir",
                                                   "config",
                                                   "json",
                                                   "out",
                                                   "slots",
                                                   "device",
                                                   "data",
                                                   "rank-limit",
                                                   "checkpoint",
                                                   "checkpoint-every",
                                                   "keep",
                                                   "resume",
                                                   "dashboard",
                                                   "timeline"};

Expected<std::unique_ptr<Link>> connect(const Launch& launch) {
#ifdef PACELINE_HAVE_MPI
  return connect_mpi(launch);
#else
  return invalid(fmt::format(
      "{} started {} processes, but this build has no MPI; build with -DPACELINE_MPI=ON, or "
      "--transport local",
      launch.by,
      launch.ranks));
#endif
}

template <class T>
std::uint64_t digest_of(const std::vector<T>& values, std::uint64_t seed) {
  return digest(std::as_bytes(std::span<const T>(values)), seed);
}

int cores() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

Member member_of(const Setup& setup, const std::vector<Setting>& settings) {
  Member member;
  member.version = PACELINE_VERSION;
  std::string text;
  for (const Setting& setting : settings) {
    if (std::find(kOwn.begin(), kOwn.end(), setting.key) != kOwn.end()) continue;
    text += setting.key + "=" + setting.value + "\n";
  }
  member.options = digest(std::as_bytes(std::span<const char>(text)));
  if (setup.delays.source) {
    constexpr int kRounds = 4;
    std::vector<double> delays;
    for (int r = 0; r < kRounds; ++r) {
      for (int i = 0; i < setup.delays.workers; ++i) {
        const Delay delay = setup.delays.source->delay(Round{r}, WorkerId{i});
        delays.insert(delays.end(), {delay.base.count(), delay.per_load.count()});
      }
    }
    member.options = digest_of(delays, member.options);
  }
  member.data = setup.data_digest;
  return member;
}

}  // namespace

Expected<Launch> launch_of_this_process() {
  return detect_launch([](const char* name) { return std::getenv(name); });
}

Ranks::Ranks(const TrainOptions& options, const std::atomic<bool>& stop)
    : options_(options), stop_(stop) {}

void Ranks::say(const std::string& line) const {
  if (voice_) return voice_(line);
  fmt::print(stderr, "paceline: {}\n", line);
}

Expected<std::unique_ptr<Ranks>> Ranks::find(const TrainOptions& options,
                                             const std::atomic<bool>& stop) {
  std::unique_ptr<Ranks> ranks(new Ranks(options, stop));
  auto launch = launch_of_this_process();
  if (!launch) return Unexpected(launch.error());
  ranks->launch_ = std::move(*launch);
  if (auto joined = ranks->join_others(); !joined) {
    Error error = joined.error();
    if (ranks->launch_.rank > 0) error.message.clear();
    return Unexpected(std::move(error));
  }
  return ranks;
}

/// Parameter servers are ranks, so there must be some.
Expected<void> Ranks::check_servers() const {
  if (options_.servers == 0) return {};
  if (options_.transport == "local") {
    return invalid(fmt::format(
        "--servers {} cannot be used with --transport local: servers are ranks of mpirun or srun; "
        "--servers 0 there",
        options_.servers));
  }
  if (launch_.ranks == 1 || !launch_.mpi) {
    return invalid(fmt::format(
        "--servers {} needs a launcher: mpirun -n {} paceline ..., srun --mpi=pmix -n {} paceline "
        "..., or --servers 0",
        options_.servers,
        options_.servers + 3,
        options_.servers + 3));
  }
  return {};
}

Expected<void> Ranks::join_others() {
  if (auto possible = check_servers(); !possible) return possible;
  if (options_.transport == "local") {
    idle_ = launch_.rank > 0;
    return {};
  }
  if (launch_.ranks == 1 && options_.transport == "auto") {
    if (launch_.alone() && launch_.tasks > 1) {
      say(fmt::format("{}; srun --mpi=pmix starts ranks on its {} tasks (SLURM_NTASKS)",
                      launch_.text(),
                      launch_.tasks));
    }
    return {};
  }
  if (launch_.alone()) {
    return invalid(
        "--transport mpi needs a launcher: mpirun -n 5 paceline ..., srun --mpi=pmix -n 5 paceline "
        "..., or --transport local");
  }
  if (!launch_.mpi) {
    return invalid(fmt::format(
        "RANK and WORLD_SIZE say that this is rank {} of {}, but only MPI connects ranks: start "
        "them by mpirun or srun --mpi=pmix, or unset these variables",
        launch_.rank,
        launch_.ranks));
  }
  auto link = connect(launch_);
  if (!link) return Unexpected(link.error());
  link_ = std::move(*link);
  if (serves()) return {};
  master_ = std::make_unique<ClusterMaster>(
      *link_,
      ClusterOptions{.rank_limit = Seconds{options_.rank_limit},
                     .join_limit = Seconds{options_.join_limit},
                     .end_limit = Seconds{options_.end_limit},
                     .servers = options_.servers,
                     .interrupted = &stop_,
                     .notice = [this](const std::string& line) { say(line); }});
  return {};
}

SetupFor Ranks::setup_for() const {
  if (link_ == nullptr) return {};
  return {.processes = std::max(1, link_->ranks() - 1 - options_.servers), .plans = !serves()};
}

Expected<void> Ranks::serve(const Expected<Setup>& setup, const std::vector<Setting>& settings) {
  Member member{.version = PACELINE_VERSION};
  std::vector<std::unique_ptr<GradientSource>> sources;
  std::vector<std::unique_ptr<Optimizer>> optimizers;
  ServeOptions options;
  options.interrupted = &stop_;
  options.master_limit = Seconds{options_.master_limit};
  options.sources = &sources;
  if (setup) {
    member = member_of(*setup, settings);
    for (int m = 0; m < options_.models; ++m) sources.push_back(setup->model->clone());
    optimizers = make_optimizers(options_);
    options.optimizers = &optimizers;
    options.sampler = setup->sampler.get();
    options.delays = setup->delays.source.get();
    options.compute_slots = options_.compute_slots > 0
                                ? options_.compute_slots
                                : std::max(1, cores() / std::max(1, link_->serving_here()));
  } else {
    member.refusal = setup.error().message;
  }
  const auto code = paceline::serve(*link_, member, options);
  if (code && *code == 0) return {};
  if (code) return Unexpected(Error{error_code(*code), ""});
  say(fmt::format("rank {}: {}", link_->rank(), code.error().message));
  link_->abort(exit_code(code.error().code));
  return Unexpected(code.error());  // never: abort() does not return
}

/// Whether every scheme's gradients can be shared by the servers.
Expected<void> Ranks::check_shares(const Setup& setup) const {
  for (const Plan& plan : setup.plans) {
    if (auto fits = check_servers_fit(setup.model->length(), plan.info.shape, options_.servers);
        !fits) {
      return fits;
    }
  }
  return {};
}

Expected<void> Ranks::admit(const Setup& setup, const std::vector<Setting>& settings) {
  if (!master_) return {};
  const int servers = options_.servers;
  const auto each =
      workers_per_rank(setup.delays.workers, link_->ranks(), options_.workers_per_rank, servers);
  if (!each) return Unexpected(each.error());
  if (servers > 0) {
    if (auto fits = check_shares(setup); !fits) return fits;
  }
  if (auto joined = master_->admit(member_of(setup, settings)); !joined) return joined;
  say(fmt::format("{} workers on {} ranks, {} each{}; this is {}",
                  setup.delays.workers,
                  link_->ranks() - 1 - servers,
                  *each,
                  servers > 0 ? fmt::format(", parameters on {} more", servers) : "",
                  launch_.text()));
  return {};
}

Expected<LocalRunResult> Ranks::run(Coordinator& coordinator,
                                    ModelBank& bank,
                                    const std::vector<std::unique_ptr<GradientSource>>& sources,
                                    const BatchSampler& sampler,
                                    const LocalRunOptions& options) {
  if (!master_) return run_local(coordinator, bank, sources, sampler, options);
  return master_->run(coordinator, bank, sources, sampler, options, options_.workers_per_rank);
}

std::string Ranks::traffic() const {
  if (!master_) return {};
  const ClusterTraffic& traffic = master_->traffic();
  std::string text = fmt::format("per round {:.0f} bytes sent, {:.0f} received",
                                 traffic.bytes_sent_per_round,
                                 traffic.bytes_received_per_round);
  if (traffic.late > 0) text += fmt::format("; {} late answers", traffic.late);
  if (traffic.damaged > 0) text += fmt::format("; {} damaged messages dropped", traffic.damaged);
  return text;
}

Expected<void> Ranks::end(Expected<void> done) {
  if (!master_) return done;
  // Said first: a launcher that has asked to stop ends all processes soon, and may not answer when
  // they want to leave in order. It asks like a user, also where it does so because a rank has
  // died.
  if (!done) {
    Error error = done.error();
    const std::string dead = master_->dead();
    if (!dead.empty() && error.message.find(dead) == std::string::npos) {
      error = {ErrorCode::kFailed, fmt::format("{} has died; {}", dead, error.message)};
    }
    say(error.message);
    done = Unexpected(Error{error.code, ""});
  }
  std::fflush(stdout);
  const int code = done ? 0 : exit_code(done.error().code);
  if (const auto ended = master_->end(code, stop_); !ended) {
    say(ended.error().message);
    link_->abort(code);
  }
  return done;
}

}  // namespace paceline::app
