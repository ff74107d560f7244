// Columns of G drawn at random: the workers that hold each chunk; and parameters of such codes.
#pragma once

#include <string_view>
#include <vector>

#include "paceline/parameters.hpp"
#include "paceline/random.hpp"

namespace paceline {

/// Shape (k): each of n workers independently with this probability. With `covered` a column that
/// comes out empty is drawn anew, which is the same as drawing all until none is.
std::vector<std::vector<int>> bernoulli_columns(
    int workers, int chunks, double probability, bool covered, RandomStream& random);

/// `size` different numbers of 0 ... n-1 in ascending order, all sets alike.
std::vector<int> random_subset(int n, int size, RandomStream& random);

/// chunks=: k; n where it is absent.
int read_chunks(ParameterText& parameters, int workers);

/// key=yes or key=no.
bool read_yes_or_no(ParameterText& parameters, std::string_view key, bool fallback);

}  // namespace paceline
