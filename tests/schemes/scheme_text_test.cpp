// Texts that name schemes: what is accepted, and what a wrong one is answered.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "paceline/scheme.hpp"

namespace paceline {
namespace {

std::string error_of(const std::string& text, int workers = 16) {
  const auto scheme = make_scheme(text, {.workers = workers});
  return scheme ? "" : scheme.error().message;
}

std::string label_of(const std::string& text,
                     int workers = 16,
                     CloseRule rule = CloseRule::kDecodable) {
  const auto scheme = make_scheme(text, {.workers = workers, .rule = rule});
  return scheme ? (*scheme)->info().label() : scheme.error().message;
}

void expect_error(const std::string& text, const std::vector<std::string>& parts) {
  const std::string error = error_of(text);
  for (const std::string& part : parts) {
    EXPECT_NE(error.find(part), std::string::npos) << text << " -> '" << error << "'";
  }
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

TEST(SchemeText, LabelsAreCanonical) {
  EXPECT_EQ(label_of("uncoded"), "uncoded");
  EXPECT_EQ(label_of("gc:code=repetition,s=3"), "gc:s=3,code=repetition");
  EXPECT_EQ(label_of("gc:groups=4"), "gc:groups=4");
  EXPECT_EQ(label_of("gc:r=4,code=graph,s=3"), "gc:s=3,code=graph,r=4");
  EXPECT_EQ(label_of("gc:residual=0.1,code=biplane"), "gc:code=biplane,residual=0.1");
  EXPECT_EQ(label_of("sr-sgc:lambda=6,W=2,B=1,code=repetition"),
            "sr-sgc:B=1,W=2,lambda=6,code=repetition");
  EXPECT_EQ(label_of("m-sgc:B=1,W=2,lambda=16"), "m-sgc:B=1,W=2,lambda=16");
  EXPECT_EQ(label_of("uncoded:bundle=4"), "uncoded:bundle=4");
  EXPECT_EQ(label_of("uncoded:bundle=1"), "uncoded");
  EXPECT_EQ(label_of("gc:s=1,bundle=2,code=mds"), "gc:s=1,code=mds,bundle=2");
}

TEST(SchemeText, TheCodeIsCyclicForPublishedNumbersAndElseTheBest) {
  EXPECT_EQ(label_of("gc:s=3", 16, CloseRule::kPublished), "gc:s=3,code=cyclic");
  EXPECT_EQ(label_of("gc:s=3"), "gc:s=3,code=repetition");
}

TEST(SchemeText, WrongNamesNameTheNearest) {
  expect_error("mm-sgc:B=1,W=2,lambda=3", {"unknown scheme", "'mm-sgc'", "'m-sgc'"});
  expect_error("gc:s=3,cod=cyclic", {"unknown parameter", "'cod'", "'code'"});
  expect_error("gc:s=3,code=cyclik", {"'cyclik'", "'cyclic'"});
  expect_error("uncoded:s=1", {"unknown parameter", "'s'"});
  expect_error("m-sgc:B=1,W=2,lamda=3", {"lambda"});
}

TEST(SchemeText, MalformedTextsSayWhatIsExpected) {
  expect_error("", {"no name"});
  expect_error(":s=3", {"no name"});
  expect_error("gc:s", {"'s'", "key=value"});
  expect_error("gc:s=", {"key=value"});
  expect_error("gc:=3", {"key=value"});
  expect_error("gc:s=3,s=4", {"twice"});
  expect_error("gc:s=three", {"s=three"});
  expect_error("gc:s=3.5", {"s=3.5"});
}

TEST(SchemeText, ValuesOutOfRangeNameTheRange) {
  expect_error("gc:s=16", {"s=16", "0 <= s <= 15"});
  expect_error("gc:s=-1", {"s=-1", "0 <= s <= 15"});
  expect_error("gc", {"s=", "groups=", "15", "16"});
  expect_error("gc:groups=0", {"groups=0", "1 <= groups <= 16"});
  expect_error("gc:groups=17", {"1 <= groups <= 16"});
  expect_error("gc:groups=4,s=3", {"not both"});
  expect_error("gc:groups=4,code=cyclic", {"code=repetition", "code=cyclic"});
  expect_error("m-sgc:B=1,W=2,lambda=17", {"lambda=17", "0 <= lambda <= 16"});
  expect_error("m-sgc:W=2,lambda=3", {"B="});
  expect_error("m-sgc:B=1,W=1,lambda=3", {"W=1"});
  expect_error("sr-sgc:B=0,W=2,lambda=3", {"B=0"});
  EXPECT_NE(error_of("uncoded", 0), "");
}

TEST(SchemeText, BurstsMustFitTheirWindow) {
  expect_error("m-sgc:B=2,W=2,lambda=3", {"B=2, W=2: B must be less than W", "B=1", "W=3"});
  expect_error("sr-sgc:B=2,W=4,lambda=3", {"B=2, W=4: B must divide W-1", "W=3 or 5"});
  expect_error("sr-sgc:B=3,W=6,lambda=3", {"W=7"});
  expect_error("sr-sgc:B=3,W=5,lambda=3", {"W=4"});
  expect_error("sr-sgc:B=3,W=2,lambda=3", {"W=4"});
  EXPECT_NE(error_of("sr-sgc:B=1,W=2,lambda=1", 1).find("lambda=0"), std::string::npos);
}

TEST(SchemeText, BundlesMustDivideTheWorkers) {
  expect_error("uncoded:bundle=3", {"bundle=3", "16 workers", "nearest that does is 2"});
  expect_error("uncoded:bundle=7", {"nearest that does is 8"});
  expect_error("uncoded:bundle=0", {"bundle=0"});
  expect_error("uncoded:bundle=17", {"bundle=17"});
  expect_error("gc:s=8,bundle=2", {"s=8", "0 <= s <= 7"});  // 8 workers each
}

TEST(SchemeText, ListsSplitAtCommasBetweenSchemes) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(split_schemes("gc:s=2,code=cyclic,uncoded,m-sgc:B=1,W=2,lambda=4"),
            (Texts{"gc:s=2,code=cyclic", "uncoded", "m-sgc:B=1,W=2,lambda=4"}));
  EXPECT_EQ(split_schemes("uncoded"), (Texts{"uncoded"}));
  EXPECT_EQ(split_schemes("gc:s=1, gc:s=2"), (Texts{"gc:s=1", "gc:s=2"}));
  EXPECT_EQ(split_schemes("s=1,gc:s=2"), (Texts{"s=1", "gc:s=2"}));
  EXPECT_EQ(split_schemes("gc:s=1,,uncoded"), (Texts{"gc:s=1", "", "uncoded"}));
  EXPECT_EQ(split_schemes(""), (Texts{""}));
}

TEST(SchemeCatalog, EveryExampleIsAccepted) {
  EXPECT_GE(scheme_catalog().size(), 4U);
  for (const SchemeDescription& scheme : scheme_catalog()) {
    const auto made = make_scheme(scheme.example, {.workers = 16});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ((*made)->info().name, scheme.name);
    EXPECT_FALSE(scheme.summary.empty());
    EXPECT_FALSE(scheme.load.empty());
    EXPECT_FALSE(scheme.source.empty());
    for (const SchemeParameter& parameter : scheme.parameters) {
      EXPECT_FALSE(parameter.allowed.empty()) << scheme.name << " " << parameter.name;
      EXPECT_FALSE(parameter.meaning.empty()) << scheme.name << " " << parameter.name;
    }
  }
}

}  // namespace
}  // namespace paceline
