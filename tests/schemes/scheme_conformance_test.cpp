// The one list of schemes that go through the conformance suite, each with all close rules.
#include "support/scheme_conformance.hpp"

#include <gtest/gtest.h>

#include <cctype>

namespace paceline::test {
namespace {

std::vector<ConformanceCase> cases() {
  return {
      {"uncoded", 5},
      {"uncoded", 1},
      {"uncoded:bundle=3", 6},
      {"gc:s=2,code=repetition", 7},
      {"gc:s=2,code=cyclic", 7},
      {"gc:s=3,code=mds", 8},
      {"gc:s=0,code=cyclic", 4},
      {"gc:s=4", 5},
      {"gc:groups=3", 8},
      {"gc:s=1,code=cyclic,bundle=2", 8},
      {"gc:s=4,code=erasurehead,r=3", 9},
      {"gc:s=3,code=graph,r=3", 9},
      {"gc:s=3,code=projective-plane", 7},
      {"gc:code=expander,residual=0.1", 8},
      {"gc:s=2,code=soft-design,r=2,bundle=2", 8},
      {"gc:s=2,code=reed-solomon,chunks=12", 8},
      {"gc:s=1,code=short-messages,m=3", 7},
      {"gc:s=1,code=tree,inner=cyclic", 12},
      {"gc:s=1,code=tree,depth=3", 14},
      {"gc:s=2,code=tree,inner=mds", 20},
      {"partial:r=3", 7},
      {"partial:r=1", 1},
      {"partial:r=2,bundle=2", 8},
      {"partial:r=4,m=2", 7},
      {"partial:r=3,m=2,residual=0.2", 7},
      {"partial-gc:s=2,own=3,code=mds", 7},
      {"partial-gc:s=1,own=2,code=repetition,bundle=2", 8},
      {"nested:s=3", 8},
      {"nested:s=3,code=cyclic", 7},
      {"nested:s=4", 5},
      {"nested:s=2,code=mds,bundle=2", 8},
      {"clusters:clusters=3,s=1,candidates=2,code=cyclic", 9},
      {"clusters:clusters=2,s=2,candidates=2,code=mds", 8},
      {"clusters:clusters=2,s=1,bundle=2", 8},
      {"sr-sgc:B=1,W=2,lambda=4,code=cyclic", 5},
      {"sr-sgc:B=2,W=3,lambda=6,code=repetition", 6},
      {"sr-sgc:B=2,W=5,lambda=6,code=mds", 7},
      {"sr-sgc:B=3,W=4,lambda=7,code=repetition", 8},
      {"sr-sgc:B=1,W=2,lambda=0", 3},
      {"sr-sgc:B=1,W=2,lambda=2,code=cyclic,bundle=2", 8},
      {"m-sgc:B=1,W=2,lambda=1,code=cyclic", 5},
      {"m-sgc:B=2,W=3,lambda=2,code=repetition", 6},
      {"m-sgc:B=2,W=4,lambda=3,code=mds", 7},
      {"m-sgc:B=1,W=3,lambda=6,code=cyclic", 7},
      {"m-sgc:B=2,W=3,lambda=0", 4},
      {"m-sgc:B=2,W=3,lambda=4", 4},
      {"m-sgc:B=1,W=4,lambda=1", 1},
      {"m-sgc:B=1,W=2,lambda=2,code=repetition,bundle=2", 8},
      {"gc:s=auto", 9},
      {"gc:s=auto,bundle=2", 8},
      {"relay:T=3,holders=2", 7},
      {"relay", 1},
      {"relay", 7},
      {"relay:T=0,r0=3,x=0", 8},
      {"relay:T=2,r0=1,x=0.5,split=1,speed=8", 6},
      {"relay:T=5,r0=2,x=0.7,due=3,bundle=2,accept_late=1", 8},
      {"relay:T=3,r0=1,x=0.9,bundle=4", 3},
  };
}

std::string test_name(const ::testing::TestParamInfo<ConformanceCase>& info) {
  std::string name = info.param.scheme + "_n" + std::to_string(info.param.workers);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

class SchemeConformance : public ::testing::TestWithParam<ConformanceCase> {
 protected:
  void with_every_close_rule(void (*check)(const ConformanceCase&)) {
    for (const CloseRule rule : {CloseRule::kDecodable, CloseRule::kModel, CloseRule::kPublished}) {
      SCOPED_TRACE(static_cast<int>(rule));
      ConformanceCase test = GetParam();
      test.rule = rule;
      check(test);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(AllSchemes, SchemeConformance, ::testing::ValuesIn(cases()), test_name);

TEST_P(SchemeConformance, InfoIsConsistent) { with_every_close_rule(expect_consistent_info); }

TEST_P(SchemeConformance, AllAnswersAlwaysClose) {
  with_every_close_rule(expect_all_answers_close);
}

TEST_P(SchemeConformance, EveryJobIsExactAndInTime) {
  with_every_close_rule(expect_every_job_exact_and_in_time);
}

TEST_P(SchemeConformance, MoreAnswersNeverHurt) {
  with_every_close_rule(expect_more_answers_never_hurt);
}

TEST_P(SchemeConformance, AskingChangesNothing) {
  with_every_close_rule(expect_asking_changes_nothing);
}

TEST_P(SchemeConformance, CopiesGoOnAlike) { with_every_close_rule(expect_copies_go_on_alike); }

TEST_P(SchemeConformance, RoundsWithoutMessagesAgree) {
  with_every_close_rule(expect_rounds_without_messages_agree);
}

TEST_P(SchemeConformance, RunsRepeat) { with_every_close_rule(expect_runs_repeat); }

}  // namespace
}  // namespace paceline::test
