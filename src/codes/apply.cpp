#include "core/pieces.hpp"
#include "paceline/check.hpp"
#include "paceline/gradient_code.hpp"
#include "paceline/kernels.hpp"

namespace paceline {

void apply(const GradientCode& code,
           const Combination& combination,
           std::span<const std::vector<float>> messages,
           std::span<float> out) {
  const MessageShape& shape = code.shape;
  PACELINE_CHECK(out.size() % static_cast<std::size_t>(shape.parts) == 0);
  std::vector<WeightedMessage> sum;
  for (int part = 0; part < shape.parts; ++part) {
    sum.clear();
    for (const WorkerWeight& term : combination.terms) {
      if (term.part != kWhole && term.part != part) continue;
      // A weight on the whole message: each piece goes where it came from.
      const bool in_pieces = term.part != kWhole || shape.parts == 1;
      const int segment = in_pieces ? term.segment : part;
      const std::vector<float>& message = messages[term.worker.index()];
      PACELINE_CHECK(message.size() == shape.message_length(out.size()));
      sum.push_back({piece(std::span<const float>(message), segment, shape.pieces()), term.weight});
    }
    weighted_sum(sum, piece(out, part, shape.parts));
  }
}

}  // namespace paceline
