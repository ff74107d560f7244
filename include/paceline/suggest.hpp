// The nearest right choice for a wrong name.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace paceline {

/// The candidate with the least edit distance to `name` (case does not count); empty if none is
/// near (distance over half its length, but one letter always counts as near).
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

/// "unknown <what> 'name'; did you mean 'x'?" or "...; known: a, b, c".
std::string unknown_name(std::string_view what,
                         std::string_view name,
                         std::span<const std::string> candidates);

}  // namespace paceline
