#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "paceline/run_report.hpp"
#include "report/heat_map.hpp"
#include "report/sample_report.hpp"

namespace paceline {
namespace {

using nlohmann::json;

json chart_data_in(const std::string& page) {
  const std::string open = "id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

int base64(char c) {
  static const std::string alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return static_cast<int>(alphabet.find(c));
}

int cell(const std::string& cells, std::size_t index) {
  return 64 * base64(cells[2 * index]) + base64(cells[2 * index + 1]);
}

TEST(Json, HasTheWholeReport) {
  const RunReport report = sample::make_report({.workers = 5, .rounds = 7, .models = 2});
  const json object = json::parse(to_json(report));
  EXPECT_EQ(object["title"], report.title);
  EXPECT_EQ(object["configuration"][1]["origin"], "run.toml:3");
  EXPECT_EQ(object["models"].size(), 2U);
  ASSERT_EQ(object["schemes"].size(), report.schemes.size());
  for (const char* key : {"label",
                          "load",
                          "decode_delay",
                          "jobs_per_round",
                          "jobs",
                          "rounds",
                          "wait_outs",
                          "seconds",
                          "seconds_per_job",
                          "speed_up",
                          "predicted_seconds",
                          "limit_seconds",
                          "verified",
                          "accuracy",
                          "worst_verify_error",
                          "mean_accuracy",
                          "overruns",
                          "loss",
                          "bytes_per_round",
                          "history",
                          "mean_stragglers"}) {
    EXPECT_TRUE(object["schemes"][1].contains(key)) << key;
  }
  const json& round = object["schemes"][4]["history"][6];
  const RoundSummary& expected = report.schemes[4].history[6];
  EXPECT_EQ(round["round"], 6);
  EXPECT_EQ(static_cast<int>(round["stragglers"].size()), expected.stragglers.size());
  for (std::size_t i = 0; i < 5; ++i) {
    if (std::isnan(expected.response[i])) {
      EXPECT_TRUE(round["response"][i].is_null());
    } else {
      EXPECT_NEAR(round["response"][i].get<double>(), double{expected.response[i]}, 1e-6);
    }
  }
}

TEST(Json, ReplacesBytesThatAreNoText) {
  RunReport report = sample::make_small_report();
  report.title = "bad \xff byte";
  EXPECT_EQ(json::parse(to_json(report))["title"], "bad \xEF\xBF\xBD byte");
}

TEST(Json, SaysNullForWhatIsNotKnownOrNotFinite) {
  RunReport report = sample::make_small_report();
  report.schemes[1].total = Seconds{std::nan("")};
  const json object = json::parse(to_json(report));
  EXPECT_TRUE(object["schemes"][1]["seconds"].is_null());
  EXPECT_TRUE(object["schemes"][1]["speed_up"].is_null());
  EXPECT_TRUE(object["schemes"][1]["predicted_seconds"].is_null());
}

TEST(HeatMap, GivesEveryTimeBackWithinAFifthOfAPercent) {
  RoundSummary round;
  round.stragglers = WorkerSet(40);
  for (int i = 0; i < 40; ++i) {
    round.response.push_back(static_cast<float>(0.02 * std::pow(1000, i / 39.0)));  // to 20 s
  }
  round.stragglers.insert(WorkerId{7});  // answered in part
  round.stragglers.insert(WorkerId{8});
  round.response[8] = std::nanf("");
  round.response[9] = std::nanf("");  // no work
  const PackedTimes packed = pack_times(std::vector{round, round});
  ASSERT_EQ(packed.cells.size(), 160U);
  for (std::size_t i = 0; i < 80; ++i) {
    const int code = cell(packed.cells, i);
    const std::size_t worker = i % 40;
    EXPECT_EQ(code / 2048, worker == 7 || worker == 8 ? 1 : 0);
    const int level = code % 2048;
    if (worker == 8 || worker == 9) {
      EXPECT_EQ(level, 0);
      continue;
    }
    const double time = packed.low * std::pow(packed.high / packed.low, (level - 1) / 2046.0);
    EXPECT_NEAR(time, double{round.response[worker]}, 0.002 * time);
  }
}

TEST(HeatMap, BearsRoundsWithoutTimesAndWithEqualTimes) {
  RoundSummary round;
  round.stragglers = WorkerSet(2);
  round.response = {std::nanf(""), std::nanf("")};
  EXPECT_EQ(pack_times(std::vector{round}).cells, "AAAA");
  round.response = {0.5F, 0.5F};
  const PackedTimes equal = pack_times(std::vector{round});
  EXPECT_EQ(equal.cells, "ABAB");
  EXPECT_DOUBLE_EQ(equal.low, 0.5);
  round.response = {0, 0};
  EXPECT_EQ(pack_times(std::vector{round}).cells, "ABAB");
  EXPECT_EQ(pack_times({}).cells, "");
}

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(Page, AsksTheNetworkForNothing) {
  const std::string page = report_html(sample::make_report({}));
  for (const char* request : {"src=", "href=", "action=", "url(", "@import", "fetch(", "https:"}) {
    EXPECT_EQ(count(page, request), 0) << request;
  }
  EXPECT_EQ(count(page, "http:"), 1);  // the name of SVG's namespace, which nobody fetches
  EXPECT_EQ(count(page, "http://www.w3.org/2000/svg"), 1);
  EXPECT_EQ(count(page, "default-src 'none'"), 1);
}

TEST(Page, MakesMarkupInTextsHarmless) {
  const std::string evil = "</script><script>alert('1')</script>\"&{{data}}";
  RunReport report = sample::make_report({.workers = 3, .rounds = 4, .models = 2});
  const std::string plain = report_html(report);
  report.title = report.command = report.machine = report.date = evil;
  report.models[0] = evil;
  report.schemes[1].label = evil;
  report.configuration.push_back({evil, evil, evil});
  const std::string page = report_html(report);
  EXPECT_EQ(count(page, "<script"), count(plain, "<script"));
  EXPECT_EQ(count(page, "</script"), count(plain, "</script"));
  EXPECT_NE(page.find("&lt;/script&gt;&lt;script&gt;alert(&#39;1&#39;)"), std::string::npos);
  EXPECT_EQ(chart_data_in(page)["schemes"][1]["label"], evil);
  EXPECT_EQ(chart_data_in(page)["models"][0], evil);
}

TEST(Page, HoldsWhatTheChartsDraw) {
  const RunReport report = sample::make_report({.workers = 6, .rounds = 9, .models = 3});
  const json data = chart_data_in(report_html(report));
  const json& scheme = data["schemes"][5];
  EXPECT_EQ(scheme["label"], "relay:T=3");
  EXPECT_EQ(scheme["workers"], 6);
  EXPECT_EQ(scheme["round"].size(), 9U);
  EXPECT_EQ(scheme["cells"].get<std::string>().size(), 2U * 6 * 9);
  EXPECT_EQ(scheme["loss"].size(), 3U);
  EXPECT_EQ(scheme["loss"][0]["loss"].size(), 3U);
  EXPECT_EQ(scheme["waitedOut"], json::array({5}));
}

TEST(Page, StatesTheFastestSchemeInASentence) {
  const std::string page = report_html(sample::make_small_report());
  EXPECT_NE(page.find("gc:s=1</span> was the fastest: 100 jobs in 98.25 s, 2.14 times as fast as "
                      "uncoded and 1.23 times the clairvoyant limit."),
            std::string::npos);
}

TEST(Page, StaysUnderTwoMegabytesForALargeRun) {
  const RunReport report = sample::make_report({.workers = 256, .rounds = 500, .models = 8});
  EXPECT_LT(report_html(report).size(), 2'000'000U);
}

TEST(Page, IsMadeForAnEmptyReportToo) {
  EXPECT_NE(report_html(RunReport{}).find("No job was decoded."), std::string::npos);
}

}  // namespace
}  // namespace paceline
