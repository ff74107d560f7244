#include "paceline/progress.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <numeric>

#include "report/text_width.hpp"

namespace paceline {
namespace {

ProgressState state() {
  return {.scheme = "gc:s=2",
          .scheme_number = 2,
          .schemes = 4,
          .jobs_done = 30,
          .jobs = 120,
          .round = 31,
          .loss = {0.51234, 1.25, std::nan(""), 12.5},
          .elapsed = Seconds{15},
          .workers = 8,
          .stragglers = {1, 6}};
}

using Lines = std::vector<std::string>;

TEST(ProgressBlock, ShowsSchemeBarTimesLossesAndStragglers) {
  EXPECT_EQ(progress_block(state(), {.width = 60, .height = 24, .unicode = true}),
            (Lines{"gc:s=2   scheme 2 of 4",
                   "██████████▎░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  25 %  30/120 jobs",
                   "elapsed 15.0 s   left 45.0 s   500.0 ms/job",
                   "loss     0.5123       1.25          -       12.5",
                   "round 31: 2 of 8 workers straggle  ·█····█·"}));
}

TEST(ProgressBlock, IsPlainWhereTheLocaleIsNotUtf8) {
  EXPECT_EQ(progress_block(state(), {.width = 44, .height = 24, .unicode = false}),
            (Lines{"gc:s=2   scheme 2 of 4",
                   "[#####..................]  25 %  30/120 jobs",
                   "elapsed 15.0 s   left 45.0 s   500.0 ms/job",
                   "loss     0.5123       1.25          -",
                   "           12.5",
                   "round 31: 2 of 8 workers straggle  .X....X."}));
}

TEST(SearchProgress, ShowsWhatBarTimesAndTheBestSoFar) {
  const SearchState search{"m-sgc, fold 2 of 3", 0.25, "m-sgc:B=1,W=2, 0.7 s per job", Seconds{15}};
  EXPECT_EQ(progress_block(search, {.width = 40, .height = 24, .unicode = true}),
            (Lines{"m-sgc, fold 2 of 3",
                   "████████▌░░░░░░░░░░░░░░░░░░░░░░░░░  25 %",
                   "elapsed 15.0 s   left about 45.0 s",
                   "best so far: m-sgc:B=1,W=2, 0.7 s per jo"}));
  EXPECT_EQ(progress_line(search),
            "m-sgc, fold 2 of 3: 25 %, 15.0 s, about 45.0 s left, best so far: m-sgc:B=1,W=2, 0.7 "
            "s per job");
  EXPECT_EQ(progress_line(SearchState{"gc", 0.001, "", Seconds{1}}), "gc: 0 %, 1.0 s");
}

TEST(ProgressBlock, NeverIsWiderOrTallerThanTheTerminal) {
  ProgressState large = state();
  large.workers = 256;
  large.stragglers.resize(200);
  std::iota(large.stragglers.begin(), large.stragglers.end(), 3);
  large.loss.assign(40, 0.25);
  large.scheme = "a label that is longer than many a terminal is wide: m-sgc:B=1,W=2,lambda=27";
  for (int width = 1; width <= 120; ++width) {
    for (const bool unicode : {false, true}) {
      const Lines block = progress_block(large, {.width = width, .height = 7, .unicode = unicode});
      EXPECT_LE(block.size(), 6U);
      for (const std::string& line : block) EXPECT_LE(columns(line), width) << line;
    }
  }
}

TEST(ProgressBlock, NamesStragglersWhereThereIsNoRoomForAllWorkers) {
  ProgressState large = state();
  large.workers = 256;
  large.stragglers = {17, 90, 201};
  EXPECT_EQ(progress_block(large, {.width = 60, .height = 24, .unicode = true}).back(),
            "round 31: 3 of 256 workers straggle  17 90 201");
  EXPECT_EQ(progress_block(large, {.width = 48, .height = 24, .unicode = true}).back(),
            "round 31: 3 of 256 workers straggle  17 90 ...");
}

TEST(ProgressBlock, LetsNoLabelMoveTheCursor) {
  ProgressState evil = state();
  evil.scheme = "a\x1b[2J\nb";
  EXPECT_EQ(progress_block(evil, {}).front(), "a?[2J?b   scheme 2 of 4");
}

TEST(ProgressBlock, KnowsNoTimeLeftBeforeTheFirstJob) {
  ProgressState fresh = state();
  fresh.jobs_done = 0;
  EXPECT_FALSE(fresh.left().has_value());
  EXPECT_EQ(progress_block(fresh, {})[2], "elapsed 15.0 s");
}

TEST(ProgressLine, SaysItAllInOneLine) {
  EXPECT_EQ(progress_line(state()),
            "gc:s=2: 30/120 jobs, 15.0 s, 45.0 s left, mean loss 4.754, 2 stragglers");
  EXPECT_EQ(finished_line(state()), "gc:s=2: 30 jobs in 15.0 s, 500.0 ms/job");
  ProgressState hour = state();
  hour.elapsed = Seconds{3725};
  EXPECT_EQ(progress_line(hour),
            "gc:s=2: 30/120 jobs, 1:02 h, 3:06 h left, mean loss 4.754, 2 stragglers");
}

// A pipe in place of a terminal or log.
class ProgressDisplay : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe(ends), 0); }

  void TearDown() override {
    ::close(ends[0]);
    if (ends[1] >= 0) ::close(ends[1]);
  }

  // All that was written; the display must be gone or quiet.
  std::string written() {
    ::close(std::exchange(ends[1], -1));
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(n));
    }
    return text;
  }

  ProgressOptions terminal(int width = 60) const {
    return {.fd = ends[1],
            .terminal = true,
            .style = TextStyle{.width = width, .height = 24, .unicode = false}};
  }

  int ends[2] = {-1, -1};
};

TEST_F(ProgressDisplay, RedrawsInPlaceAndLeavesOneLineAndAVisibleCursor) {
  ProgressState small = state();
  small.loss.clear();
  {
    Progress progress(terminal(31));
    progress.show(small, Seconds{10});
    progress.show(small, Seconds{10.2});
    progress.finish(small);
  }
  const std::string block =
      "gc:s=2   scheme 2 of 4\x1b[K\n"
      "[##.......]  25 %  30/120 jobs\x1b[K\n"
      "elapsed 15.0 s   left 45.0 s  \x1b[K\n"
      "round 31: 2 of 8 workers strag\x1b[K\n"
      "\x1b[J";
  const std::string up = "\r\x1b[4A";
  EXPECT_EQ(written(),
            "\x1b[?25l" + block + up + block + up + "\x1b[J" + kShowCursor +
                "gc:s=2: 30 jobs in 15.0 s, 500.0 ms/job\n");
}

TEST_F(ProgressDisplay, RedrawsAtMostTenTimesASecond) {
  {
    Progress progress(terminal());
    for (int i = 0; i < 1000; ++i) progress.show(state(), Seconds{i * 0.001});
  }
  const std::string text = written();
  int frames = 0;
  for (std::size_t at = 0; (at = text.find("elapsed", at)) != std::string::npos; ++at) ++frames;
  EXPECT_EQ(frames, 10);
  EXPECT_EQ(text.substr(text.size() - 6), kShowCursor);
}

TEST_F(ProgressDisplay, WritesALineNowAndThenWhereThereIsNoTerminal) {
  ProgressState now = state();
  {
    Progress progress({.fd = ends[1], .terminal = false, .style = std::nullopt});
    for (int second = 0; second <= 12; ++second) {
      now.jobs_done = 10 * second;
      progress.show(now, Seconds{100.0 + second});
    }
    progress.finish(now);
  }
  EXPECT_EQ(written(),
            "gc:s=2: 50/120 jobs, 15.0 s, 21.0 s left, mean loss 4.754, 2 stragglers\n"
            "gc:s=2: 100/120 jobs, 15.0 s, 3.0 s left, mean loss 4.754, 2 stragglers\n"
            "gc:s=2: 120 jobs in 15.0 s, 125.0 ms/job\n");
}

TEST_F(ProgressDisplay, WritesNothingWhenItWasShownNothing) {
  { const Progress progress(terminal()); }
  EXPECT_EQ(written(), "");
}

TEST(Progress, GoesSilentOnADisplayThatCannotBeWrittenTo) {
  Progress progress({.fd = -1, .terminal = true, .style = TextStyle{}});
  progress.show(state(), Seconds{0});
  progress.finish(state());
}

TEST(TerminalStyle, TakesTheEncodingFromTheFirstLocaleVariableThatIsSet) {
  ::setenv("LC_ALL", "", 1);
  ::setenv("LC_CTYPE", "de_DE.UTF-8", 1);
  ::setenv("LANG", "C", 1);
  EXPECT_TRUE(style_of_terminal(-1).unicode);
  ::setenv("LC_ALL", "C", 1);
  EXPECT_FALSE(style_of_terminal(-1).unicode);
  EXPECT_EQ(style_of_terminal(-1).width, 80);
}

}  // namespace
}  // namespace paceline
