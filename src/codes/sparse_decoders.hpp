// Decoders for any sparse code: fixed weights, one step, the best common weight, the algorithmic
// decoder (Landweber iterations), and least squares.
#pragma once

#include <string>
#include <vector>

#include "codes/sparse_code.hpp"

namespace paceline {

/// a_i = weight, whoever else answered.
WeightDecoder fixed_weight(double weight);

/// a_i = k / (m w) for m answers: right on average for chunks spread at random.
/// @param width  w, the chunks (more exactly: the sum of weights) of a worker by design
/// Source: charles2017approximate, section 2.
WeightDecoder one_step(int chunks, double width);

/// The common weight that leaves least: with X_j = sum of the answered column j, sum X / sum X^2.
/// Never leaves more than one_step, at the same cost. Source: ours.
WeightDecoder best_common_weight(SharedMatrix G);

/// u <- u - G_R^T G_R u / nu from u = 1, where nu >= sigma_1(G_R)^2, and a = sum of G_R u / nu.
/// What is left falls with every iteration, towards the least squares.
/// Source: charles2017approximate, section 5.
WeightDecoder algorithmic(SharedMatrix G, int iterations);

/// The least squares |a G_R - 1|, by conjugate gradients from 0, so that a is the shortest of them.
/// Cost: about 100 iterations of O(entries of G_R).
WeightDecoder least_squares(SharedMatrix G);

/// decoder= and iterations= of the codes that can be decoded in all these ways.
struct DecoderChoice {
  WeightDecoder decoder;
  bool optimal = true;  ///< leaves the least that is possible, so that more answers leave no more
};

/// The way of its own that a code is decoded in.
struct OwnDecoder {
  std::string name;
  DecoderChoice choice;
  bool usual = true;  ///< false: `optimal` is
};

/// Reads decoder=optimal|one-step|uniform|algorithmic (and iterations=); refuses residual= with
/// those that are not optimal, since more answers may then leave more.
/// @param own  one more choice; without a name there is none, and `optimal` is the usual one
DecoderChoice read_decoder(ParameterText& parameters,
                           const SharedMatrix& G,
                           double width,
                           const OwnDecoder& own = {});

/// The descriptions of decoder= and iterations=.
/// @param own, meaning  of the code's own way, if it has one
std::vector<CodeParameter> decoder_parameters(const std::string& own = {},
                                              const std::string& meaning = {});

}  // namespace paceline
