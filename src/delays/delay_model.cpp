// Delay models by name. All share one form, for worker i in round r:
//
//   base     = speed_i * slow_ir * (base + extra_ir)        seconds at zero load
//   per_load = speed_i * slow_ir * slope                    seconds per unit of load
//
// speed_i = exp(spread * Z_i) is drawn once per worker (median 1); a model is its `extra`, a time,
// and its `slow`, a factor. Every draw is a function of (seed, worker, round), see
// counter_stream.hpp, so the order of questions does not matter and nothing is stored.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "delays/counter_stream.hpp"
#include "delays/mixture.hpp"
#include "paceline/check.hpp"
#include "paceline/delays.hpp"
#include "paceline/parameters.hpp"
#include "paceline/random.hpp"
#include "paceline/suggest.hpp"

namespace paceline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Positions in a worker's stream: so many per round. Position 0 of round r drives the bursts, 1
/// and 2 the extra time.
constexpr std::uint64_t kDrawsPerRound = 4;

std::uint64_t position(int round, std::uint64_t draw) {
  return static_cast<std::uint64_t>(round) * kDrawsPerRound + draw;
}

/// A worker that is sometimes slow for a while: a two-state Markov chain (Gilbert-Elliott) that
/// starts in its stationary distribution.
///
/// One uniform number u drives each step, the same way from both states: from good the chain turns
/// bad if u < p, from bad it stays bad if u < 1 - q. So u below both ends in bad whatever came
/// before, u above both in good, and only between them does the state before matter: it is kept (p
/// <= 1 - q) or turned round (p > 1 - q). Walking back to the last u outside that gap gives the
/// state of any round without the others; the walk has 1 / min(p + q, 2 - p - q) steps on average,
/// and ends at round 0 at the latest.
class Bursts {
 public:
  Bursts(double p, double q) : p_(p), q_(q) {}

  bool bad(const CounterStream& stream, int round) const {
    const double stay = 1 - q_;
    bool turned = false;
    for (int r = round; r > 0; --r) {
      const double u = stream.uniform(position(r, 0));
      if (u < std::min(p_, stay)) return !turned;
      if (u >= std::max(p_, stay)) return turned;
      if (p_ > stay) turned = !turned;
    }
    const bool first = p_ > 0 && stream.uniform(position(0, 0)) * (p_ + q_) < p_;
    return first != turned;
  }

 private:
  double p_;  ///< probability that a good worker is bad in the next round
  double q_;  ///< probability that a bad worker is good in the next round
};

struct Draw {
  double extra = 0;  ///< seconds
  double slow = 1;   ///< factor
};

using DrawFunction = std::function<Draw(const CounterStream&, int round)>;

class DelayModel final : public DelaySource {
 public:
  DelayModel(Delay common, double spread, DrawFunction draw, int workers, std::uint64_t seed)
      : common_(common), draw_(std::move(draw)) {
    RandomStream keys(seed, "delay model");
    RandomStream speeds(seed, "delay model speeds");
    for (int i = 0; i < workers; ++i) {
      streams_.emplace_back(keys.bits());
      speeds_.push_back(std::exp(spread * speeds.normal()));
    }
  }

  int workers() const override { return static_cast<int>(streams_.size()); }

  Delay delay(Round round, WorkerId worker) const override {
    PACELINE_DCHECK(round.value >= 0 && worker.value >= 0 && worker.value < workers());
    const Draw draw = draw_(streams_[worker.index()], round.value);
    const double factor = speeds_[worker.index()] * draw.slow;
    return {factor * (common_.base + Seconds{draw.extra}), factor * common_.per_load};
  }

 private:
  Delay common_;
  DrawFunction draw_;
  std::vector<CounterStream> streams_;  ///< by worker
  std::vector<double> speeds_;          ///< by worker
};

DrawFunction constant(ParameterText& /*text*/) {
  return [](const CounterStream&, int) { return Draw{}; };
}

DrawFunction exponential(ParameterText& text) {
  const double mean = text.number("mean", 0, kInfinity);
  return [mean](const CounterStream& stream, int round) {
    return Draw{.extra = mean * stream.exponential(position(round, 1))};
  };
}

/// P(extra > x) = (scale / x)^shape for x >= scale.
DrawFunction pareto(ParameterText& text) {
  const double scale = text.number("scale", 0, kInfinity);
  const double shape = text.number("shape", 0.1, kInfinity);
  return [scale, shape](const CounterStream& stream, int round) {
    return Draw{.extra = scale * std::exp(stream.exponential(position(round, 1)) / shape)};
  };
}

DrawFunction lognormal(ParameterText& text) {
  const double median = text.number("median", 0, kInfinity);
  const double sigma = text.number("sigma", 0, 10);
  return [median, sigma](const CounterStream& stream, int round) {
    return Draw{.extra = median * std::exp(sigma * stream.normal(position(round, 1)))};
  };
}

/// What the two models with two speeds have in common: usual times with noise, and a factor.
class TwoSpeedTimes {
 public:
  explicit TwoSpeedTimes(ParameterText& text)
      : slow_(text.number("slow", 1, kInfinity)),
        noise_(text.number("noise", 0, kInfinity, 0.0)),
        sigma_(text.number("sigma", 0, 10, 0.0)) {}

  Draw draw(const CounterStream& stream, int round, bool slow) const {
    const double extra = noise_ > 0 ? noise_ * relative(stream, position(round, 1)) : 0;
    return {.extra = extra, .slow = slow ? slow_ : 1};
  }

 private:
  double relative(const CounterStream& stream, std::uint64_t at) const {
    return sigma_ > 0 ? std::exp(sigma_ * stream.normal(at)) : stream.exponential(at);
  }

  double slow_;
  double noise_;  ///< seconds: mean of the exponential, or median of the log-normal time
  double sigma_;  ///< of the log-normal time; 0: exponential
};

/// As bursty, but every round is slow with the same probability, whatever came before.
DrawFunction bimodal(ParameterText& text) {
  const double share = text.number("share", 0, 1);
  return [share, times = TwoSpeedTimes(text)](const CounterStream& stream, int round) {
    return times.draw(stream, round, stream.uniform(position(round, 0)) < share);
  };
}

DrawFunction bursty(ParameterText& text) {
  const double p = text.number("bad", 0, 1);
  const double q = text.number("good", 0, 1);
  return
      [bursts = Bursts(p, q), times = TwoSpeedTimes(text)](const CounterStream& stream, int round) {
        return times.draw(stream, round, bursts.bad(stream, round));
      };
}

struct Model {
  std::string name;
  DrawFunction (*read)(ParameterText&);
};

const std::array<Model, 6> kModels = {{{"constant", constant},
                                       {"exponential", exponential},
                                       {"pareto", pareto},
                                       {"lognormal", lognormal},
                                       {"bimodal", bimodal},
                                       {"bursty", bursty}}};

const Model* find_model(const std::string& name) {
  for (const Model& model : kModels) {
    if (model.name == name) return &model;
  }
  return nullptr;
}

}  // namespace

Expected<std::unique_ptr<DelaySource>> make_delay_model(std::string_view text,
                                                        int workers,
                                                        std::uint64_t seed) {
  if (workers < 1) return invalid(fmt::format("workers={} is not allowed; workers >= 1", workers));
  if (is_mixture(text)) return make_mixture(text, workers, seed, make_delay_model);
  auto parsed = ParameterText::parse(text);
  if (!parsed) return Unexpected(parsed.error());
  const Model* model = find_model(parsed->name());
  if (model == nullptr) {
    std::vector<std::string> known;
    known.reserve(kModels.size());
    for (const Model& each : kModels) known.push_back(each.name);
    return invalid(unknown_name("delay model", parsed->name(), known));
  }
  const double base = parsed->number("base", 0, kInfinity);
  const double slope = parsed->number("slope", 0, kInfinity, 0.0);
  const double spread = parsed->number("spread", 0, 5, 0.0);
  DrawFunction draw = model->read(*parsed);
  if (auto finished = parsed->finish(); !finished) return Unexpected(finished.error());
  return std::unique_ptr<DelaySource>(std::make_unique<DelayModel>(
      Delay{Seconds{base}, Seconds{slope}}, spread, std::move(draw), workers, seed));
}

}  // namespace paceline
