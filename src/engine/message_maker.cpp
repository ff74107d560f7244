// How a row becomes weighted sums of sample gradients.
//
// A row with parts asks for  message[segment] += w * gradient(chunk)[part].  All terms of one
// (part, segment) pair form one weighted sum over samples. For complex weights the four pairs need
// only two different sums up to sign (the real and the imaginary weights), so sums are computed
// once and added wherever they are wanted.
#include "paceline/message_maker.hpp"

#include <algorithm>

#include "engine/pieces.hpp"
#include "paceline/check.hpp"

namespace paceline {
namespace {

struct Weighted {
  int chunk = 0;
  int count = 1;
  double weight = 0;

  bool operator==(const Weighted&) const = default;
};

struct Place {  ///< where a weighted sum goes
  int part = kWhole;
  int segment = kWhole;
  float sign = 1;
};

struct WeightedSum {
  std::vector<Weighted> terms;
  std::vector<Place> places;
};

/// Sorts the row's terms into weighted sums; equal ones (up to sign) share an entry.
std::vector<WeightedSum> weighted_sums(const Row& row) {
  std::vector<WeightedSum> pairs;
  for (const Term& term : row.terms()) {
    auto found = std::find_if(pairs.begin(), pairs.end(), [&](const WeightedSum& sum) {
      return sum.places[0].part == term.part && sum.places[0].segment == term.segment;
    });
    if (found == pairs.end()) {
      pairs.push_back({{}, {{term.part, term.segment, 1.0F}}});
      found = std::prev(pairs.end());
    }
    if (term.weight != 0) found->terms.push_back({term.chunk.value, term.count, term.weight});
  }
  std::vector<WeightedSum> sums;
  for (WeightedSum& pair : pairs) {
    if (pair.terms.empty()) continue;
    std::vector<Weighted> negated = pair.terms;
    for (Weighted& term : negated) term.weight = -term.weight;
    const auto same = std::find_if(sums.begin(), sums.end(), [&](const WeightedSum& sum) {
      return sum.terms == pair.terms || sum.terms == negated;
    });
    if (same == sums.end()) {
      sums.push_back(std::move(pair));
    } else {
      pair.places[0].sign = same->terms == pair.terms ? 1.0F : -1.0F;
      same->places.push_back(pair.places[0]);
    }
  }
  return sums;
}

void add_range(float sign, std::span<const float> from, std::span<float> to) {
  PACELINE_CHECK(from.size() == to.size());
  for (std::size_t j = 0; j < from.size(); ++j) to[j] += sign * from[j];
}

}  // namespace

std::size_t padded_length(std::size_t length, int parts) {
  PACELINE_CHECK(parts >= 1);
  const auto p = static_cast<std::size_t>(parts);
  return (length + p - 1) / p * p;
}

void make_message(GradientSource& source,
                  const Row& row,
                  int parts,
                  std::span<const float> parameters,
                  std::span<const int> batch,
                  std::span<const int> chunk_borders,
                  int micro_batch,
                  const std::function<bool()>& cancelled,
                  MadeMessage& out) {
  PACELINE_CHECK(micro_batch >= 1 && parameters.size() == source.length());
  const std::size_t length = padded_length(source.length(), parts);
  out.values.assign(length, 0.0F);
  out.loss = 0;
  out.samples = 0;
  out.cancelled = false;

  const auto chunks = static_cast<int>(chunk_borders.size()) - 1;
  std::vector<int> samples;
  std::vector<float> weights;
  std::vector<float> scratch;
  bool first = true;  // losses are counted once: all sums visit the same chunks, or nearly so
  for (const WeightedSum& sum : weighted_sums(row)) {
    samples.clear();
    weights.clear();
    for (const Weighted& term : sum.terms) {
      const int past = term.chunk + term.count;
      PACELINE_CHECK(term.chunk >= 0 && term.count >= 1 && past <= chunks);
      const int begin = chunk_borders[static_cast<std::size_t>(term.chunk)];
      const int end = chunk_borders[static_cast<std::size_t>(past)];
      for (int i = begin; i < end; ++i) samples.push_back(batch[static_cast<std::size_t>(i)]);
      weights.insert(
          weights.end(), static_cast<std::size_t>(end - begin), static_cast<float>(term.weight));
    }
    const Place& place = sum.places[0];
    const bool direct = sum.places.size() == 1 && place.part == kWhole && place.segment == kWhole;
    if (!direct) scratch.assign(length, 0.0F);
    const std::span<float> into =
        std::span<float>(direct ? out.values : scratch).first(source.length());
    for (std::size_t at = 0; at < samples.size(); at += static_cast<std::size_t>(micro_batch)) {
      if (cancelled && cancelled()) {
        out.cancelled = true;
        return;
      }
      const std::size_t count =
          std::min(static_cast<std::size_t>(micro_batch), samples.size() - at);
      const double loss = source.add_gradient(parameters,
                                              std::span<const int>(samples).subspan(at, count),
                                              std::span<const float>(weights).subspan(at, count),
                                              into);
      if (first) {
        out.loss += loss;
        out.samples += static_cast<int>(count);
      }
    }
    first = false;
    if (direct) continue;
    for (const Place& to : sum.places) {
      add_range(to.sign,
                piece(std::span<const float>(scratch), to.part, parts),
                piece(std::span<float>(out.values), to.segment, parts));
    }
  }
}

}  // namespace paceline
