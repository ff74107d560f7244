#include <gtest/gtest.h>

#include "support/fuzz_corpus.hpp"

namespace paceline {
namespace {

TEST(IdxCorpus, EveryInputGivesADataSetOrAnError) { EXPECT_GE(test::replay_corpus("idx"), 16); }

}  // namespace
}  // namespace paceline
