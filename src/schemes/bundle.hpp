// bundle=m: m jobs in one round, each on its own share of the workers.
#pragma once

#include <memory>

#include "paceline/scheme.hpp"

namespace paceline {

/// Plays m copies of `inner`, a scheme for n workers, at once on n*m workers: copy u sits on the
/// workers i = u (mod m), and its job j is job j*m+u. A round starts m jobs and closes when every
/// copy's may. A worker's load stays that of `inner`.
/// @pre m >= 1, nothing closed yet, and `inner` adds no work in the middle of a round
std::unique_ptr<Scheme> make_bundle(std::unique_ptr<Scheme> inner, int m);

}  // namespace paceline
