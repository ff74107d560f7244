// Rows share their terms; messages have an order.
#include "paceline/message.hpp"

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(Row, IsEmptyUnlessTermsAreGiven) {
  EXPECT_TRUE(Row().terms().empty());
  EXPECT_TRUE(Row(std::vector<Term>{}).terms().empty());
}

TEST(Row, CopiesShareTheirTerms) {
  const Row row({{ChunkId{3}, 0.5}, {ChunkId{1}, -2}});
  const Row copy = row;
  ASSERT_EQ(copy.terms().size(), 2U);
  EXPECT_EQ(copy.terms().data(), row.terms().data());
  EXPECT_EQ(copy.terms()[1], (Term{ChunkId{1}, -2}));
}

TEST(Term, IsTheWholeGradientOfOneChunkByDefault) {
  const Term term{ChunkId{4}};
  EXPECT_EQ(term.weight, 1);
  EXPECT_EQ(term.part, kWhole);
  EXPECT_EQ(term.segment, kWhole);
  EXPECT_EQ(term.count, 1);
}

TEST(MessageId, IsOrderedByWorkerThenRoundThenTask) {
  const MessageId id{WorkerId{1}, Round{2}, 3};
  EXPECT_LT(id, (MessageId{WorkerId{2}, Round{0}, 0}));
  EXPECT_LT(id, (MessageId{WorkerId{1}, Round{3}, 0}));
  EXPECT_LT(id, (MessageId{WorkerId{1}, Round{2}, 4}));
  EXPECT_EQ(id, (MessageId{WorkerId{1}, Round{2}, 3}));
}

}  // namespace
}  // namespace paceline
