// The same work many times, spread over threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace paceline {

/// Calls work(0) ... work(count-1), each once, in any order and on any of `threads` threads (0: as
/// many as there are cores), so results go to places of their own. Hands out nothing more once
/// `*interrupted` is true or a call has thrown; the first exception is thrown again here.
/// @return whether all calls were made
bool parallel_for(std::size_t count,
                  int threads,
                  const std::atomic<bool>* interrupted,
                  const std::function<void(std::size_t)>& work);

}  // namespace paceline
