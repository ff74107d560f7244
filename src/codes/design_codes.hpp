// The inside of the codes on block designs: the one weight that is optimal for all of them.
#pragma once

#include "codes/block_designs.hpp"
#include "codes/sparse_code.hpp"

namespace paceline {

/// a_i = 1 / (1 + (r-1)(m-1)/(n-1)) for m answers: the least squares of a block design, whoever
/// answered. Source: kadhe2019gradient, theorem 1.
WeightDecoder design_weight(int workers, double replication);

}  // namespace paceline
