// Codes on real numbers: random float32 chunk gradients are encoded, stragglers' messages are
// poisoned, and the decoded gradient is compared with the plain sum.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>

#include "codes/code_test_support.hpp"
#include "paceline/apply.hpp"
#include "paceline/code_catalog.hpp"
#include "paceline/coded_loop.hpp"
#include "paceline/kernels.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

using Vector = std::vector<float>;

std::span<const float> piece(const Vector& whole, int parts, int index) {
  if (index == kWhole) return whole;
  const std::size_t length = whole.size() / static_cast<std::size_t>(parts);
  return std::span(whole).subspan(static_cast<std::size_t>(index) * length, length);
}

std::span<float> piece(Vector& whole, int parts, int index) {
  if (index == kWhole) return whole;
  const std::size_t length = whole.size() / static_cast<std::size_t>(parts);
  return std::span(whole).subspan(static_cast<std::size_t>(index) * length, length);
}

/// The message of `row`: one weighted sum per segment. The weights are rounded to float32, as they
/// are when they weight a network's losses.
Vector encode(const Row& row, const MessageShape& shape, const std::vector<Vector>& chunks) {
  const int parts = shape.parts;
  Vector message(shape.message_length(chunks.front().size()), 0.0F);
  for (int segment = parts == 1 ? kWhole : 0; segment < (parts == 1 ? 0 : shape.pieces());
       ++segment) {
    std::vector<WeightedMessage> sum;
    for (const Term& term : row.terms()) {
      if (term.segment != segment) continue;
      sum.push_back({piece(chunks[term.chunk.index()], parts, term.part),
                     static_cast<double>(static_cast<float>(term.weight))});
    }
    weighted_sum(sum, piece(message, shape.pieces(), segment));
  }
  return message;
}

double norm(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

void expect_decoded_within_bound(const GradientCode& code,
                                 int length,
                                 std::uint64_t seed,
                                 MessageType type = MessageType::kFloat32) {
  const MessageShape shape = code.shape;
  // An odd length is padded with a zero where the code cuts gradients into two parts.
  const int padded = (length + code.shape.parts - 1) / code.shape.parts * code.shape.parts;
  RandomStream random(seed, "payload");
  std::vector<Vector> chunks(static_cast<std::size_t>(code.chunks));
  double total = 0;
  for (Vector& chunk : chunks) {
    chunk.assign(static_cast<std::size_t>(padded), 0.0F);
    const double scale = std::exp(random.normal());
    for (int i = 0; i < length; ++i) {
      chunk[static_cast<std::size_t>(i)] = static_cast<float>(scale * random.normal());
    }
    total += norm(chunk);
  }
  std::vector<double> plain(static_cast<std::size_t>(padded), 0.0);
  for (const Vector& chunk : chunks) add_scaled(1, chunk, plain);

  const int n = code.workers();
  int decoded = 0;
  for (int trial = 0; trial < 30; ++trial) {
    WorkerSet answered = WorkerSet::all(n);
    const auto order = random.permutation(n);
    const auto stragglers =
        static_cast<int>(random.below(static_cast<std::uint64_t>(code.tolerance) + 1));
    for (int i = 0; i < stragglers; ++i) {
      answered.erase(WorkerId{order[static_cast<std::size_t>(i)]});
    }
    const auto combination = code.decode(answered);
    if (!combination) continue;
    ++decoded;
    std::vector<Vector> messages;
    for (int i = 0; i < n; ++i) {
      messages.push_back(answered.contains(WorkerId{i})
                             ? encode(code.rows[WorkerId{i}.index()], shape, chunks)
                             : Vector(shape.message_length(static_cast<std::size_t>(length)),
                                      std::numeric_limits<float>::quiet_NaN()));
      round_message(type, messages.back());
    }
    Vector gradient(plain.size(), 1e30F);
    apply(code, *combination, messages, gradient);
    ASSERT_TRUE(all_finite(gradient)) << "a straggler's buffer was read";
    double error = 0;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      error += std::pow(static_cast<double>(gradient[i]) - plain[i], 2);
    }
    const double bound =
        decode_error_bound(combination->amplification, combination->residual, code.chunks, type);
    ASSERT_LE(std::sqrt(error), bound * total)
        << code.name << " n " << n << " s " << code.tolerance << " trial " << trial;
    if (padded > length) {
      ASSERT_LE(std::abs(gradient.back()), bound * total) << "the padding";
    }
  }
  EXPECT_GE(decoded, 20) << code.name << " n " << n << " s " << code.tolerance;
}

class Payload : public ::testing::TestWithParam<const char*> {};

TEST_P(Payload, IsDecodedWithinTheBound) {
  std::uint64_t seed = 1;
  for (const auto& [n, s] : {std::pair{1, 0}, {4, 1}, {5, 2}, {6, 5}, {7, 3}, {10, 3}, {12, 4}}) {
    for (const int length : {1, 2, 31, 64}) {
      const auto code = make_code({.name = GetParam(), .workers = n, .stragglers = s}).value();
      expect_decoded_within_bound(code, length, seed++);
    }
  }
}

TEST_P(Payload, IsDecodedWithinTheBoundByLargeCodesWithoutLimit) {
  const auto code =
      make_code({.name = GetParam(), .workers = 64, .stragglers = 8, .keep_promise = false})
          .value();
  for (const MessageType type :
       {MessageType::kFloat32, MessageType::kFloat16, MessageType::kBfloat16}) {
    expect_decoded_within_bound(code, 127, 99, type);
  }
}

TEST_P(Payload, Of16BitsIsDecodedWithinTheirBound) {
  std::uint64_t seed = 1;
  for (const MessageType type : {MessageType::kFloat16, MessageType::kBfloat16}) {
    for (const auto& [n, s] : {std::pair{4, 1}, {7, 3}, {12, 4}}) {
      for (const int length : {1, 31, 64}) {
        const auto code =
            make_code({.name = GetParam(), .workers = n, .stragglers = s, .keep_promise = false})
                .value();
        expect_decoded_within_bound(code, length, seed++, type);
      }
    }
  }
}

TEST(ShortPayload, IsDecodedWithinTheBound) {
  std::uint64_t seed = 1;
  for (const auto& [n, s, m] :
       {std::tuple{5, 1, 1}, {5, 1, 2}, {8, 2, 3}, {12, 0, 4}, {16, 2, 2}}) {
    for (const int length : {1, 2, 31, 64}) {
      const auto code =
          make_code("short-messages:s=" + std::to_string(s) + ",m=" + std::to_string(m),
                    CodeContext{.workers = n})
              .value();
      expect_decoded_within_bound(code, length, seed++);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Codes,
                         Payload,
                         ::testing::Values("repetition", "cyclic", "mds"),
                         [](const auto& code) { return std::string(code.param); });

// Where messages lie elsewhere the sums are the same; of float64, the same but for rounding.
TEST(Payload, MessagesAreReadWhereTheyLie) {
  for (const char* text : {"cyclic:s=2", "mds:s=2"}) {
    const GradientCode code = make_code(text, CodeContext{.workers = 6}).value();
    const auto length = static_cast<std::size_t>(4 * code.shape.parts);
    const std::size_t message_length = code.shape.message_length(length);
    RandomStream random(3, "where they lie");
    std::vector<Vector> messages(6, Vector(message_length));
    std::vector<std::vector<double>> wide(6, std::vector<double>(message_length));
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < message_length; ++j) {
        wide[i][j] = messages[i][j] = static_cast<float>(random.normal());
      }
    }
    WorkerSet answered = WorkerSet::all(6);
    answered.erase(WorkerId{1});
    answered.erase(WorkerId{4});
    const Combination combination = code.decode(answered).value();
    std::vector<std::span<const float>> spans(6);
    std::vector<std::span<const double>> wide_spans(6);
    answered.for_each([&](WorkerId worker) {
      spans[worker.index()] = messages[worker.index()];
      wide_spans[worker.index()] = wide[worker.index()];
    });
    Vector expected(length);
    Vector decoded(length);
    std::vector<double> wide_decoded(length);
    apply(code, combination, messages, expected);
    apply(code, combination, spans, decoded);
    apply(code, combination, wide_spans, wide_decoded);
    EXPECT_EQ(decoded, expected);
    for (std::size_t j = 0; j < length; ++j) {
      EXPECT_FLOAT_EQ(static_cast<float>(wide_decoded[j]), expected[j]);
    }
  }
}

TEST(CodedLoop, EncodesAndDecodesWithEveryKindOfCode) {
  for (const auto& [text, n] : {std::pair<std::string, int>{"repetition:s=1", 5},
                                {"cyclic:s=2", 7},
                                {"mds:s=2", 7},
                                {"short-messages:s=1,m=3", 6},
                                {"short-messages:s=1,m=2,nodes=chebyshev", 6},
                                {"tree:s=1,depth=2", 12},
                                {"graph:graph=complete,r=5,s=1", 15}}) {
    const auto made = make_code(text, {.workers = n});
    ASSERT_TRUE(made) << made.error().message;
    const GradientCode& code = *made;
    constexpr std::size_t kLength = 11;  // no multiple of the parts
    RandomStream random(1, text);
    std::vector<Vector> gradients(static_cast<std::size_t>(code.chunks), Vector(kLength));
    Vector wanted(kLength, 0.0F);
    for (Vector& gradient : gradients) {
      for (std::size_t i = 0; i < kLength; ++i) {
        gradient[i] = static_cast<float>(random.normal());
        wanted[i] += gradient[i];
      }
    }
    std::vector<Vector> messages;
    for (int i = 0; i < n; ++i) {
      std::vector<int> asked(gradients.size(), 0);
      messages.push_back(
          encode(code, WorkerId{i}, kLength, [&](ChunkId chunk, std::span<float> sum) {
            EXPECT_EQ(++asked[chunk.index()], 1) << "once per chunk";
            for (std::size_t j = 0; j < kLength; ++j) sum[j] += gradients[chunk.index()][j];
          }));
      EXPECT_EQ(messages.back().size(), code.shape.message_length(kLength));
    }
    for (int straggler = 0; straggler < n; ++straggler) {
      std::vector<Vector> came = messages;
      came[static_cast<std::size_t>(straggler)].clear();
      const WorkerSet answered = testing::all_but(n, {straggler});
      const Vector decoded = decode(code, answered, came, kLength);
      ASSERT_EQ(decoded.size(), kLength);
      for (std::size_t i = 0; i < kLength; ++i) {
        EXPECT_NEAR(decoded[i], wanted[i], 2e-4) << text << " without " << straggler;
      }
    }
    EXPECT_THROW(static_cast<void>(decode(code, WorkerSet(n), messages, kLength)),
                 ContractViolation);
  }
}

}  // namespace
}  // namespace paceline
