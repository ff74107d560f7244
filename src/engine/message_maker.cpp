// How a row becomes weighted sums of sample gradients.
//
// A row with parts asks for  message[segment] += w * gradient(chunk)[part].  All terms of one
// (part, segment) pair form one weighted sum over samples. For complex weights the four pairs need
// only two different sums up to sign (the real and the imaginary weights), so sums are computed
// once and added wherever they are wanted. Codes with short messages would need many sums: theirs
// go chunk by chunk.
#include "paceline/message_maker.hpp"

#include <algorithm>

#include "core/pieces.hpp"
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

/// Visits samples for one message, a micro-batch at a time.
class Visits {
 public:
  Visits(GradientSource& source,
         std::span<const float> parameters,
         std::span<const int> batch,
         std::span<const int> chunk_borders,
         int micro_batch,
         const std::function<bool()>& cancelled,
         MadeMessage& out)
      : source_(source),
        parameters_(parameters),
        batch_(batch),
        borders_(chunk_borders),
        micro_batch_(static_cast<std::size_t>(micro_batch)),
        cancelled_(cancelled),
        out_(out) {}

  /// The chunks of the next call of add_to.
  void clear() {
    samples_.clear();
    weights_.clear();
  }

  void append(int chunk, int count, double weight) {
    const auto chunks = static_cast<int>(borders_.size()) - 1;
    PACELINE_CHECK(chunk >= 0 && count >= 1 && chunk + count <= chunks);
    const int begin = borders_[static_cast<std::size_t>(chunk)];
    const int end = borders_[static_cast<std::size_t>(chunk + count)];
    for (int i = begin; i < end; ++i) samples_.push_back(batch_[static_cast<std::size_t>(i)]);
    weights_.insert(
        weights_.end(), static_cast<std::size_t>(end - begin), static_cast<float>(weight));
  }

  /// into += the weighted sum. @param count_losses  each sample's loss counts once in a message
  /// @return false if it was cancelled
  bool add_to(std::span<float> into, bool count_losses) {
    for (std::size_t at = 0; at < samples_.size(); at += micro_batch_) {
      if (cancelled_ && cancelled_()) {
        out_.cancelled = true;
        return false;
      }
      const std::size_t count = std::min(micro_batch_, samples_.size() - at);
      const double loss = source_.add_gradient(parameters_,
                                               std::span<const int>(samples_).subspan(at, count),
                                               std::span<const float>(weights_).subspan(at, count),
                                               into);
      if (!count_losses) continue;
      out_.loss += loss;
      out_.samples += static_cast<int>(count);
    }
    return true;
  }

 private:
  GradientSource& source_;
  std::span<const float> parameters_;
  std::span<const int> batch_;
  std::span<const int> borders_;
  std::size_t micro_batch_;
  const std::function<bool()>& cancelled_;
  MadeMessage& out_;
  std::vector<int> samples_;
  std::vector<float> weights_;
};

/// A backward pass per weighted sum.
void make_by_sums(const std::vector<WeightedSum>& sums,
                  const MessageShape& shape,
                  std::size_t length,
                  Visits& visits,
                  MadeMessage& out) {
  std::vector<float> scratch;
  bool first = true;  // losses are counted once: all sums visit the same chunks, or nearly so
  for (const WeightedSum& sum : sums) {
    visits.clear();
    for (const Weighted& term : sum.terms) visits.append(term.chunk, term.count, term.weight);
    const Place& place = sum.places[0];
    const bool direct = sum.places.size() == 1 && place.part == kWhole && place.segment == kWhole;
    if (!direct) scratch.assign(padded_length(length, shape.parts), 0.0F);
    if (!visits.add_to(std::span<float>(direct ? out.values : scratch).first(length), first))
      return;
    first = false;
    if (direct) continue;
    for (const Place& to : sum.places) {
      add_range(to.sign,
                piece(std::span<const float>(scratch), to.part, shape.parts),
                piece(std::span<float>(out.values), to.segment, shape.pieces()));
    }
  }
}

/// One backward pass, chunk by chunk. @pre no term is whole
void make_by_chunks(const Row& row,
                    const MessageShape& shape,
                    std::size_t length,
                    Visits& visits,
                    MadeMessage& out) {
  std::vector<Term> terms(row.terms().begin(), row.terms().end());
  std::ranges::stable_sort(terms, {}, [](const Term& term) { return term.chunk; });
  std::vector<float> scratch;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const Term& term = terms[t];
    PACELINE_CHECK(term.count == 1);
    if (t == 0 || terms[t - 1].chunk != term.chunk) {
      scratch.assign(padded_length(length, shape.parts), 0.0F);
      visits.clear();
      visits.append(term.chunk.value, 1, 1);
      if (!visits.add_to(std::span<float>(scratch).first(length), true)) return;
    }
    add_range(static_cast<float>(term.weight),
              piece(std::span<const float>(scratch), term.part, shape.parts),
              piece(std::span<float>(out.values), term.segment, shape.pieces()));
  }
}

}  // namespace

std::size_t padded_length(std::size_t length, int parts) {
  PACELINE_CHECK(parts >= 1);
  return MessageShape{parts}.message_length(length);
}

void make_message(GradientSource& source,
                  const Row& row,
                  const MessageShape& shape,
                  std::span<const float> parameters,
                  std::span<const int> batch,
                  std::span<const int> chunk_borders,
                  int micro_batch,
                  const std::function<bool()>& cancelled,
                  MadeMessage& out) {
  PACELINE_CHECK(micro_batch >= 1 && parameters.size() == source.length());
  out.values.assign(shape.message_length(source.length()), 0.0F);
  out.loss = 0;
  out.samples = 0;
  out.cancelled = false;
  Visits visits(source, parameters, batch, chunk_borders, micro_batch, cancelled, out);
  if (shape.pieces() < shape.parts) {
    make_by_chunks(row, shape, source.length(), visits, out);
  } else {
    make_by_sums(weighted_sums(row), shape, source.length(), visits, out);
  }
}

}  // namespace paceline
