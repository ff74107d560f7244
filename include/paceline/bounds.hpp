// How small the load of a scheme can be that survives every pattern of a straggler model, and how
// small that of the known schemes is. All exact.
//
// n workers; load L = share of the data a worker processes per round; bursty (B, W, lambda) and
// arbitrary (N, W, lambda) as in straggler_model.hpp.
// Source: Krishnan, Ebrahimi, Khisti (ICLR 2023); the derivations are in docs/bounds.md.
#pragma once

#include <string>
#include <vector>

#include "paceline/expected.hpp"
#include "paceline/rational.hpp"

namespace paceline {

/// No scheme with a load below this survives every (B, W, lambda)-bursty pattern, however late its
/// jobs may be decoded:  (W-1+B) / (n (W-1) + B (n-lambda)).
/// @pre n >= 1, 1 <= B < W, 0 <= lambda <= n
Rational bursty_load_bound(int workers, int B, int W, int lambda);

/// The same for (N, W, lambda)-arbitrary patterns:  W / (n (W-N) + N (n-lambda)).
/// @pre n >= 1, 0 <= N < W, 0 <= lambda <= n
Rational arbitrary_load_bound(int workers, int N, int W, int lambda);

/// (s+1) / n. @pre 0 <= s < n
Rational gc_load(int workers, int s);

/// ceil(lambda / (x+1)) with x = (W-1) / B, the stragglers per round that the code inside must
/// survive. @pre 1 <= B < W, B divides W-1, 0 <= lambda
int sr_sgc_tolerance(int B, int W, int lambda);

/// (lambda+1)(W-1+B) / (n (B + (W-1)(lambda+1))); with lambda = n: (W-1+B) / (n (W-1)).
/// @pre as bursty_load_bound
Rational m_sgc_load(int workers, int B, int W, int lambda);

/// What a scheme costs that survives every pattern of one bursty model.
struct SchemeCosts {
  std::string scheme;  ///< text for make_scheme
  Rational load;
  Rational gap;      ///< load over the bound
  Rational storage;  ///< share of the data that a worker holds
  int decode_delay = 0;
  int messages_per_round = 0;
};

struct BurstyBounds {
  int B = 0, W = 0, lambda = 0;
  Rational bound;
  std::vector<SchemeCosts> schemes;  ///< gc, sr-sgc (where B divides W-1; not for n = 1) and m-sgc
};

/// Errors name the parameter and its range.
Expected<BurstyBounds> bursty_bounds(int workers, int B, int W, int lambda);

}  // namespace paceline
