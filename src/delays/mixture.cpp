#include "delays/mixture.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "delays/counter_stream.hpp"
#include "paceline/check.hpp"
#include "paceline/parameters.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

/// The number before the first '*'.
std::optional<double> leading_weight(std::string_view text) {
  const std::size_t star = text.find('*');
  if (star == std::string_view::npos) return std::nullopt;
  return to_number(text.substr(0, star));
}

/// Cuts at each '+' that a weight follows, which no "1e+5" does.
std::vector<std::string_view> terms_of(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t begin = 0;
  for (std::size_t at = text.find('+'); at != std::string_view::npos; at = text.find('+', at + 1)) {
    if (!leading_weight(text.substr(at + 1))) continue;
    terms.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  terms.push_back(text.substr(begin));
  return terms;
}

class Mixture final : public DelaySource {
 public:
  Mixture(std::vector<std::unique_ptr<DelaySource>> models,
          std::vector<double> until,
          std::uint64_t seed)
      : models_(std::move(models)), until_(std::move(until)) {
    RandomStream keys(seed, "delay mixture");
    for (int i = 0; i < workers(); ++i) streams_.emplace_back(keys.bits());
  }

  int workers() const override { return models_.front()->workers(); }

  Delay delay(Round round, WorkerId worker) const override {
    PACELINE_DCHECK(round.value >= 0 && worker.value >= 0 && worker.value < workers());
    const double u = streams_[worker.index()].uniform(static_cast<std::uint64_t>(round.value));
    std::size_t k = 0;
    while (k + 1 < until_.size() && u >= until_[k]) ++k;
    return models_[k]->delay(round, worker);
  }

 private:
  std::vector<std::unique_ptr<DelaySource>> models_;
  std::vector<double> until_;           ///< by model: its weight and those before it
  std::vector<CounterStream> streams_;  ///< by worker
};

}  // namespace

bool is_mixture(std::string_view text) { return leading_weight(text).has_value(); }

Expected<std::unique_ptr<DelaySource>> make_mixture(std::string_view text,
                                                    int workers,
                                                    std::uint64_t seed,
                                                    decltype(make_delay_model)& make) {
  PACELINE_CHECK(is_mixture(text));
  std::vector<std::unique_ptr<DelaySource>> models;
  std::vector<double> until;
  double sum = 0;
  for (const std::string_view term : terms_of(text)) {
    const double weight = *leading_weight(term);
    if (!(weight > 0 && weight <= 1)) {
      return invalid(
          fmt::format("weight {} in '{}' is not allowed; 0 < weight <= 1", weight, text));
    }
    const std::uint64_t its_own = RandomStream(seed, "delay mixture part", models.size()).bits();
    auto model = make(term.substr(term.find('*') + 1), workers, its_own);
    if (!model) return Unexpected(model.error());
    models.push_back(std::move(*model));
    sum += weight;
    until.push_back(sum);
  }
  if (std::abs(sum - 1) > 1e-6) {
    return invalid(fmt::format("the weights of '{}' have the sum {:.6g}; it must be 1", text, sum));
  }
  return std::unique_ptr<DelaySource>(
      std::make_unique<Mixture>(std::move(models), std::move(until), seed));
}

}  // namespace paceline
