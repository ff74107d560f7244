#include "runtime/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "paceline/kernels.hpp"
#include "runtime/clock.hpp"
#include "runtime/interruption.hpp"
#include "runtime/worker.hpp"

namespace paceline {
namespace {

constexpr std::size_t kLeastOpen = 4;

}  // namespace

Verifier::Verifier(ComputePool& pool, const BatchSampler& sampler, VerifierOptions options)
    : pool_(pool),
      sampler_(sampler),
      options_(std::move(options)),
      ones_(static_cast<std::size_t>(options_.micro_batch), 1.0F) {
  // A comparison holds the parameters, the decoded and the direct gradient.
  const std::size_t bytes = 3 * std::max<std::size_t>(options_.length, 1) * sizeof(float);
  most_open_ = std::max(kLeastOpen, options_.most_bytes / bytes);
}

Verifier::~Verifier() { pool_.close(); }

Expected<void> Verifier::submit(
    JobId job, ModelId model, Version read, Parameters parameters, std::vector<float> decoded) {
  if (auto room = wait_until_at_most(most_open_ - 1); !room) return room;
  const std::lock_guard lock(mutex_);
  Comparison& comparison = open_.emplace_back(*this);
  comparison.job = job;
  comparison.model = model;
  comparison.parameters = std::move(parameters);
  comparison.decoded = std::move(decoded);
  comparison.direct.assign(options_.length, 0.0F);
  comparison.batch.resize(static_cast<std::size_t>(sampler_.batch_size()));
  sampler_.batch(model, read, comparison.batch);
  pool_.submit(comparison, kNoDeadline);
  return {};
}

Expected<Verified> Verifier::finish() {
  if (auto done = wait_until_at_most(0); !done) return Unexpected(done.error());
  const std::lock_guard lock(mutex_);
  return verified_;
}

Expected<void> Verifier::wait_until_at_most(std::size_t open) {
  std::unique_lock lock(mutex_);
  while (!failure_ && open_.size() > open) {
    if (options_.interrupted && options_.interrupted()) return Unexpected(interruption());
    compared_.wait_for(lock, kInterruptionCheck);
  }
  if (failure_) return Unexpected(*failure_);
  return {};
}

void Verifier::step(Comparison& comparison, ComputeSlot& slot) {
  std::optional<Error> failure;
  double error = 0;
  try {
    add_piece(comparison, slot);
    if (comparison.next < comparison.batch.size()) {
      pool_.submit(comparison, kNoDeadline);
      return;
    }
    error = relative_error(comparison.decoded, comparison.direct);
  } catch (...) {
    failure = Error{
        ErrorCode::kFailed,
        fmt::format("verification of job {}: {}", comparison.job.value, describe_exception())};
  }
  const std::lock_guard lock(mutex_);
  if (failure) {
    if (!failure_) failure_ = std::move(failure);
  } else {
    ++verified_.count;
    if (!(error <= verified_.worst)) verified_.worst = error;  // NaN shows
  }
  open_.remove_if([&](const Comparison& other) { return &other == &comparison; });
  compared_.notify_one();
}

void Verifier::add_piece(Comparison& comparison, ComputeSlot& slot) const {
  const std::size_t count = std::min(ones_.size(), comparison.batch.size() - comparison.next);
  slot.sources.at(comparison.model.index())
      ->add_gradient(*comparison.parameters,
                     std::span<const int>(comparison.batch).subspan(comparison.next, count),
                     std::span<const float>(ones_).first(count),
                     comparison.direct);
  comparison.next += count;
}

}  // namespace paceline
