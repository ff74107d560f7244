// Loads and decode delays as exact fractions: the table of section 6 of the specification of
// sequential gradient coding, whose M-SGC and SR-SGC rows with n = 256 are also in the published
// program (Krishnan, Ebrahimi, Khisti, ICLR 2023).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "paceline/scheme.hpp"

namespace paceline {
namespace {

struct Fraction {
  int over, under;

  double value() const { return static_cast<double>(over) / under; }
};

struct LoadRow {
  int n, B, W, lambda, delay;
  Fraction gc;
  int s;
  Fraction sr_sgc, m_sgc;
};

const std::vector<LoadRow> kTable = {
    {4, 1, 2, 1, 1, {1, 2}, 1, {1, 2}, {1, 3}},
    {4, 1, 3, 1, 2, {1, 2}, 1, {1, 2}, {3, 10}},
    {4, 2, 3, 2, 3, {3, 4}, 1, {1, 2}, {3, 8}},
    {4, 2, 3, 3, 3, {1, 1}, 2, {3, 4}, {2, 5}},
    {4, 2, 3, 4, 3, {1, 1}, 2, {3, 4}, {1, 2}},
    {6, 1, 2, 2, 1, {1, 2}, 1, {1, 3}, {1, 4}},
    {8, 2, 5, 3, 5, {1, 2}, 1, {1, 4}, {1, 6}},
    {12, 3, 4, 5, 5, {1, 2}, 3, {1, 3}, {1, 7}},
    {20, 1, 2, 4, 1, {1, 4}, 2, {3, 20}, {1, 12}},
    {20, 2, 3, 4, 3, {1, 4}, 2, {3, 20}, {1, 12}},
    {20, 2, 3, 19, 3, {1, 1}, 10, {11, 20}, {2, 21}},
    {20, 2, 3, 20, 3, {1, 1}, 10, {11, 20}, {1, 10}},
    {20, 3, 7, 8, 8, {9, 20}, 3, {1, 5}, {27, 380}},
    {256, 1, 2, 9, 1, {5, 128}, 5, {3, 128}, {5, 704}},
    {256, 1, 2, 27, 1, {7, 64}, 14, {15, 256}, {7, 928}},
    {256, 1, 2, 31, 1, {1, 8}, 16, {17, 256}, {1, 132}},
    {256, 1, 2, 255, 1, {1, 1}, 128, {129, 256}, {2, 257}},
    {256, 1, 2, 256, 1, {1, 1}, 128, {129, 256}, {1, 128}},
    {256, 2, 3, 23, 3, {3, 32}, 12, {13, 256}, {3, 400}},
    {256, 1, 3, 27, 2, {7, 64}, 9, {5, 128}, {7, 1216}},
    {256, 2, 5, 15, 5, {1, 16}, 5, {3, 128}, {1, 176}},
    {256, 1, 2, 6, 1, {7, 256}, 3, {1, 64}, {7, 1024}},
};

SchemeInfo info_of(const std::string& text, int workers) {
  auto scheme = make_scheme(text, {.workers = workers, .keep_promise = false});
  if (!scheme) {
    ADD_FAILURE() << scheme.error().message;
    return {};
  }
  return (*scheme)->info();
}

std::string bursts(const LoadRow& row) {
  return "B=" + std::to_string(row.B) + ",W=" + std::to_string(row.W) +
         ",lambda=" + std::to_string(row.lambda);
}

// mds has the sizes of the cyclic code, is quick to build, and costs twice as much per message.
constexpr double kPasses = 2;

TEST(SchemeLoad, OfGcIsThatOfTheTable) {
  for (const LoadRow& row : kTable) {
    const int s = std::min(row.lambda, row.n - 1);
    const SchemeInfo info = info_of("gc:code=mds,s=" + std::to_string(s), row.n);
    const double passes = s == row.n - 1 ? 1 : kPasses;
    EXPECT_NEAR(info.load, row.gc.value() * passes, 1e-12);
    EXPECT_EQ(info.decode_delay, 0);
  }
}

TEST(SchemeLoad, OfSrSgcIsThatOfTheTable) {
  for (const LoadRow& row : kTable) {
    const SchemeInfo info = info_of("sr-sgc:code=mds," + bursts(row), row.n);
    EXPECT_NEAR(info.load, row.sr_sgc.value() * kPasses, 1e-12);
    EXPECT_NEAR(info.load, (row.s + 1.0) / row.n * kPasses, 1e-12);
    EXPECT_EQ(info.decode_delay, row.B);
  }
}

TEST(SchemeLoad, OfMSgcIsThatOfTheTable) {
  for (const LoadRow& row : kTable) {
    if (row.n == 256 && row.lambda > 31 && row.lambda < 255) continue;
    const SchemeInfo info = info_of("m-sgc:code=cyclic," + bursts(row), row.n);
    EXPECT_NEAR(info.load, row.m_sgc.value(), 1e-12);
    EXPECT_EQ(info.decode_delay, row.delay);
    EXPECT_EQ(info.messages_per_round, row.delay + 1);
  }
}

TEST(SchemeLoad, OfRepetitionIsOneGroupsShare) {
  EXPECT_DOUBLE_EQ(info_of("gc:s=2,code=repetition", 12).load, 1.0 / 4);
  EXPECT_DOUBLE_EQ(info_of("gc:s=2,code=repetition", 13).load, 1.0 / 4);
  EXPECT_DOUBLE_EQ(info_of("gc:groups=5", 13).load, 1.0 / 5);
  EXPECT_DOUBLE_EQ(info_of("sr-sgc:B=2,W=3,lambda=4,code=repetition", 12).load, 1.0 / 4);
  // Groups of lambda+1 cost what the cyclic code costs; uneven ones are balanced anew: with
  // c = 1/2 a group has 1 / (7*2*c + 1) = 1/8 of the data and a piece half of that.
  EXPECT_NEAR(info_of("m-sgc:B=1,W=3,lambda=1,code=repetition", 4).load, 3.0 / 10, 1e-12);
  EXPECT_NEAR(info_of("m-sgc:B=1,W=3,lambda=2,code=repetition", 7).load, 3.0 / 16, 1e-12);
}

TEST(SchemeLoad, CountsBothBackwardPassesOfComplexWeights) {
  // c = 2 * 3/8: a group has 1 / (8*c + 1) = 1/7 of the data, a piece 3/28.
  const SchemeInfo info = info_of("m-sgc:B=1,W=2,lambda=2,code=mds", 8);
  EXPECT_NEAR(info.load, 2 * 3.0 / 28, 1e-12);
  EXPECT_EQ(info.shape.parts, 2);
}

TEST(SchemeLoad, UncodedIsOneNth) {
  EXPECT_DOUBLE_EQ(info_of("uncoded", 7).load, 1.0 / 7);
  EXPECT_DOUBLE_EQ(info_of("uncoded", 1).load, 1);
  EXPECT_DOUBLE_EQ(info_of("uncoded:bundle=4", 8).load, 1.0 / 2);
}

}  // namespace
}  // namespace paceline
