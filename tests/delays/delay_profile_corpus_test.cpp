#include <gtest/gtest.h>

#include "support/fuzz_corpus.hpp"

namespace paceline {
namespace {

TEST(DelayProfileCorpus, EveryInputGivesAProfileOrAnError) {
  EXPECT_GE(test::replay_corpus("delay_profile"), 12);
}

}  // namespace
}  // namespace paceline
