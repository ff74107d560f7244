#include "paceline/apply.hpp"

#include <algorithm>

#include "core/pieces.hpp"
#include "paceline/check.hpp"
#include "paceline/kernels.hpp"

namespace paceline {
namespace {

template <class Number>
struct WeightedPiece {
  std::span<const Number> values;
  double weight = 1;
};

void sum_pieces(const std::vector<WeightedMessage>& pieces, std::span<float> out) {
  weighted_sum(pieces, out);
}

void sum_pieces(const std::vector<WeightedPiece<double>>& pieces, std::span<double> out) {
  std::ranges::fill(out, 0.0);
  for (const WeightedPiece<double>& piece : pieces) {
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += piece.weight * piece.values[j];
  }
}

/// @param message  message(worker): the numbers that it sent
template <class Piece, class Number, class Messages>
void apply_pieces(const GradientCode& code,
                  const Combination& combination,
                  const Messages& message,
                  std::span<Number> out) {
  const MessageShape& shape = code.shape;
  PACELINE_CHECK(out.size() % static_cast<std::size_t>(shape.parts) == 0);
  std::vector<Piece> sum;
  for (int part = 0; part < shape.parts; ++part) {
    sum.clear();
    for (const WorkerWeight& term : combination.terms) {
      if (term.part != kWhole && term.part != part) continue;
      // A weight on the whole message: each piece goes where it came from.
      const bool in_pieces = term.part != kWhole || shape.parts == 1;
      const int segment = in_pieces ? term.segment : part;
      const std::span<const Number> values = message(term.worker);
      PACELINE_CHECK(values.size() == shape.message_length(out.size()));
      sum.push_back({piece(values, segment, shape.pieces()), term.weight});
    }
    sum_pieces(sum, piece(out, part, shape.parts));
  }
}

}  // namespace

void apply(const GradientCode& code,
           const Combination& combination,
           std::span<const std::vector<float>> messages,
           std::span<float> out) {
  const auto message = [&](WorkerId worker) {
    return std::span<const float>(messages[worker.index()]);
  };
  apply_pieces<WeightedMessage>(code, combination, message, out);
}

void apply(const GradientCode& code,
           const Combination& combination,
           std::span<const std::span<const float>> messages,
           std::span<float> out) {
  const auto message = [&](WorkerId worker) { return messages[worker.index()]; };
  apply_pieces<WeightedMessage>(code, combination, message, out);
}

void apply(const GradientCode& code,
           const Combination& combination,
           std::span<const std::span<const double>> messages,
           std::span<double> out) {
  const auto message = [&](WorkerId worker) { return messages[worker.index()]; };
  apply_pieces<WeightedPiece<double>>(code, combination, message, out);
}

}  // namespace paceline
