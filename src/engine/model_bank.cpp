#include "paceline/model_bank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/pieces.hpp"
#include "paceline/check.hpp"
#include "paceline/kernels.hpp"
#include "paceline/message_maker.hpp"

namespace paceline {
namespace {

constexpr std::size_t kMostFreeBuffers = 1024;

/// Whether nobody else holds the value, so that it may be changed. A thread that has just let go of
/// it has finished reading: use_count() does not synchronise with it, taking and giving back a
/// reference does.
template <class T>
bool only_owner(const std::shared_ptr<T>& owner) {
  if (owner.use_count() > 1) return false;
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the copy is what synchronises
  const std::shared_ptr<T> synchronise = owner;
  return true;
}

}  // namespace

ModelBank::ModelBank(const ModelBankOptions& options,
                     std::vector<std::vector<float>> initial,
                     std::vector<std::unique_ptr<Optimizer>> optimizers)
    : options_(options), gradient_(padded_length(options.length, options.shape.parts)) {
  PACELINE_CHECK(initial.size() == optimizers.size() && options.batch_size >= 1);
  for (std::size_t m = 0; m < initial.size(); ++m) {
    PACELINE_CHECK(initial[m].size() == options.length && optimizers[m] != nullptr);
    models_.push_back({Version{0},
                       std::make_shared<std::vector<float>>(std::move(initial[m])),
                       std::move(optimizers[m])});
  }
}

Version ModelBank::version(ModelId model) const { return models_.at(model.index()).version; }

Parameters ModelBank::parameters(ModelId model) const {
  return models_.at(model.index()).parameters;
}

std::unique_ptr<Optimizer> ModelBank::optimizer(ModelId model) const {
  return models_.at(model.index()).optimizer->clone();
}

void ModelBank::store(const MessageId& id, std::vector<float> values, double loss, int samples) {
  PACELINE_CHECK(values.size() == options_.shape.message_length(options_.length));
  messages_[id] = {std::move(values), loss, samples};
}

std::vector<float> ModelBank::recycle() {
  if (free_.empty()) return {};
  std::vector<float> buffer = std::move(free_.back());
  free_.pop_back();
  return buffer;
}

Expected<Applied> ModelBank::apply(const Apply& apply) {
  OpenJob& job = open_[apply.job];
  for (const Coefficient& term : apply.sum.terms) {
    const Message& used = message(term.message);
    if (term.weight == 0 || !job.counted.insert(term.message).second) continue;
    job.loss += used.loss;
    job.samples += used.samples;
  }

  if (!apply.sum.complete || !job.sum.empty()) {
    if (auto finite = add_instalment(apply, job); !finite) return Unexpected(finite.error());
    if (!apply.sum.complete) return Applied{};
    std::transform(job.sum.begin(), job.sum.end(), gradient_.begin(), [](double x) {
      return static_cast<float>(x);
    });
  } else {
    sum_messages(apply.sum.terms);
  }

  const std::span<float> gradient = std::span<float>(gradient_).first(options_.length);
  if (auto finite = check_finite(apply, gradient); !finite) return Unexpected(finite.error());

  Applied applied;
  applied.stepped = true;
  applied.loss = job.samples > 0 ? job.loss / job.samples : 0;
  if (keep_gradient_) applied.gradient.assign(gradient.begin(), gradient.end());
  open_.erase(apply.job);

  Model& model = models_.at(apply.model.index());
  PACELINE_CHECK(apply.makes.value == model.version.value + 1);
  model.version = apply.makes;
  applied.skipped = apply.sum.residual > options_.skip_above;
  if (applied.skipped) return applied;
  // A straggler or the verifier may still be reading the old parameters: then they stay, and a copy
  // is changed.
  if (!only_owner(model.parameters)) {
    model.parameters = std::make_shared<std::vector<float>>(*model.parameters);
  }
  const float scale = 1.0F / static_cast<float>(options_.batch_size);
  for (float& value : gradient) value *= scale;
  model.optimizer->step(*model.parameters, gradient);
  return applied;
}

const ModelBank::Message& ModelBank::message(const MessageId& id) const {
  const auto found = messages_.find(id);
  PACELINE_CHECK(found != messages_.end());
  return found->second;
}

std::span<const float> ModelBank::segment_of(const MessageId& id, int segment) const {
  return piece(std::span<const float>(message(id).values), segment, options_.shape.pieces());
}

Expected<void> ModelBank::add_instalment(const Apply& apply, OpenJob& job) {
  job.sum.resize(gradient_.size(), 0.0);
  for (const Coefficient& term : apply.sum.terms) {
    if (term.weight == 0) continue;
    const auto values = segment_of(term.message, term.segment);
    if (!all_finite(values)) return not_finite(term.message.worker, apply.job);
    add_scaled(
        term.weight, values, piece(std::span<double>(job.sum), term.part, options_.shape.parts));
  }
  return {};
}

void ModelBank::sum_messages(std::span<const Coefficient> terms) {
  const bool whole = std::all_of(terms.begin(), terms.end(), [](const Coefficient& term) {
    return term.part == kWhole && term.segment == kWhole;
  });
  const int pieces = whole ? 1 : options_.shape.parts;
  for (int p = 0; p < pieces; ++p) {
    weighted_.clear();
    for (const Coefficient& term : terms) {
      if (term.part != kWhole && term.part != p) continue;
      const int segment = term.part == kWhole && !whole ? p : term.segment;
      weighted_.push_back({segment_of(term.message, segment), term.weight});
    }
    weighted_sum(weighted_,
                 piece(std::span<float>(gradient_), whole ? kWhole : p, options_.shape.parts));
  }
}

Expected<void> ModelBank::check_finite(const Apply& apply, std::span<const float> gradient) const {
  if (all_finite(gradient)) return {};
  for (const Coefficient& term : apply.sum.terms) {
    if (term.weight != 0 && !all_finite(segment_of(term.message, term.segment))) {
      return not_finite(term.message.worker, apply.job);
    }
  }
  return failed(fmt::format(
      "job {}: the decoded gradient is not finite although every message is: it overflows "
      "float32; lower the learning rate or check the data",
      apply.job.value));
}

Unexpected<Error> ModelBank::not_finite(WorkerId worker, JobId job) {
  return failed(fmt::format(
      "worker {}'s message for job {} holds a number that is not finite (NaN or infinity)",
      worker.value,
      job.value));
}

void ModelBank::drop(std::span<const MessageId> messages) {
  for (const MessageId& id : messages) {
    const auto found = messages_.find(id);
    if (found == messages_.end()) continue;
    if (free_.size() < kMostFreeBuffers) free_.push_back(std::move(found->second.values));
    messages_.erase(found);
  }
}

BankState ModelBank::state() const {
  BankState state;
  for (const Model& model : models_) {
    state.models.push_back({model.version, model.parameters, model.optimizer->state()});
  }
  for (const auto& [id, message] : messages_) {
    state.messages.push_back({id, message.values, message.loss, message.samples});
  }
  for (const auto& [id, job] : open_) {
    state.open.push_back(
        {id, job.sum, {job.counted.begin(), job.counted.end()}, job.loss, job.samples});
  }
  return state;
}

Expected<void> ModelBank::restore(const BankState& state) {
  if (state.models.size() != models_.size()) {
    return invalid(
        fmt::format("{} models were saved, this run has {}", state.models.size(), models_.size()));
  }
  for (std::size_t m = 0; m < models_.size(); ++m) {
    const BankState::Model& saved = state.models[m];
    if (saved.parameters == nullptr || saved.parameters->size() != options_.length) {
      return invalid(fmt::format("model {} was saved with {} parameters, this run's has {}",
                                 m,
                                 saved.parameters == nullptr ? 0 : saved.parameters->size(),
                                 options_.length));
    }
    for (const auto& array : saved.optimizer.arrays) {
      if (!array.empty() && array.size() != options_.length) {
        return invalid(
            fmt::format("model {}'s optimizer was saved with arrays of {} numbers; {} "
                        "are needed",
                        m,
                        array.size(),
                        options_.length));
      }
    }
  }
  for (const BankState::Message& saved : state.messages) {
    const std::size_t length = options_.shape.message_length(options_.length);
    if (saved.values.size() != length) {
      return invalid(fmt::format(
          "a message was saved with {} numbers, this run's have {}", saved.values.size(), length));
    }
  }
  for (const BankState::OpenJob& saved : state.open) {
    if (!saved.sum.empty() && saved.sum.size() != gradient_.size()) {
      return invalid(fmt::format("job {}'s sum was saved with {} numbers, this run's have {}",
                                 saved.job.value,
                                 saved.sum.size(),
                                 gradient_.size()));
    }
  }
  for (std::size_t m = 0; m < models_.size(); ++m) {
    const BankState::Model& saved = state.models[m];
    if (!models_[m].optimizer->restore(saved.optimizer)) {
      return invalid(fmt::format("model {}'s optimizer was saved by one of another kind", m));
    }
    models_[m].version = saved.version;
    models_[m].parameters = std::make_shared<std::vector<float>>(*saved.parameters);
  }
  messages_.clear();
  for (const BankState::Message& saved : state.messages) {
    messages_[saved.id] = {saved.values, saved.loss, saved.samples};
  }
  open_.clear();
  for (const BankState::OpenJob& saved : state.open) {
    open_[saved.job] = {
        saved.sum, {saved.counted.begin(), saved.counted.end()}, saved.loss, saved.samples};
  }
  return {};
}

std::size_t ModelBank::message_bytes() const {
  return messages_.size() * options_.shape.message_length(options_.length) * sizeof(float);
}

}  // namespace paceline
