#include "tensorboard.hpp"

#include <chrono>
#include <utility>

namespace paceline::app {
namespace {

Seconds since_1970() { return std::chrono::system_clock::now().time_since_epoch(); }

}  // namespace

SchemeEvents::SchemeEvents(std::string folder, int models, int jobs, int rounds)
    : folder_(std::move(folder)),
      jobs_(jobs),
      rounds_(rounds),
      models_(static_cast<std::size_t>(models)) {}

std::string SchemeEvents::model_folder(std::size_t model) const {
  return folder_ + "/model-" + std::to_string(model);
}

/// A file begins with its first value, which also says from where on older files are void.
Expected<void> SchemeEvents::add(
    Part& part, const std::string& folder, std::int64_t step, std::string_view tag, double value) {
  const Seconds now = since_1970();
  if (!part.file) {
    auto file = EventFile::create(folder, now, step);
    if (!file) return Unexpected(file.error());
    part.file = *std::move(file);
  }
  part.step = step;
  return part.file->add(now, step, tag, value);
}

Expected<void> SchemeEvents::on_round(const RoundRecord& record, std::span<const JobLoss> losses) {
  jobs_ += static_cast<int>(losses.size());
  const std::int64_t round = record.round.value + rounds_;
  Expected<void> written =
      add(scheme_, folder_, round, "round seconds", (record.closed - record.opened).count());
  if (written) written = add(scheme_, folder_, round, "stragglers", record.stragglers.size());
  if (written && jobs_ > 0) {
    written = add(scheme_, folder_, round, "seconds per job", record.closed.count() / jobs_);
  }
  for (const JobLoss& loss : losses) {
    const std::size_t model = loss.model.index();
    const std::int64_t update = loss.job.value / static_cast<int>(models_.size());
    if (written) written = add(models_[model], model_folder(model), update, "loss", loss.loss);
    if (written) {
      written = add(models_[model], model_folder(model), update, "residual", loss.residual);
    }
  }
  return written;
}

Expected<void> SchemeEvents::end(std::span<const double> accuracy) {
  Expected<void> written;
  for (std::size_t m = 0; m < models_.size() && m < accuracy.size(); ++m) {
    if (written) {
      written = add(models_[m], model_folder(m), models_[m].step, "accuracy", accuracy[m]);
    }
  }
  for (Part& part : models_) {
    if (part.file) {
      if (auto closed = part.file->close(); written && !closed) written = closed;
    }
  }
  if (scheme_.file) {
    if (auto closed = scheme_.file->close(); written && !closed) written = closed;
  }
  return written;
}

}  // namespace paceline::app
