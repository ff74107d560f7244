#include "paceline/coded_loop.hpp"

#include <algorithm>

#include "core/pieces.hpp"
#include "paceline/check.hpp"

namespace paceline {
namespace {

/// d, rounded up to a multiple of the code's parts.
std::size_t padded(const GradientCode& code, std::size_t length) {
  const auto parts = static_cast<std::size_t>(code.shape.parts);
  return (length + parts - 1) / parts * parts;
}

/// message[segment] += weight * gradient[part]; a term on the whole gradient is one on every part.
void add_term(const Term& term,
              const MessageShape& shape,
              std::span<const float> gradient,
              std::span<float> message) {
  const auto weight = static_cast<float>(term.weight);
  for (int part = 0; part < shape.parts; ++part) {
    if (term.part != kWhole && term.part != part) continue;
    const int segment = term.segment != kWhole ? term.segment : part;
    const std::span<const float> from = piece(gradient, part, shape.parts);
    const std::span<float> to = piece(message, segment, shape.pieces());
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += weight * from[i];
  }
}

}  // namespace

std::vector<float> encode(
    const GradientCode& code,
    WorkerId worker,
    std::size_t length,
    const std::function<void(ChunkId chunk, std::span<float> sum)>& add_gradient) {
  std::vector<Term> terms;  // each of one chunk, a chunk's together
  for (const Term& term : code.row(worker).terms()) {
    for (int c = 0; c < term.count; ++c) {
      terms.push_back({ChunkId{term.chunk.value + c}, term.weight, term.part, term.segment});
    }
  }
  std::ranges::stable_sort(terms, {}, [](const Term& term) { return term.chunk.value; });
  std::vector<float> message(code.shape.message_length(length), 0.0F);
  std::vector<float> gradient(padded(code, length));
  for (std::size_t t = 0; t < terms.size(); ++t) {
    if (t == 0 || terms[t].chunk != terms[t - 1].chunk) {
      std::ranges::fill(gradient, 0.0F);
      add_gradient(terms[t].chunk, std::span<float>(gradient).first(length));
    }
    add_term(terms[t], code.shape, gradient, message);
  }
  return message;
}

std::vector<float> decode(const GradientCode& code,
                          const WorkerSet& answered,
                          std::span<const std::vector<float>> messages,
                          std::size_t length) {
  const std::optional<Combination> combination = code.decode(answered);
  PACELINE_CHECK(combination.has_value());
  std::vector<float> gradient(padded(code, length));
  apply(code, *combination, messages, gradient);
  gradient.resize(length);
  return gradient;
}

}  // namespace paceline
