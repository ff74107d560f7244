// How a process was started: alone, or as one rank of a job that a launcher started on many
// machines. Read from the environment, before anything of MPI runs.
#pragma once

#include <functional>
#include <string>

#include "paceline/expected.hpp"

namespace paceline {

/// The value of an environment variable, nullptr if it is not set: std::getenv, or a test's.
using Environment = std::function<const char*(const char* name)>;

struct Launch {
  int rank = 0;
  int ranks = 1;
  std::string by;    ///< "mpirun", "srun", ...; empty: started alone
  std::string from;  ///< the variable that said so
  bool mpi = false;  ///< the launcher connects its ranks by MPI
  std::string job;   ///< of a batch system: "job 17 of Slurm (SLURM_JOB_ID)"; empty: in none
  int tasks = 1;     ///< that the job was given

  bool alone() const { return by.empty(); }

  /// "rank 0 of 5, started by mpirun (OMPI_COMM_WORLD_SIZE)", or "started alone", and the job.
  std::string text() const;
};

/// Knows Open MPI's mpirun, MPICH's mpiexec, Slurm's srun and sbatch, and RANK with WORLD_SIZE.
/// @return an error if the variables contradict themselves
Expected<Launch> detect_launch(const Environment& environment);

}  // namespace paceline
