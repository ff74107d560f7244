// Mixtures of delay models: "0.9*lognormal:base=0.1,median=0.02,sigma=1+0.1*constant:base=2".
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "paceline/delays.hpp"

namespace paceline {

/// Whether a text begins with a weight: "number*".
bool is_mixture(std::string_view text);

/// Every worker draws anew in every round which of the models its time is from. The models draw by
/// themselves, so a bursty one keeps its bursts in the rounds in which it is not asked.
/// @param make  builds each of them from its own text
Expected<std::unique_ptr<DelaySource>> make_mixture(std::string_view text,
                                                    int workers,
                                                    std::uint64_t seed,
                                                    decltype(make_delay_model)& make);

}  // namespace paceline
