// A gradient code alone, with threads of our own: fits y = 3 x - 1 by gradient descent while two of
// six workers straggle in every round. Nothing of Paceline runs here; the code only says what a
// worker sends (encode), when the answers are enough (decodable) and what they make (decode).
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "paceline/code_catalog.hpp"
#include "paceline/coded_loop.hpp"

using namespace paceline;

constexpr int kWorkers = 6;
constexpr int kRounds = 120;

int main() {
  const GradientCode code = make_code("cyclic:s=2", CodeContext{.workers = kWorkers}).value();
  std::atomic<int> round{0};  // the workers wait for the next one
  std::mutex mutex;           // for all that follows
  std::condition_variable arrived;
  std::vector<float> line(2);    // slope, intercept
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
        const std::vector<float> at = line;
        lock.unlock();
        const auto add_gradient = [&](ChunkId chunk, std::span<float> sum) {  // a sample per chunk
          const float x = static_cast<float>(chunk.value) / static_cast<float>(code.chunks);
          const float error = at[0] * x + at[1] - (3 * x - 1);
          sum[0] += error * x;
          sum[1] += error;
        };
        std::vector<float> mine = encode(code, WorkerId{i}, 2, add_gradient);
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
  for (std::unique_lock lock(mutex); round <= kRounds;) {
    answered.clear();
    ++round;
    round.notify_all();
    if (round > kRounds) break;
    arrived.wait(lock, [&] { return code.decodable(answered); });
    const std::vector<float> gradient = decode(code, answered, messages, 2);
    for (std::size_t j = 0; j < 2; ++j) line[j] -= gradient[j] / static_cast<float>(code.chunks);
  }
  std::printf("y = %.2f x %+.2f after %d rounds without two of %d workers\n",
              static_cast<double>(line[0]),
              static_cast<double>(line[1]),
              kRounds,
              kWorkers);
}
