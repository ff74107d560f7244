#include "report/table.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "paceline/run_report.hpp"
#include "report/sample_report.hpp"

namespace paceline {
namespace {

TEST(Table, IsAlignedAndHasAColumnForEverythingKnown) {
  EXPECT_EQ(
      table_text(sample::make_small_report()),
      R"(scheme    time    speed-up  predicted  limit  per job  rounds   load  m  T  stragglers  accuracy   verify
             s  vs uncoded          s      s       ms                        per round         %    error
---------------------------------------------------------------------------------------------------------
uncoded  210.5       1.00x      205.0  80.00     2105     100  0.250  1  0        0.00     90.50        -
gc:s=1    98.2       2.14x          -  80.00      982     100  0.500  1  0        1.00     90.50  2.5e-07
)");
}

TEST(Table, LeavesOutTheLeastImportantColumnsThatDoNotFitAndNamesThem) {
  const std::string text = table_text(sample::make_small_report(), 60);
  EXPECT_EQ(text, R"(scheme    time    speed-up  predicted  accuracy   verify
             s  vs uncoded          s         %    error
--------------------------------------------------------
uncoded  210.5       1.00x      205.0     90.50        -
gc:s=1    98.2       2.14x          -     90.50  2.5e-07
(no space for: T, m, stragglers, per job, limit, rounds, load)
)");
}

TEST(Table, NeverLeavesOutSchemeAndTime) {
  const std::string text = table_text(sample::make_small_report(), 1);
  EXPECT_NE(text.find("scheme    time\n"), std::string::npos) << text;
}

TEST(Table, HasNoColumnForWhatNoSchemeKnows) {
  RunReport report = sample::make_small_report();
  for (SchemeRun& run : report.schemes) {
    run.predicted.reset();
    run.worst_verify_error.reset();
    run.accuracy.clear();
    run.label = "gc";
  }
  const std::string text = table_text(report);
  for (const char* absent : {"predicted", "verify", "accuracy", "speed-up"}) {
    EXPECT_EQ(text.find(absent), std::string::npos) << absent;
  }
}

TEST(Table, OfNoSchemesSaysSo) { EXPECT_EQ(table_text(RunReport{}), "no scheme was played\n"); }

TEST(AlignedNumber, ShowsFourSignificantDigitsOfTheLargest) {
  EXPECT_EQ(aligned_number(2135.4, 2135.4), "2135");
  EXPECT_EQ(aligned_number(213.54, 213.54), "213.5");
  EXPECT_EQ(aligned_number(21.354, 21.354), "21.35");
  EXPECT_EQ(aligned_number(2.1354, 2.1354), "2.135");
  EXPECT_EQ(aligned_number(0.21354, 0.21354), "0.2135");
  EXPECT_EQ(aligned_number(0.00213544, 0.00213544), "0.002135");
  EXPECT_EQ(aligned_number(3, 250), "3.0");
  EXPECT_EQ(aligned_number(0, 0), "0.000");
}

TEST(RunReport, SpeedUpComparesTimesPerJob) {
  RunReport report = sample::make_small_report();
  report.schemes[1].jobs = 50;  // half the jobs in 98.25 s
  EXPECT_DOUBLE_EQ(*report.speed_up(report.schemes[1]), 2.105 / 1.965);
  report.schemes[0].label = "uncodedish";
  EXPECT_FALSE(report.speed_up(report.schemes[1]).has_value());
}

TEST(RunReport, CautionsWhenComputingKeptTheInjectedDelaysFromBeingKept) {
  RunReport report = sample::make_small_report();
  EXPECT_EQ(report.caution(), "");
  report.schemes[0].total = Seconds{226};  // predicted: 205
  EXPECT_EQ(report.caution(), "") << "no answer was late";
  report.schemes[0].overruns = 1;
  report.schemes[1].overruns = 1;
  EXPECT_EQ(report.caution().substr(0, 50), "1 of 2 schemes took over 10 % longer than predicte");
  EXPECT_NE(table_text(report).find('\n' + report.caution() + '\n'), std::string::npos);
  EXPECT_NE(report_html(report).find("<p class=\"caution\">1 of 2"), std::string::npos);
  report.schemes[0].total = Seconds{225};
  EXPECT_EQ(report.caution(), "");
  EXPECT_EQ(report_html(report).find("<p class=\"caution\">"), std::string::npos);
}

TEST(RunReport, SpeedUpIsUnknownWithoutDecodedJobs) {
  RunReport report = sample::make_small_report();
  report.schemes[1].jobs = 0;
  EXPECT_FALSE(report.speed_up(report.schemes[1]).has_value());
  EXPECT_TRUE(std::isnan(report.schemes[1].seconds_per_job()));
}

TEST(RoundSummary, TurnsMissingAnswersIntoNaN) {
  RoundRecord record;
  record.round = Round{3};
  record.closed = Seconds{2};
  record.busy = 2;
  record.answers = Answers(2);
  record.answers.time[0] = Seconds{0.5};
  record.stragglers = WorkerSet(2);
  record.stragglers.insert(WorkerId{1});
  const RoundSummary summary = summarize(record);
  EXPECT_EQ(summary.response[0], 0.5F);
  EXPECT_TRUE(std::isnan(summary.response[1]));
  EXPECT_TRUE(summary.stragglers.contains(WorkerId{1}));
  EXPECT_EQ(summary.round, Round{3});
}

}  // namespace
}  // namespace paceline
