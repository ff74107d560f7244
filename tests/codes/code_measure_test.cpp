#include "paceline/code_measure.hpp"

#include "codes/approximate_test_support.hpp"

namespace paceline {
namespace {

using testing::code_of;

TEST(CodeMeasure, CountsAllSetsWhereTheyAreFew) {
  const CodeMeasurement measured = measure_code(code_of("erasurehead:r=3,s=4", 12), 4);
  EXPECT_EQ(measured.sets, 495);
  EXPECT_TRUE(measured.all_sets);
  EXPECT_EQ(measured.decoded, 1);
  EXPECT_NEAR(measured.mean_residual, 0.018182, 6e-7);  // spec of approximate codes, 1.6
  EXPECT_EQ(measured.worst_residual, 0.25);
  EXPECT_EQ(measured.attacked_residual, 0.25);
  EXPECT_EQ(measured.median_amplification, 1);
  EXPECT_TRUE(std::isnan(measured.decode_time.count()));
}

TEST(CodeMeasure, TimesEveryDecodingByTheClockItIsGiven) {
  // The k-th of six decodings lasts k^2 seconds.
  int asked = 0;
  Seconds now{0};
  const auto clock = [&] {
    const int decoding = ++asked / 2;
    if (asked % 2 == 0) now += Seconds(decoding * decoding);
    return now;
  };
  const CodeMeasurement measured = measure_code(code_of("repetition:s=1", 6), 1, 1, clock);
  EXPECT_EQ(measured.sets, 6);
  EXPECT_EQ(asked, 12);
  EXPECT_GE(measured.decode_time, Seconds(9));
  EXPECT_LE(measured.decode_time, Seconds(16));
}

TEST(CodeMeasure, FindsTheWorstSetAmongManyByAttack) {
  // Two groups of ten are killed by 20 of 100 stragglers, which no random set comes near.
  const CodeMeasurement measured = measure_code(code_of("erasurehead:r=10,s=20", 100), 20);
  EXPECT_FALSE(measured.all_sets);
  EXPECT_EQ(measured.sets, 300);
  EXPECT_LT(measured.worst_residual, 0.1 + 1e-12);
  EXPECT_NEAR(measured.attacked_residual, 0.2, 1e-12);
}

TEST(CodeMeasure, SeesTheRoundingOfEveryFormat) {
  for (const char* text : {"repetition:s=2", "mds:s=2", "graph:s=2", "projective-plane:s=2"}) {
    const int n =
        nearest_workers(std::string_view(text).substr(0, std::string_view(text).find(':')), 12, 2);
    const CodeMeasurement measured = measure_code(code_of(text, n), 2);
    EXPECT_LT(measured.error.float64, 1e-14) << text;
    EXPECT_GT(measured.error.float32, 1e-9) << text;
    EXPECT_LT(measured.error.float32, 1e-6 * measured.worst_amplification) << text;
    EXPECT_GT(measured.error.float16, 1e-5) << text;
    EXPECT_LT(measured.error.float16, 2e-3 * measured.worst_amplification) << text;
    EXPECT_GT(measured.error.bfloat16, 1e-4) << text;
    EXPECT_LT(measured.error.bfloat16, 2e-2 * measured.worst_amplification) << text;
  }
}

TEST(CodeMeasure, KnowsTheConditionOfAnIdentity) {
  EXPECT_NEAR(measure_code(code_of("repetition:s=0", 6), 0).condition, 1, 1e-12);
  // The Fano plane: singular values 3 and sqrt(2) of G (spec of approximate codes, 6).
  EXPECT_NEAR(
      measure_code(code_of("projective-plane:s=0", 7), 0).condition, 3 / std::sqrt(2.0), 1e-12);
}

TEST(MatrixMarket, HoldsGWithRealOrComplexEntries) {
  EXPECT_EQ(matrix_market(code_of("graph:graph=complete,r=2,s=1", 3)),
            "%%MatrixMarket matrix coordinate real general\n% code graph\n3 3 6\n"
            "1 1 1\n2 1 1\n1 2 1\n3 2 1\n2 3 1\n3 3 1\n");
  const std::string complex = matrix_market(code_of("mds:s=2", 5));
  EXPECT_EQ(complex.find("%%MatrixMarket matrix coordinate complex general\n% code mds\n5 5 15\n"),
            0U);
  // Spec of exact codes, 10: worker 0 has c_2 on chunk 0, the conjugate of c_0.
  EXPECT_NE(complex.find("\n1 1 0.3618033988"), std::string::npos);
}

TEST(MatrixMarket, HasAColumnPerChunkAndBlock) {
  const GradientCode code = code_of("short-messages:s=1,m=3", 6);
  const std::string text = matrix_market(code);
  EXPECT_EQ(text.find("%%MatrixMarket matrix coordinate complex general\n% code short-messages\n"
                      "6 18 72\n"),
            0U);
}

TEST(CodeMeasure, SeesWholeGradientsHoweverTheyAreCut) {
  for (const int m : {1, 2, 3, 5}) {
    const CodeMeasurement measured =
        measure_code(code_of("short-messages:s=1,m=" + std::to_string(m), 8), 1);
    EXPECT_LT(measured.error.float64, 1e-14) << m;
    EXPECT_LT(measured.error.float32, 1e-6) << m;
    EXPECT_GT(measured.error.bfloat16, 1e-4) << m;
  }
}

TEST(Drawing, ShowsWhoHoldsWhat) {
  EXPECT_EQ(drawing(code_of("short-messages:s=1,m=2", 4)), "xxx.\n.xxx\nx.xx\nxx.x\n");
  EXPECT_EQ(drawing(code_of("erasurehead:r=2,s=1", 4)), "1.\n1.\n.1\n.1\n");
  EXPECT_EQ(drawing(code_of("expander:graph=complete,r=2,s=1", 3)), ".xx\nx.x\nxx.\n");
}

}  // namespace
}  // namespace paceline
