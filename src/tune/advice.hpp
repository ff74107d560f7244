// What a tuning comes to, in words.
#pragma once

#include <cstddef>
#include <string>

#include "paceline/tune.hpp"

namespace paceline {

/// A scheme that saves less than this share of the time is not worth its complexity.
inline constexpr double kNotWorthIt = 0.01;

/// The simplest scheme (the first in the list) that no other one beats by more than noise, or by
/// more than kNotWorthIt, which is not worth a more involved scheme. @pre there is a scheme
std::size_t simplest_good(const Tuning& tuning);

/// A few sentences. @pre tuning.recommended is set
std::string advice(const Tuning& tuning);

}  // namespace paceline
