#include "paceline/launch.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace paceline {
namespace {

Expected<Launch> detect(const std::map<std::string, std::string>& variables) {
  return detect_launch([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Launch, WithoutALauncherTheProcessIsAlone) {
  const auto launch = detect({{"HOME", "/root"}});
  ASSERT_TRUE(launch);
  EXPECT_TRUE(launch->alone());
  EXPECT_EQ(launch->text(), "started alone");
}

TEST(Launch, KnowsTheLaunchers) {
  EXPECT_EQ(
      detect({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "5"}, {"PMIX_RANK", "3"}})
          ->text(),
      "rank 3 of 5, started by mpirun (OMPI_COMM_WORLD_SIZE)");
  EXPECT_EQ(detect({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}})->text(),
            "rank 0 of 2, started by mpiexec (PMI_SIZE)");
  EXPECT_EQ(detect({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}})->text(),
            "rank 1 of 4, started by srun (SLURM_STEP_NUM_TASKS)");
  const auto plain = detect({{"RANK", "1"}, {"WORLD_SIZE", "4"}});
  EXPECT_EQ(plain->text(), "rank 1 of 4, started by RANK and WORLD_SIZE (WORLD_SIZE)");
  EXPECT_FALSE(plain->mpi);
}

TEST(Launch, MpirunInsideAJobOfSlurmIsMpirun) {
  EXPECT_EQ(detect({{"SLURM_PROCID", "0"},
                    {"SLURM_STEP_NUM_TASKS", "1"},
                    {"OMPI_COMM_WORLD_RANK", "2"},
                    {"OMPI_COMM_WORLD_SIZE", "5"}})
                ->by,
            "mpirun");
}

TEST(Launch, ABatchScriptOfSlurmIsAlone) {
  const auto launch =
      detect({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "17"}});
  EXPECT_TRUE(launch->alone());
  EXPECT_EQ(launch->tasks, 4);
  EXPECT_EQ(launch->text(), "started alone, in job 17 of Slurm (SLURM_JOB_ID)");
}

TEST(Launch, NamesTheJobOfSlurmThatItIsIn) {
  const auto launch =
      detect({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_JOB_ID", "17"}});
  EXPECT_EQ(launch->text(),
            "rank 1 of 4, started by srun (SLURM_STEP_NUM_TASKS), in job 17 of Slurm "
            "(SLURM_JOB_ID)");
}

TEST(Launch, RefusesNumbersThatContradictThemselves) {
  EXPECT_EQ(detect({{"RANK", "4"}, {"WORLD_SIZE", "4"}}).error().message,
            "RANK=4 is not allowed; less than WORLD_SIZE=4");
  EXPECT_EQ(detect({{"RANK", "x"}, {"WORLD_SIZE", "4"}}).error().message,
            "RANK=x is no number of a rank; 0, 1, 2, ...");
  EXPECT_FALSE(detect({{"SLURM_JOB_ID", "17"}, {"SLURM_NTASKS", "many"}}));
}

}  // namespace
}  // namespace paceline
