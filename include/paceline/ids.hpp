// Strong integers and time: swapping a worker and a chunk does not compile.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <limits>

namespace paceline {

template <class Tag>
struct Id {
  int value = 0;

  auto operator<=>(const Id&) const = default;

  /// The id as an array index. @pre value >= 0
  std::size_t index() const { return static_cast<std::size_t>(value); }
};

using WorkerId = Id<struct WorkerTag>;  ///< 0 ... n-1; for a scheme it is a seat
using ChunkId = Id<struct ChunkTag>;    ///< a piece of a job's batch
using JobId = Id<struct JobTag>;        ///< one full gradient to deliver; jobs count from 0
using Round = Id<struct RoundTag>;      ///< one cycle of plan, answers, close; rounds count from 0
using ModelId = Id<struct ModelTag>;    ///< one of the models trained at the same time
using Version = Id<struct VersionTag>;  ///< number of updates a model has had

using Seconds = std::chrono::duration<double>;
inline constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

}  // namespace paceline
