// What `paceline train` checks and builds before anything runs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "delay_options.hpp"
#include "paceline/auto_scheme.hpp"
#include "paceline/checkpoint.hpp"
#include "paceline/coordinator.hpp"
#include "paceline/expected.hpp"
#include "paceline/faults.hpp"
#include "paceline/message_type.hpp"
#include "paceline/model_bank.hpp"
#include "paceline/scheme.hpp"
#include "paceline/switching_coordinator.hpp"
#include "paceline/training.hpp"
#include "train_options.hpp"
#include "training_data.hpp"

namespace paceline::app {

/// A scheme that has been checked and is ready to be played.
struct Plan {
  SchemeInfo info;
  std::unique_ptr<Coordinator> coordinator;
  SwitchingCoordinator* switching = nullptr;  ///< the coordinator, if the scheme is `auto`
  std::optional<Seconds> predicted;
  std::optional<Seconds> limit;
  int first_job = 0;     ///< of the coordinator
  bool resumes = false;  ///< goes on from the checkpoint
  bool exactly = false;  ///< in the middle of what it was at; else with the jobs not decoded
  std::map<std::string, std::string> facts;  ///< play_facts()

  /// Of the scheme that is played; under `auto` of the one chosen last.
  double load() const {
    return switching != nullptr ? switching->segments().back().info.load : info.load;
  }
};

/// Everything the schemes of one run share.
struct Setup {
  TrainOptions options;
  Delays delays;
  TrainingData data;
  std::uint64_t data_digest = 0;
  std::unique_ptr<TrainingModel> model;
  std::unique_ptr<BatchSampler> sampler;
  std::vector<Plan> plans;  ///< of all schemes, also those that an earlier run has played
  const Checkpoint* resume = nullptr;
  std::vector<Fault> faults;
};

/// What messages travel as. @pre make_setup() found nothing wrong with it
MessageType message_type(const TrainOptions& options);

/// What `--scheme auto` may choose from.
AutoOptions auto_options(const TrainOptions& options);

/// Makes LibTorch's networks known, where there are any, so that help lists them.
void register_models();

/// Lets LibTorch's networks compute there.
Expected<void> use_device(const std::string& device);

/// What a setup is for.
struct SetupFor {
  int processes = 1;  ///< that host workers
  bool plans = true;  ///< false: for a rank that hosts workers, which plays no scheme itself
  const Checkpoint* resume = nullptr;  ///< what the run goes on from; nullptr: from the beginning
};

/// Checks every option and builds every scheme.
Expected<Setup> make_setup(const TrainOptions& options, const SetupFor& what = {});

/// The device and the setup.
Expected<Setup> prepare(const TrainOptions& options, const SetupFor& what);

/// One per model, fresh.
std::vector<std::unique_ptr<Optimizer>> make_optimizers(const TrainOptions& options);

/// Every model at its start, with a fresh optimizer; all schemes begin from the same.
ModelBank make_bank(const Setup& setup, const SchemeInfo& info);

}  // namespace paceline::app
