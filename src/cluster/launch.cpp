#include "paceline/launch.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace paceline {
namespace {

struct Launcher {
  const char* by;
  const char* rank;
  const char* ranks;
  bool mpi;
};

// In this order: inside srun an mpirun may have been called, never the other way round. A batch
// script of Slurm has SLURM_PROCID and SLURM_NTASKS too, but only a step has SLURM_STEP_NUM_TASKS.
constexpr std::array kLaunchers = {
    Launcher{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", true},
    Launcher{"mpiexec", "PMI_RANK", "PMI_SIZE", true},
    Launcher{"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", true},
    Launcher{"RANK and WORLD_SIZE", "RANK", "WORLD_SIZE", false},
};

Expected<int> number(const char* name, std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    return invalid(fmt::format("{}={} is no number of a rank; 0, 1, 2, ...", name, text));
  }
  return value;
}

Expected<void> find_job(const Environment& environment, Launch& launch) {
  const char* job = environment("SLURM_JOB_ID");
  if (job == nullptr) return {};
  launch.job = fmt::format("job {} of Slurm (SLURM_JOB_ID)", job);
  const char* tasks_text = environment("SLURM_NTASKS");
  if (tasks_text == nullptr) return {};
  const auto tasks = number("SLURM_NTASKS", tasks_text);
  if (!tasks) return Unexpected(tasks.error());
  launch.tasks = *tasks;
  return {};
}

}  // namespace

std::string Launch::text() const {
  const std::string start =
      alone() ? "started alone"
              : fmt::format("rank {} of {}, started by {} ({})", rank, ranks, by, from);
  return job.empty() ? start : fmt::format("{}, in {}", start, job);
}

Expected<Launch> detect_launch(const Environment& environment) {
  Launch launch;
  if (auto found = find_job(environment, launch); !found) return Unexpected(found.error());
  for (const Launcher& launcher : kLaunchers) {
    const char* rank_text = environment(launcher.rank);
    const char* ranks_text = environment(launcher.ranks);
    if (rank_text == nullptr || ranks_text == nullptr) continue;
    const auto rank = number(launcher.rank, rank_text);
    if (!rank) return Unexpected(rank.error());
    const auto ranks = number(launcher.ranks, ranks_text);
    if (!ranks) return Unexpected(ranks.error());
    if (*rank >= *ranks) {
      return invalid(fmt::format(
          "{}={} is not allowed; less than {}={}", launcher.rank, *rank, launcher.ranks, *ranks));
    }
    launch.rank = *rank;
    launch.ranks = *ranks;
    launch.by = launcher.by;
    launch.from = launcher.ranks;
    launch.mpi = launcher.mpi;
    break;
  }
  return launch;
}

}  // namespace paceline
