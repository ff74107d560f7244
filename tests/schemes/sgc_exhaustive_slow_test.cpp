// The same walks as sgc_exhaustive_test.cpp over more workers: about a minute.
#include <gtest/gtest.h>

#include "schemes/sgc_walks.hpp"

namespace paceline {
namespace {

TEST(SgcExhaustiveSlow, SrSgcWithCyclicCodes) {
  EXPECT_GT(test::walk_sr_sgc("sr-sgc,code=cyclic", 3, 4), 5000);
  EXPECT_GT(test::walk_sr_sgc("sr-sgc,code=cyclic", 4, 4), 40000);
}

TEST(SgcExhaustiveSlow, SrSgcWithRepetition) {
  EXPECT_GT(test::walk_sr_sgc("sr-sgc,code=repetition", 3, 4), 4000);
  EXPECT_GT(test::walk_sr_sgc("sr-sgc,code=repetition", 4, 4), 30000);
}

TEST(SgcExhaustiveSlow, SrSgcOfFiveWorkers) {
  EXPECT_GT(test::walk_sr_sgc("sr-sgc,code=cyclic", 5, 3), 10000);
  EXPECT_GT(test::walk_sr_sgc("sr-sgc,code=repetition", 5, 3), 5000);
}

TEST(SgcExhaustiveSlow, MSgcWithCyclicCodes) {
  EXPECT_GT(test::walk_m_sgc("m-sgc,code=cyclic", 3, 4, 1), 19000);
  EXPECT_GT(test::walk_m_sgc("m-sgc,code=cyclic", 4, 4, 1), 250000);
}

TEST(SgcExhaustiveSlow, MSgcWithRepetition) {
  EXPECT_GT(test::walk_m_sgc("m-sgc,code=repetition", 3, 4, 1), 19000);
  EXPECT_GT(test::walk_m_sgc("m-sgc,code=repetition", 4, 4, 1), 250000);
}

TEST(SgcExhaustiveSlow, MSgcOfFiveWorkers) {
  EXPECT_GT(test::walk_m_sgc("m-sgc,code=cyclic", 5, 3, 1), 40000);
  EXPECT_GT(test::walk_m_sgc("m-sgc,code=repetition", 5, 3, 1), 40000);
}

TEST(SgcExhaustiveSlow, MSgcInALongRun) {
  EXPECT_GT(test::walk_m_sgc("m-sgc,code=cyclic", 3, 4, test::kEndless), 15000);
  EXPECT_GT(test::walk_m_sgc("m-sgc,code=repetition", 3, 4, test::kEndless), 15000);
}

}  // namespace
}  // namespace paceline
