// Messages against the definition: the gradient of every chunk on its own, in float64, padded, and
// message[segment] += weight * gradient[part] term by term.
#include "paceline/message_maker.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "engine/quadratic_source.hpp"
#include "paceline/check.hpp"

namespace paceline {
namespace {

using test::QuadraticSource;

constexpr int kSamples = 40;

/// Ten chunks of a batch of 30 of the 40 samples, in mixed order; chunks 3 and 7 are empty.
struct Job {
  explicit Job(std::size_t length, int code_parts = 1, int code_segments = 0)
      : source(length, kSamples), parts(code_parts), segments(code_segments), parameters(length) {
    RandomStream random(2, "job");
    for (float& p : parameters) p = static_cast<float>(random.normal());
    batch = random.permutation(kSamples);
    batch.resize(30);
  }

  MadeMessage make(const Row& row, int micro_batch = 1000) {
    MadeMessage made;
    make_message(source, row, {parts, segments}, parameters, batch, borders, micro_batch, {}, made);
    return made;
  }

  int chunk_samples(int chunk) const { return borders[chunk + 1] - borders[chunk]; }

  std::vector<double> chunk_gradient(int chunk) const {
    std::vector<double> gradient(padded_length(parameters.size(), parts), 0.0);
    for (int i = borders[chunk]; i < borders[chunk + 1]; ++i) {
      for (std::size_t j = 0; j < parameters.size(); ++j) {
        gradient[j] += static_cast<double>(parameters[j]) - source.target(batch[i], j);
      }
    }
    return gradient;
  }

  /// The message of `row` by its definition.
  std::vector<double> slow(const Row& row) const {
    const std::size_t length = padded_length(parameters.size(), parts);
    const std::size_t piece = length / static_cast<std::size_t>(parts);
    const auto pieces = static_cast<std::size_t>(segments > 0 ? segments : parts);
    std::vector<double> message(pieces * piece, 0.0);
    for (const Term& term : row.terms()) {
      for (int chunk = term.chunk.value; chunk < term.chunk.value + term.count; ++chunk) {
        const std::vector<double> gradient = chunk_gradient(chunk);
        const std::size_t size = term.part == kWhole ? length : piece;
        const std::size_t from = term.part == kWhole ? 0 : term.part * piece;
        const std::size_t to = term.segment == kWhole ? 0 : term.segment * piece;
        for (std::size_t j = 0; j < size; ++j) message[to + j] += term.weight * gradient[from + j];
      }
    }
    return message;
  }

  /// Sum of the losses of the samples of a chunk.
  double chunk_loss(int chunk) const {
    double loss = 0;
    for (int i = borders[chunk]; i < borders[chunk + 1]; ++i) {
      loss += source.sample_loss(parameters, batch[i]);
    }
    return loss;
  }

  QuadraticSource source;
  int parts;
  int segments;
  std::vector<float> parameters;
  std::vector<int> batch;
  std::vector<int> borders = {0, 4, 7, 12, 12, 15, 19, 22, 22, 27, 30};
};

void expect_near(const std::vector<float>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t j = 0; j < actual.size(); ++j) EXPECT_NEAR(actual[j], expected[j], 3e-5) << j;
}

/// The terms of a complex weight on the two halves of a gradient.
void append_complex(std::vector<Term>& terms, int chunk, double real, double imaginary) {
  terms.push_back({ChunkId{chunk}, real, 0, 0});
  terms.push_back({ChunkId{chunk}, -imaginary, 1, 0});
  terms.push_back({ChunkId{chunk}, imaginary, 0, 1});
  terms.push_back({ChunkId{chunk}, real, 1, 1});
}

TEST(PaddedLength, RoundsUpToAMultipleOfTheParts) {
  EXPECT_EQ(padded_length(7, 1), 7U);
  EXPECT_EQ(padded_length(7, 2), 8U);
  EXPECT_EQ(padded_length(8, 2), 8U);
  EXPECT_EQ(padded_length(0, 3), 0U);
  EXPECT_EQ(padded_length(1, 5), 5U);
}

TEST(MakeMessage, IsTheWeightedSumOfChunkGradients) {
  Job job(7);
  const Row row({{ChunkId{0}, 1.5}, {ChunkId{9}, -0.25}, {ChunkId{4}, 2}});
  const MadeMessage made = job.make(row);
  expect_near(made.values, job.slow(row));
  EXPECT_EQ(made.samples, job.chunk_samples(0) + job.chunk_samples(9) + job.chunk_samples(4));
  EXPECT_NEAR(made.loss, job.chunk_loss(0) + job.chunk_loss(9) + job.chunk_loss(4), 1e-9);
  EXPECT_FALSE(made.cancelled);
}

TEST(MakeMessage, ATermMaySpanConsecutiveChunks) {
  Job job(5);
  const Row row({{ChunkId{1}, 0.5, kWhole, kWhole, 4}, {ChunkId{6}, -1, kWhole, kWhole, 2}});
  const MadeMessage made = job.make(row);
  expect_near(made.values, job.slow(row));
  EXPECT_EQ(made.samples, 11 + 3);
  const Row all({{ChunkId{0}, 1, kWhole, kWhole, 10}});
  expect_near(job.make(all).values, job.slow(all));
}

TEST(MakeMessage, AChunkMayAppearTwice) {
  Job job(5);
  const Row row({{ChunkId{2}, 0.5}, {ChunkId{5}, 1}, {ChunkId{2}, 0.75}});
  expect_near(job.make(row).values, job.slow(row));
}

TEST(MakeMessage, EmptyChunksAddNothing) {
  Job job(5);
  const Row row({{ChunkId{3}, 2}, {ChunkId{1}, 1}, {ChunkId{7}, 1}});
  const MadeMessage made = job.make(row);
  expect_near(made.values, job.slow(row));
  EXPECT_EQ(made.samples, job.chunk_samples(1));
  const MadeMessage nothing = job.make(Row({{ChunkId{3}, 2}, {ChunkId{7}, 1}}));
  EXPECT_EQ(nothing.values, std::vector<float>(5, 0.0F));
  EXPECT_EQ(nothing.samples, 0);
  EXPECT_EQ(nothing.loss, 0);
}

TEST(MakeMessage, ChunksOfWeightZeroAreNotVisited) {
  Job job(5);
  const Row row({{ChunkId{0}, 0}, {ChunkId{1}, 1}, {ChunkId{2}, -0.0}});
  const MadeMessage made = job.make(row);
  expect_near(made.values, job.slow(row));
  EXPECT_EQ(made.samples, job.chunk_samples(1));
}

TEST(MakeMessage, AnEmptyRowIsAZeroMessageWithoutAPass) {
  Job job(5, 2);
  const MadeMessage made = job.make(Row());
  EXPECT_EQ(made.values, std::vector<float>(6, 0.0F));
  EXPECT_TRUE(job.source.call_sizes.empty());
}

TEST(MakeMessage, RealRowsCostOnePassPerMicroBatch) {
  Job job(5);
  const Row row({{ChunkId{0}, 1.5}, {ChunkId{5}, -0.25, kWhole, kWhole, 5}});  // 4 + 15 samples
  const MadeMessage whole = job.make(row);
  EXPECT_EQ(job.source.call_sizes, std::vector<int>{19});
  for (const int micro_batch : {1, 4, 8, 18, 19, 20}) {
    job.source.call_sizes.clear();
    const MadeMessage made = job.make(row, micro_batch);
    std::vector<int> expected(static_cast<std::size_t>(19 / micro_batch), micro_batch);
    if (19 % micro_batch != 0) expected.push_back(19 % micro_batch);
    EXPECT_EQ(job.source.call_sizes, expected);
    expect_near(made.values, job.slow(row));
    EXPECT_EQ(made.samples, whole.samples);
    EXPECT_NEAR(made.loss, whole.loss, 1e-9);
  }
}

TEST(MakeMessage, ComplexRowsCostTwoPasses) {
  for (const std::size_t length : {6U, 7U}) {  // 7: one number of padding
    Job job(length, 2);
    std::vector<Term> terms;
    append_complex(terms, 0, 0.8, 0.6);
    append_complex(terms, 4, -1.5, 0.25);
    append_complex(terms, 9, 0.5, -2);
    const Row row(terms);
    const MadeMessage made = job.make(row);
    expect_near(made.values, job.slow(row));
    EXPECT_EQ(job.source.call_sizes, (std::vector<int>{10, 10}));
    EXPECT_EQ(made.samples, 10) << "every sample counts once";
    EXPECT_NEAR(made.loss, job.chunk_loss(0) + job.chunk_loss(4) + job.chunk_loss(9), 1e-9);
  }
}

TEST(MakeMessage, ComplexRowsOfRealWeightsCostOnePass) {
  Job job(6, 2);
  std::vector<Term> terms;
  append_complex(terms, 0, 2, 0);
  append_complex(terms, 4, -1, 0);
  const Row row(terms);
  expect_near(job.make(row).values, job.slow(row));
  EXPECT_EQ(job.source.call_sizes, std::vector<int>{7});
}

TEST(MakeMessage, RealAndImaginaryWeightsThatAreEqualCostOnePass) {
  Job job(7, 2);
  std::vector<Term> terms;
  append_complex(terms, 0, 0.5, 0.5);
  append_complex(terms, 4, -2, -2);
  const Row row(terms);
  expect_near(job.make(row).values, job.slow(row));
  EXPECT_EQ(job.source.call_sizes, std::vector<int>{7});
}

TEST(MakeMessage, PartsAndSegmentsOfAnyNumberFollowTheDefinition) {
  for (const int parts : {2, 3, 5}) {
    for (const std::size_t length : {15U, 16U}) {
      Job job(length, parts);
      RandomStream random(static_cast<std::uint64_t>(parts), "terms");
      const auto below = [&](int bound) {
        return static_cast<int>(random.below(static_cast<std::uint64_t>(bound)));
      };
      std::vector<Term> terms;
      for (int i = 0; i < 20; ++i) {
        const int count = 1 + below(2);
        terms.push_back({ChunkId{below(9)}, random.normal(), below(parts), below(parts), count});
      }
      const Row row(terms);
      expect_near(job.make(row, 3).values, job.slow(row));
    }
  }
}

TEST(MakeMessage, ShortMessagesFollowTheDefinitionAndVisitEverySampleOnce) {
  for (const std::size_t length : {15U, 16U}) {
    Job job(length, 4, 2);
    RandomStream random(4, "terms");
    std::vector<Term> terms;
    for (const int chunk : {1, 3, 0, 8}) {
      for (int part = 0; part < 4; ++part) {
        for (int segment = 0; segment < 2; ++segment) {
          terms.push_back({ChunkId{chunk}, random.normal(), part, segment});
        }
      }
    }
    const Row row(terms);
    const MadeMessage made = job.make(row);
    expect_near(made.values, job.slow(row));
    EXPECT_EQ(made.values.size(), 8U);
    EXPECT_EQ(job.source.call_sizes, (std::vector<int>{4, 3, 5}));  // chunk 3 is empty
    EXPECT_EQ(made.samples, 12);
    EXPECT_NEAR(made.loss, job.chunk_loss(0) + job.chunk_loss(1) + job.chunk_loss(8), 1e-3);
  }
}

TEST(MakeMessage, WholeTermsAndPartsMayBeMixed) {
  Job job(6, 2);
  const Row row({{ChunkId{0}, 1.5}, {ChunkId{1}, 2, 0, 1}, {ChunkId{2}, -1}});
  expect_near(job.make(row).values, job.slow(row));
}

TEST(MakeMessage, WholeTermsOfACodeWithPartsLeaveThePaddingZero) {
  Job job(7, 2);
  const Row row({{ChunkId{0}, 1.5}});
  const MadeMessage made = job.make(row);
  expect_near(made.values, job.slow(row));
  EXPECT_EQ(made.values.back(), 0.0F);
}

TEST(MakeMessage, LooksAtCancellationBeforeEveryMicroBatch) {
  Job job(5);
  const Row row({{ChunkId{0}, 1, kWhole, kWhole, 10}});  // 30 samples
  for (int allowed = 0; allowed <= 4; ++allowed) {
    job.source.call_sizes.clear();
    int looks = 0;
    MadeMessage made;
    const auto cancelled = [&] { return ++looks > allowed; };
    make_message(job.source, row, {}, job.parameters, job.batch, job.borders, 10, cancelled, made);
    EXPECT_EQ(static_cast<int>(job.source.call_sizes.size()), std::min(allowed, 3));
    EXPECT_EQ(made.cancelled, allowed < 3);
    EXPECT_EQ(made.samples, 10 * std::min(allowed, 3));
    EXPECT_EQ(looks, std::min(allowed + 1, 3));
  }
}

TEST(MakeMessage, ReusesItsBuffer) {
  Job job(5);
  const Row row({{ChunkId{0}, 1}});
  MadeMessage made;
  made.values.assign(100, 7.0F);
  made.loss = 3;
  made.samples = 9;
  made.cancelled = true;
  const float* buffer = made.values.data();
  make_message(job.source, row, {}, job.parameters, job.batch, job.borders, 10, {}, made);
  EXPECT_EQ(made.values.data(), buffer);
  EXPECT_EQ(made.values, job.make(row).values);
  EXPECT_EQ(made.samples, 4);
  EXPECT_FALSE(made.cancelled);
}

TEST(MakeMessage, WrongArgumentsAreABugOfTheCaller) {
  Job job(5);
  const Row row({{ChunkId{0}, 1}});
  MadeMessage made;
  const std::vector<float> short_parameters(4);
  EXPECT_THROW(job.make(row, 0), ContractViolation);
  EXPECT_THROW(
      make_message(job.source, row, {}, short_parameters, job.batch, job.borders, 1, {}, made),
      ContractViolation);
  EXPECT_THROW(job.make(Row({{ChunkId{10}, 1}})), ContractViolation);
  EXPECT_THROW(job.make(Row({{ChunkId{-1}, 1}})), ContractViolation);
  EXPECT_THROW(job.make(Row({{ChunkId{8}, 1, kWhole, kWhole, 3}})), ContractViolation);
  Job halves(6, 2);
  EXPECT_THROW(halves.make(Row({{ChunkId{0}, 1, kWhole, 0}})), ContractViolation);
  EXPECT_THROW(static_cast<void>(padded_length(5, 0)), ContractViolation);
}

}  // namespace
}  // namespace paceline
