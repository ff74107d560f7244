#include "paceline/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "paceline/check.hpp"
#include "paceline/straggler_model.hpp"

namespace paceline {
namespace {

// n (W-1+B) (lambda+1) and its products stay far below 2^63.
constexpr int kMostWorkers = 1 << 20;

bool is_bursty(int n, int B, int W, int lambda) {
  return n >= 1 && n <= kMostWorkers && 1 <= B && B < W && W <= kLongestWindow && lambda >= 0 &&
         lambda <= n;
}

}  // namespace

Rational bursty_load_bound(int workers, int B, int W, int lambda) {
  PACELINE_CHECK(is_bursty(workers, B, W, lambda));
  return arbitrary_load_bound(workers, B, W - 1 + B, lambda);
}

Rational arbitrary_load_bound(int workers, int N, int W, int lambda) {
  PACELINE_CHECK(workers >= 1 && 0 <= N && N < W && lambda >= 0 && lambda <= workers);
  const std::int64_t n = workers;
  return {W, n * (W - N) + N * (n - lambda)};
}

Rational gc_load(int workers, int s) {
  PACELINE_CHECK(workers >= 1 && 0 <= s && s < workers);
  return {s + 1, workers};
}

int sr_sgc_tolerance(int B, int W, int lambda) {
  PACELINE_CHECK(1 <= B && B < W && (W - 1) % B == 0 && lambda >= 0);
  const int rounds = (W - 1) / B + 1;
  return (lambda + rounds - 1) / rounds;
}

Rational m_sgc_load(int workers, int B, int W, int lambda) {
  PACELINE_CHECK(is_bursty(workers, B, W, lambda));
  const std::int64_t n = workers;
  const std::int64_t slots = W - 1 + B;
  if (lambda == workers) return {slots, n * (W - 1)};
  const std::int64_t copies = lambda + std::int64_t{1};
  return {copies * slots, n * (B + (W - 1) * copies)};
}

Expected<BurstyBounds> bursty_bounds(int workers, int B, int W, int lambda) {
  const auto range = [](const char* name, int value, int low, int high) {
    return invalid(
        fmt::format("{}={} is not allowed; {} <= {} <= {}", name, value, low, name, high));
  };
  if (workers < 1 || workers > kMostWorkers) return range("workers", workers, 1, kMostWorkers);
  if (W < 2 || W > kLongestWindow) return range("W", W, 2, kLongestWindow);
  if (B < 1 || B >= W) return range("B", B, 1, W - 1);
  if (lambda < 0 || lambda > workers) return range("lambda", lambda, 0, workers);

  BurstyBounds found{B, W, lambda, bursty_load_bound(workers, B, W, lambda), {}};
  const std::string model = fmt::format("B={},W={},lambda={}", B, W, lambda);
  const auto add =
      [&](std::string scheme, Rational load, Rational storage, int delay, int messages) {
        found.schemes.push_back(
            {std::move(scheme), load, load / found.bound, storage, delay, messages});
      };
  // GC has no other round to turn to: where all workers may straggle at once it waits for one.
  const int s = std::min(lambda, workers - 1);
  add(fmt::format("gc:s={}", s), gc_load(workers, s), gc_load(workers, s), 0, 1);
  if ((W - 1) % B == 0 && sr_sgc_tolerance(B, W, lambda) < workers) {
    const Rational load = gc_load(workers, sr_sgc_tolerance(B, W, lambda));
    add("sr-sgc:" + model, load, load, B, 1);
  }
  const Rational load = m_sgc_load(workers, B, W, lambda);
  const Rational storage = lambda == workers ? Rational(1, workers) : load;
  add("m-sgc:" + model, load, storage, W - 2 + B, W - 1 + B);
  return found;
}

}  // namespace paceline
