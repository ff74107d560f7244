// What a message is made of, how it is named, and how messages combine into a gradient.
//
//     message  += weight * gradient(chunk)        (Term, at the worker)
//     gradient += weight * message                (Coefficient, at the master)
//
// Some codes work below a whole gradient. They cut its d numbers into P equal, contiguous parts and
// a message into segments of d/P numbers; then  message[segment] += weight * gradient(chunk)[part],
// and back the same way. A complex code has P = 2 and two segments (the halves of g as real and
// imaginary part), so no kernel needs complex arithmetic. A code with fewer segments than parts has
// short messages.
#pragma once

#include <compare>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "paceline/ids.hpp"

namespace paceline {

inline constexpr int kWhole = -1;  ///< the whole gradient, the whole message

/// How a gradient is cut, and how many of the pieces make a message.
struct MessageShape {
  int parts = 1;
  int segments = 0;  ///< 0: as many as parts

  int pieces() const { return segments > 0 ? segments : parts; }

  /// Numbers of a message, for gradients of `length` numbers.
  std::size_t message_length(std::size_t length) const {
    const auto p = static_cast<std::size_t>(parts);
    return (length + p - 1) / p * static_cast<std::size_t>(pieces());
  }

  bool operator==(const MessageShape&) const = default;
};

struct Term {
  ChunkId chunk;
  double weight = 1;
  int part = kWhole;
  int segment = kWhole;
  int count = 1;  ///< consecutive chunks that share the weight

  bool operator==(const Term&) const = default;
};

/// The terms of one message; immutable, and copies share them. An empty row asks for no gradient at
/// all.
class Row {
 public:
  Row() = default;

  explicit Row(std::vector<Term> terms)
      : terms_(std::make_shared<const std::vector<Term>>(std::move(terms))) {}

  std::span<const Term> terms() const {
    return terms_ ? std::span<const Term>(*terms_) : std::span<const Term>();
  }

 private:
  std::shared_ptr<const std::vector<Term>> terms_;
};

/// Names the message that `worker` made for entry `task` of its list in `round`.
struct MessageId {
  WorkerId worker;
  Round round;
  int task = 0;

  auto operator<=>(const MessageId&) const = default;
};

struct Coefficient {
  MessageId message;
  double weight = 1;
  int segment = kWhole;
  int part = kWhole;
};

/// Gradient of one job = sum of coefficients * messages.
struct Decoding {
  JobId job;
  std::vector<Coefficient> terms;
  double residual = 0;       ///< squared error |a G - 1|^2 / k of the coefficients; 0 is exact
  double amplification = 1;  ///< A(S) = max_j sum_i |a_i| |G_ij|: how much rounding is magnified
  bool complete = true;      ///< false: an instalment, added to the job's running sum
};

}  // namespace paceline
