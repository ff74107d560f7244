// The codes by name. A code is measured before it is handed out, so that a promise it cannot keep
// is refused here, before any run, together with the name of a code that can keep it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "codes/amplification_limit.hpp"
#include "codes/cyclic_mds.hpp"
#include "codes/cyclic_repetition.hpp"
#include "codes/cyclic_without_weights.hpp"
#include "codes/parameters.hpp"
#include "codes/promise.hpp"
#include "paceline/check.hpp"
#include "paceline/gradient_code.hpp"
#include "paceline/suggest.hpp"

namespace paceline {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// A family of codes. `bare` (see amplification_limit.hpp) and `cost` expect 1 <= s <= n-2.
struct Family {
  std::string name;
  GradientCode (*bare)(const CodeRequest&);
  double (*cost)(int workers, int stragglers);  ///< load times backward passes
};

GradientCode bare_repetition(const CodeRequest& request) {
  return make_fractional_repetition({.workers = request.workers, .stragglers = request.stragglers})
      .value();
}

/// A first look spares the long search where no draw can help: more draws gain a factor of a few.
GradientCode bare_cyclic(const CodeRequest& request) {
  constexpr int kFirstDraws = 4;
  constexpr int kDraws = 100;
  constexpr double kHopeless = 16;
  CyclicRepetitionOptions options = {.workers = request.workers,
                                     .stragglers = request.stragglers,
                                     .seed = request.seed,
                                     .draws = request.keep_promise ? kFirstDraws : 1};
  if (!request.keep_promise) {
    if (!request.weights) {
      return cyclic_without_weights("cyclic", request.workers, request.stragglers);
    }
    return bare_cyclic_repetition(options);  // any draw will do
  }
  GradientCode first = bare_cyclic_repetition(options);
  const double amplification = measure_quality(first).p95_amplification;
  if (amplification > kHopeless * promised_amplification(request.message_type)) return first;
  options.draws = kDraws;
  return bare_cyclic_repetition(options);
}

GradientCode bare_mds(const CodeRequest& request) {
  if (!request.weights) {
    GradientCode code = cyclic_without_weights("mds", request.workers, request.stragglers);
    code.shape.parts = 2;
    code.backward_passes = 2;
    return code;
  }
  return bare_cyclic_mds(
      request.workers, request.stragglers, best_stride(request.workers, request.stragglers));
}

double repetition_cost(int workers, int stragglers) {
  const int groups = workers / (stragglers + 1);
  return 1.0 / groups;
}

// In order of preference where nothing else decides: repetition never scales an answer.
const std::array<Family, 3>& families() {
  static const std::array<Family, 3> all = {
      Family{"repetition", bare_repetition, repetition_cost},
      Family{"cyclic", bare_cyclic, [](int n, int s) { return 1.0 * (s + 1) / n; }},
      Family{"mds", bare_mds, [](int n, int s) { return 2.0 * (s + 1) / n; }}};
  return all;
}

/// A bare code with what the promise says about it.
struct Candidate {
  GradientCode code;
  double amplification = 1;  ///< the 95th percentile
  double error_bound = 0;    ///< at that amplification, relative to sum_j |g_j|
  MessageType message_type = MessageType::kFloat32;

  bool keeps_promise() const { return error_bound <= promised_error(message_type); }
};

Candidate measure(GradientCode code, MessageType type) {
  const double amplification = measure_quality(code).p95_amplification;
  const double bound = decode_error_bound(amplification, 0, code.chunks, type);
  return {std::move(code), amplification, bound, type};
}

/// The cheapest code that keeps its promise; of equally cheap ones the one with the least error
/// bound. There always is one, since repetition does. Codes are built only while they could win.
Candidate choose(const CodeRequest& request) {
  constexpr double kSameCost = 1e-12;
  const MessageType type = request.message_type;
  const double least_bound = decode_error_bound(1, 0, 1, type);  // of plain sums
  std::array<const Family*, 3> order;
  std::ranges::transform(families(), order.begin(), [](const Family& f) { return &f; });
  const auto cost = [&](const Family* family) {
    return family->cost(request.workers, request.stragglers);
  };
  std::ranges::stable_sort(order, {}, cost);

  std::optional<Candidate> best;
  double best_cost = 0;
  for (const Family* family : order) {
    const bool could_win =
        !best || (cost(family) <= best_cost + kSameCost && best->error_bound > least_bound);
    if (!could_win) break;
    Candidate candidate = measure(family->bare(request), type);
    if (!candidate.keeps_promise()) continue;
    if (!best || candidate.error_bound < best->error_bound) {
      best = std::move(candidate);
      best_cost = cost(family);
    }
  }
  PACELINE_CHECK(best.has_value());
  return *std::move(best);
}

Unexpected<Error> broken_promise(const Candidate& candidate) {
  const GradientCode& code = candidate.code;
  const MessageType type = candidate.message_type;
  const GradientCode instead =
      choose({.workers = code.workers(), .stragglers = code.tolerance, .message_type = type}).code;
  return invalid(fmt::format(
      "code '{}' at n = {}, s = {} cannot keep its promise{}: amplification {:.3g} "
      "bounds the decode error by {:.2g}, promised is {:.0e}; code '{}' keeps it "
      "at load {:.3g}",
      code.name,
      code.workers(),
      code.tolerance,
      type == MessageType::kFloat32 ? std::string()
                                    : fmt::format(" with {} messages", message_type_name(type)),
      candidate.amplification,
      candidate.error_bound,
      promised_error(type),
      instead.name,
      instead.load));
}

Expected<GradientCode> finish(GradientCode bare, double most_amplification) {
  if (bare.decodable) return bare;  // repetition: needs neither a limit nor a cache
  return limit_amplification(std::move(bare), most_amplification);
}

}  // namespace

std::vector<std::string> code_names() {
  std::vector<std::string> names;
  for (const Family& family : families()) names.push_back(family.name);
  names.emplace_back("auto");
  return names;
}

Expected<GradientCode> make_code(const CodeRequest& request) {
  PACELINE_CHECK(request.weights || !request.keep_promise);
  const int n = request.workers;
  const int s = request.stragglers;
  const bool automatic = request.name == "auto";
  const auto family = std::ranges::find(families(), request.name, &Family::name);
  if (!automatic && family == families().end()) {
    return invalid(unknown_name("code", request.name, code_names()));
  }
  if (const Expected<void> legal = check_workers_and_stragglers(n, s); !legal) {
    return Unexpected(legal.error());
  }
  if (s == 0 || s == n - 1) {
    return plain_code(automatic ? families().front().name : request.name, n, s);
  }
  if (automatic) {
    CodeRequest measured = request;
    measured.weights = true;  // the choice is by their accuracy
    return finish(choose(measured).code,
                  request.keep_promise ? promised_amplification(request.message_type) : kNoLimit);
  }
  return promise(family->bare(request), request.keep_promise, request.message_type);
}

Expected<GradientCode> promise(GradientCode bare, bool keep_promise, MessageType type) {
  if (!keep_promise) return finish(std::move(bare), kNoLimit);
  Candidate candidate = measure(std::move(bare), type);
  if (!candidate.keeps_promise()) return broken_promise(candidate);
  return finish(std::move(candidate.code), promised_amplification(type));
}

}  // namespace paceline
