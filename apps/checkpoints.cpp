#include "checkpoints.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "train_setup.hpp"

namespace paceline::app {

Expected<std::optional<FoundCheckpoint>> find_checkpoint(const TrainOptions& options,
                                                         const Voice& say) {
  if (!options.resumes) return std::optional<FoundCheckpoint>();
  const std::string& folder = options.resume.empty() ? options.checkpoint : options.resume;
  if (folder.empty()) {
    return invalid("--resume needs a folder: --resume DIR, or --checkpoint DIR --resume");
  }
  const bool may_be_new = options.resume.empty();
  if (may_be_new && !std::filesystem::exists(folder)) {
    say(fmt::format("{} has no checkpoint yet: starts from the beginning", folder));
    return std::optional<FoundCheckpoint>();
  }
  auto found = read_newest_checkpoint(folder, say);
  if (!found) return found;
  if (!*found && !may_be_new) {
    return invalid(fmt::format("--resume {}: there is no whole checkpoint", folder));
  }
  if (!*found) say(fmt::format("{} has no whole checkpoint: starts from the beginning", folder));
  return found;
}

std::map<std::string, std::string> model_facts(const TrainOptions& options, const Setup& setup) {
  std::string optimizers;
  for (const std::string& text : options.optimizers)
    optimizers += (optimizers.empty() ? "" : " ") + text;
  return {{"model", options.model},
          {"models", std::to_string(options.models)},
          {"parameters", std::to_string(setup.model->length())},
          {"optimizer", optimizers},
          {"batch", std::to_string(options.batch)},
          {"seed", std::to_string(options.seed)},
          {"training data", fmt::format("{:016x}", setup.data_digest)}};
}

std::map<std::string, std::string> play_facts(const TrainOptions& options,
                                              int workers,
                                              const std::string& scheme) {
  return {{"scheme", scheme},
          {"close", options.close},
          {"messages", options.messages},
          {"workers", std::to_string(workers)},
          {"updates", std::to_string(options.updates)}};
}

std::string difference(const std::map<std::string, std::string>& there,
                       const std::map<std::string, std::string>& here) {
  for (const auto& [name, value] : here) {
    const auto found = there.find(name);
    const std::string other = found == there.end() ? "not given" : found->second;
    if (other != value) return fmt::format("{} is {} there and {} here", name, other, value);
  }
  return {};
}

Expected<std::unique_ptr<CheckpointWriter>> CheckpointWriter::open(
    const TrainOptions& options, const std::vector<Setting>& settings, Voice say) {
  const std::string& path = options.checkpoint.empty() ? options.resume : options.checkpoint;
  if (path.empty()) return std::unique_ptr<CheckpointWriter>();
  auto folder = CheckpointFolder::open(path, options.keep);
  if (!folder) return Unexpected(folder.error());
  if (!folder->empty() && !options.resumes) {
    return invalid(fmt::format(
        "--checkpoint {} holds checkpoints of an earlier run; --resume goes on from the newest, or "
        "name another folder",
        path));
  }
  std::unique_ptr<CheckpointWriter> writer(
      new CheckpointWriter(std::move(*folder), options.checkpoint_every, std::move(say)));
  for (const Setting& setting : settings) writer->settings_[setting.key] = setting.value;
  return writer;
}

RunCheckpoints CheckpointWriter::of_scheme(Checkpoint facts, int jobs) {
  facts_ = std::move(facts);
  facts_.settings = settings_;
  last_ = jobs;
  RunCheckpoints checkpoints;
  checkpoints.due = [this](int done) { return due(done); };
  checkpoints.take = [this](RunState state) { take(std::move(state)); };
  return checkpoints;
}

bool CheckpointWriter::due(int jobs) {
  if (jobs < last_ + every_) return false;
  if (writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    return false;  // the disk is slower than the rounds
  }
  return true;
}

void CheckpointWriter::take(RunState state) {
  wait();
  last_ = state.totals.jobs;
  auto checkpoint = std::make_shared<Checkpoint>(facts_);
  checkpoint->state = std::move(state);
  writing_ =
      std::async(std::launch::async, [this, checkpoint] { return folder_.write(*checkpoint); });
}

void CheckpointWriter::wait() {
  if (!writing_.valid()) return;
  const auto written = writing_.get();
  if (written) {
    newest_ = *written;
  } else {
    say_(fmt::format("no checkpoint is written: {}", written.error().message));
  }
}

}  // namespace paceline::app
