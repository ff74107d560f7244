// A gradient code in a program with its own workers and its own messages: what a worker sends, and
// the gradient that a set of answers makes. See examples/coded_mpi.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "paceline/gradient_code.hpp"

namespace paceline {

/// The worker's message, for any code: also of complex weights or with short messages.
///
/// @param length        d, numbers of a gradient
/// @param add_gradient  adds the gradient of a chunk to a sum, shape (d), which comes as zeros;
///                      called once per chunk the worker holds
/// @return shape (code.shape.message_length(d))
std::vector<float> encode(
    const GradientCode& code,
    WorkerId worker,
    std::size_t length,
    const std::function<void(ChunkId chunk, std::span<float> sum)>& add_gradient);

/// The sum of all chunks' gradients, shape (d): exact, or as near as these answers allow.
///
/// @param messages  shape (n): messages[i] is worker i's, read only where it has answered
/// @pre code.decodable(answered)
std::vector<float> decode(const GradientCode& code,
                          const WorkerSet& answered,
                          std::span<const std::vector<float>> messages,
                          std::size_t length);

}  // namespace paceline
