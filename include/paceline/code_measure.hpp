// What a code is worth, measured: what it leaves, how much it magnifies rounding, what decoding
// costs.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "paceline/gradient_code.hpp"
#include "paceline/ids.hpp"

namespace paceline {

/// The error of decoding in some number format: messages are rounded to it, weights to it or to
/// float32 if that is finer, and sums are exact. Relative to what the decoded weights give in exact
/// arithmetic, so that it does not count what an approximate code leaves. The largest over the sets
/// tried, for normal chunk gradients.
struct DecodeErrors {
  double float64 = 0;
  double float32 = 0;
  double float16 = 0;
  double bfloat16 = 0;
};

struct CodeMeasurement {
  int stragglers = 0;
  int sets = 0;              ///< straggler sets tried
  bool all_sets = false;     ///< they are all there are
  double decoded = 0;        ///< share of the sets that the code decodes; the rest counts only here
  double mean_residual = 0;  ///< over the sets, which are all or random ones
  double worst_residual = 0;     ///< of them
  double attacked_residual = 0;  ///< the worst found by an adversary, at least worst_residual
  double median_amplification = 1;
  double worst_amplification = 1;
  double condition = 0;  ///< largest over smallest nonzero singular value of the answered rows,
                         ///< median over some sets; NaN for codes that are large
  DecodeErrors error;
  /// To find the weights for a new set, median; NaN without a clock.
  Seconds decode_time{std::numeric_limits<double>::quiet_NaN()};
};

/// Seconds since some fixed moment. Codes know no clock: who wants times brings one.
using Clock = std::function<Seconds()>;

/// Tries the code on all straggler sets of this size if there are at most 1000, else on 300 random
/// ones. The adversary takes all holders of the chunks that have fewest, then swaps workers while
/// that leaves more. @pre 0 <= stragglers <= code.tolerance. Cost: about 1000 decodings.
CodeMeasurement measure_code(const GradientCode& code,
                             int stragglers,
                             std::uint64_t seed = 1,
                             const Clock& clock = {});

/// G as a Matrix Market file: coordinates, real or complex, shape (n, k); with short messages of
/// d/m numbers (n, k m), a column per chunk and block.
std::string matrix_market(const GradientCode& code);

/// A line per worker, a character per chunk: '.' not held, '1' weight 1, 'x' another weight.
std::string drawing(const GradientCode& code);

}  // namespace paceline
