// Which name was meant.
#include "paceline/suggest.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace paceline {
namespace {

const std::vector<std::string> kSchemes = {"uncoded", "gc", "sr-sgc", "m-sgc", "relay"};

TEST(NearestName, FindsTheNameWithATypo) {
  EXPECT_EQ(nearest_name("relai", kSchemes), "relay");
  EXPECT_EQ(nearest_name("relya", kSchemes), "relay");
  EXPECT_EQ(nearest_name("uncodet", kSchemes), "uncoded");
  EXPECT_EQ(nearest_name("msgc", kSchemes), "m-sgc");
  EXPECT_EQ(nearest_name("srsgc", kSchemes), "sr-sgc");
  EXPECT_EQ(nearest_name("encoded", kSchemes), "uncoded");
}

TEST(NearestName, DoesNotCareAboutCase) {
  const std::vector<std::string> keys = {"B", "W", "lambda"};
  EXPECT_EQ(nearest_name("b", keys), "B");
  EXPECT_EQ(nearest_name("Lambda", keys), "lambda");
  EXPECT_EQ(nearest_name("GC", kSchemes), "gc");
}

TEST(NearestName, SaysNothingWhereNoneIsNear) {
  EXPECT_EQ(nearest_name("backpropagation", kSchemes), "");
  EXPECT_EQ(nearest_name("xyz", kSchemes), "");
  EXPECT_EQ(nearest_name("", kSchemes), "");
  EXPECT_EQ(nearest_name("gc", std::vector<std::string>{}), "");
  EXPECT_EQ(nearest_name("x", std::vector<std::string>{"B", "W"}), "");
}

TEST(NearestName, MoreThanHalfTheNameIsFar) {
  EXPECT_EQ(nearest_name("whenever", std::vector<std::string>{"eager"}), "");
  EXPECT_EQ(nearest_name("tree", std::vector<std::string>{"trxy"}), "trxy");
  EXPECT_EQ(nearest_name("tree", std::vector<std::string>{"txyz"}), "");
  EXPECT_EQ(nearest_name("s", std::vector<std::string>{"ss"}), "ss");
}

TEST(NearestName, TheFirstOfEquallyNearNamesWins) {
  EXPECT_EQ(nearest_name("cap", std::vector<std::string>{"cat", "can"}), "cat");
}

TEST(NearestName, AnExactNameIsItsOwnNearest) {
  for (const std::string& name : kSchemes) EXPECT_EQ(nearest_name(name, kSchemes), name);
}

TEST(UnknownName, OffersTheNearestNameOrAllOfThem) {
  EXPECT_EQ(unknown_name("scheme", "relai", kSchemes),
            "unknown scheme 'relai'; did you mean 'relay'?");
  EXPECT_EQ(unknown_name("scheme", "xyz", kSchemes),
            "unknown scheme 'xyz'; known: uncoded, gc, sr-sgc, m-sgc, relay");
}

}  // namespace
}  // namespace paceline
