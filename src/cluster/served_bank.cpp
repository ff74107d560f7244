#include "cluster/served_bank.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <utility>

#include "paceline/cluster.hpp"
#include "paceline/kernels.hpp"

namespace paceline {
namespace {

/// The master steps nothing itself.
class NoOptimizer final : public Optimizer {
 public:
  void step(std::span<float> /*parameters*/, std::span<const float> /*gradient*/) override {}

  std::unique_ptr<Optimizer> clone() const override { return std::make_unique<NoOptimizer>(); }
};

ModelBank outline_of(const ModelBank& bank) {
  ModelBankOptions options = bank.options();
  options.length = static_cast<std::size_t>(options.shape.parts);
  std::vector<std::unique_ptr<Optimizer>> optimizers;
  for (int m = 0; m < bank.models(); ++m) optimizers.push_back(std::make_unique<NoOptimizer>());
  std::vector<std::vector<float>> zeros(optimizers.size(), std::vector<float>(options.length));
  return {options, std::move(zeros), std::move(optimizers)};
}

BankState outline_of(const BankState& state, const MessageShape& shape) {
  const auto parts = static_cast<std::size_t>(shape.parts);
  const auto pieces = static_cast<std::size_t>(shape.pieces());
  BankState outline;
  for (const BankState::Model& model : state.models) {
    outline.models.push_back(
        {model.version, std::make_shared<const std::vector<float>>(parts), {}});
  }
  for (const BankState::Message& message : state.messages) {
    const float value = all_finite(message.values) ? 0.0F : std::numeric_limits<float>::quiet_NaN();
    outline.messages.push_back(
        {message.id, std::vector<float>(pieces, value), message.loss, message.samples});
  }
  for (const BankState::OpenJob& job : state.open) {
    outline.open.push_back({job.job,
                            std::vector<double>(job.sum.empty() ? 0 : parts),
                            job.counted,
                            job.loss,
                            job.samples});
  }
  return outline;
}

}  // namespace

ServedBank::ServedBank(ModelBank& bank, const LocalRunOptions& options, int servers)
    : bank_(bank),
      options_(options),
      map_(bank.options().length, bank.options().shape, servers),
      seed_(bank.state()),
      outline_(outline_of(bank)) {}

Expected<std::unique_ptr<ServedBank>> ServedBank::make(ModelBank& bank,
                                                       const LocalRunOptions& options,
                                                       int servers) {
  const ModelBankOptions& own = bank.options();
  if (auto fits = check_servers_fit(own.length, own.shape, servers); !fits) {
    return Unexpected(fits.error());
  }
  for (int m = 0; m < bank.models(); ++m) {
    if (bank.optimizer(ModelId{m})->coordinatewise()) continue;
    return invalid(fmt::format(
        "servers={} is not allowed: model {}'s optimizer looks at all of the gradient, and a "
        "server has a slice of it; servers=0, or an optimizer that is coordinatewise",
        servers,
        m));
  }
  const RunState* const resume = options.checkpoints.resume;
  if (resume != nullptr) {
    if (auto restored = bank.restore(resume->bank); !restored) {
      return invalid("the saved state does not fit this run: " + restored.error().message);
    }
  }
  std::unique_ptr<ServedBank> served(new ServedBank(bank, options, servers));
  const BankState outline = outline_of(served->seed_, own.shape);
  if (auto restored = served->outline_.restore(outline); !restored) {
    return Unexpected(restored.error());
  }
  if (resume != nullptr) {
    served->resume_ = RunState{resume->now,
                               resume->begun,
                               resume->events,
                               resume->studied,
                               resume->totals,
                               outline,
                               resume->finished};
  }
  return served;
}

LocalRunOptions ServedBank::options() const {
  LocalRunOptions options = options_;
  if (resume_) options.checkpoints.resume = &*resume_;
  return options;
}

Expected<void> ServedBank::finish() {
  const auto whole = state();
  if (!whole) return Unexpected(whole.error());
  return bank_.restore(*whole);
}

}  // namespace paceline
