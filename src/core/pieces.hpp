// Equal, contiguous pieces of a gradient (its parts) or of a message (its segments).
#pragma once

#include <span>

#include "paceline/message.hpp"

namespace paceline {

/// Piece `index` of `parts` equal pieces of `values`, or all of it for kWhole. @pre parts divides
/// values.size()
template <class T>
std::span<T> piece(std::span<T> values, int index, int parts) {
  if (index == kWhole) return values;
  const std::size_t size = values.size() / static_cast<std::size_t>(parts);
  return values.subspan(static_cast<std::size_t>(index) * size, size);
}

}  // namespace paceline
