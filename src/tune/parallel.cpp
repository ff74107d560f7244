#include "tune/parallel.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace paceline {

bool parallel_for(std::size_t count,
                  int threads,
                  const std::atomic<bool>* interrupted,
                  const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::exception_ptr thrown;
  std::mutex mutex;
  const auto serve = [&] {
    while (!stop && (interrupted == nullptr || !*interrupted)) {
      const std::size_t index = next++;
      if (index >= count) return;
      try {
        work(index);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!thrown) thrown = std::current_exception();
        stop = true;
      }
    }
    stop = true;  // left early
  };
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t wanted = threads > 0 ? static_cast<std::size_t>(threads) : cores;
  {
    std::vector<std::jthread> helpers;
    for (std::size_t t = 1; t < std::min(wanted, count); ++t) helpers.emplace_back(serve);
    serve();
  }
  if (thrown) std::rethrow_exception(thrown);
  return !stop;
}

}  // namespace paceline
