// A gradient code alone, with threads of our own: fits y = 3 x - 1 by gradient descent while two of
// six workers straggle in every round. Nothing of Paceline runs here; the code only says what a
// worker adds up (row), when the answers are enough (decodable) and what they make (decode, apply).
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include "paceline/code_catalog.hpp"
#include "paceline/gradient_code.hpp"

using namespace paceline;

constexpr int kWorkers = 6;
constexpr int kRounds = 120;
constexpr int kPerChunk = 10;  // samples
std::array<float, 2> line;     // slope, intercept

/// The coded gradient of the squared error: the weighted sum over the chunks of a row.
std::vector<float> message(const Row& row, std::array<float, 2> at, int chunks) {
  const auto samples = static_cast<float>(kPerChunk * chunks);
  std::vector<float> sum(2, 0.0F);
  for (const Term& term : row.terms()) {
    for (int i = 0; i < kPerChunk; ++i) {
      const float x = static_cast<float>(term.chunk.value * kPerChunk + i) / samples;
      const float error = at[0] * x + at[1] - (3 * x - 1);
      sum[0] += static_cast<float>(term.weight) * error * x;
      sum[1] += static_cast<float>(term.weight) * error;
    }
  }
  return sum;
}

int main() {
  const GradientCode code = make_code("cyclic:s=2", CodeContext{.workers = kWorkers}).value();
  std::atomic<int> round{0};  // the workers wait for the next one
  std::mutex mutex;
  std::condition_variable arrived;
  WorkerSet answered(kWorkers);  // in this round
  std::vector<std::vector<float>> messages(kWorkers);

  std::vector<std::jthread> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers.emplace_back([&, i] {
      for (int seen = 0;;) {
        round.wait(seen);
        std::unique_lock lock(mutex);
        seen = round;
        if (seen > kRounds) return;
        const std::array<float, 2> at = line;
        lock.unlock();
        std::vector<float> mine = message(code.row(WorkerId{i}), at, code.chunks);
        const bool straggles = (i + seen) % 3 == 0;
        if (straggles) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        lock.lock();
        if (seen != round) continue;  // too late: the round went on without it
        messages[static_cast<std::size_t>(i)] = std::move(mine);
        answered.insert(WorkerId{i});
        arrived.notify_one();
      }
    });
  }
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex);
  while (round <= kRounds) {
    answered.clear();
    ++round;
    round.notify_all();
    if (round > kRounds) break;
    arrived.wait(lock, [&] { return code.decodable(answered); });
    std::array<float, 2> gradient{};
    apply(code, *code.decode(answered), messages, gradient);
    const auto samples = static_cast<float>(kPerChunk * code.chunks);
    for (std::size_t j = 0; j < 2; ++j) line[j] -= gradient[j] / samples;
  }
  lock.unlock();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("y = %.2f x %+.2f after %d rounds without two of %d workers, %.2f s\n",
              static_cast<double>(line[0]),
              static_cast<double>(line[1]),
              kRounds,
              kWorkers,
              took.count());
}
