#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "paceline/comparison_report.hpp"
#include "report/comparison_rows.hpp"

namespace paceline {
namespace {

using nlohmann::json;

const Comparison& sample() {
  static const Comparison comparison = [] {
    const auto model = make_delay_model("bursty:base=0.5,slope=2,slow=5,bad=0.1,good=0.5", 8, 3);
    CompareOptions options;
    options.schemes = {"uncoded:bundle=1", "gc", "uncoded:bundle=2", "relay:T=1"};
    options.jobs = 20;
    options.seeds = 3;
    options.max_delay = 1;
    options.most_jobs_per_round = 1;
    return *compare(DelayTable::record(**model, 30), options);
  }();
  return comparison;
}

PageFacts facts() { return {"cluster.csv", "paceline compare", "2024-05-01", "a machine"}; }

json data_in(const std::string& page) {
  const std::string open = "id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(ComparisonText, PutsTheLimitAboveTheSchemesWithAsManyJobsPerRound) {
  const std::string text = comparison_text(sample(), "cluster.csv");
  EXPECT_EQ(count(text, "clairvoyant limit"), 2);
  EXPECT_LT(text.find("clairvoyant limit"), text.find("gc:"));
  EXPECT_LT(text.find("gc:"), text.find("uncoded "));  // the faster one first
  EXPECT_LT(text.rfind("clairvoyant limit"), text.find("uncoded:bundle=2"));
  EXPECT_NE(text.find("8 workers, 20 jobs, cluster.csv, 30 recorded rounds, 3 resamples"),
            std::string::npos);
  EXPECT_NE(text.find("*: named without settings, so tuned (one job per round): chosen on other "
                      "resamples"),
            std::string::npos);
}

TEST(ComparisonText, ShowsWhoBeatsRelayWithAsManyJobsPerRound) {
  for (const ComparedScheme& row : sample().schemes) {
    const auto ratio = ratio_to_relay(sample(), row);
    if (row.info.name == "relay") {
      EXPECT_EQ(ratio, 1.0);
    } else if (row.info.jobs_per_round == sample().schemes.back().info.jobs_per_round) {
      EXPECT_DOUBLE_EQ(ratio.value(), row.mean_seconds() / sample().schemes.back().mean_seconds());
    } else {
      EXPECT_FALSE(ratio.has_value());
    }
  }
}

TEST(ComparisonPage, HoldsWhatTheChartsDraw) {
  const json data = data_in(comparison_html(sample(), facts()));
  ASSERT_EQ(data["schemes"].size(), 4U);
  EXPECT_EQ(data["jobs"], 20);
  EXPECT_GT(data["trials"].size(), 3U);
  for (const json& scheme : data["schemes"]) {
    EXPECT_LE(scheme["least"], scheme["seconds"]);
    EXPECT_GE(scheme["most"], scheme["seconds"]);
    EXPECT_GE(scheme["seconds"], scheme["limit"]);
    ASSERT_TRUE(scheme.contains("cells"));  // one row of each scheme, bundled or not
    EXPECT_EQ(scheme["done"].back(), 20);
    EXPECT_EQ(scheme["doneAt"].size(), scheme["done"].size());
    EXPECT_EQ(scheme["cells"].get<std::string>().size(), 2 * 8 * scheme["round"].size());
  }
}

TEST(ComparisonPage, AsksTheNetworkForNothing) {
  const std::string page = comparison_html(sample(), facts());
  for (const char* request : {"src=", "href=", "action=", "url(", "@import", "fetch(", "https:"}) {
    EXPECT_EQ(count(page, request), 0) << request;
  }
  EXPECT_EQ(count(page, "http:"), 1);  // the name of SVG's namespace
  EXPECT_EQ(count(page, "default-src 'none'"), 1);
}

TEST(ComparisonPage, MakesMarkupInTextsHarmless) {
  const std::string evil = "</script><script>alert('1')</script>\"&{{data}}";
  Comparison comparison = sample();
  comparison.schemes[1].info.parameters = evil;
  comparison.schemes[2].candidate.close = evil;
  const std::string plain = comparison_html(sample(), facts());
  const std::string page = comparison_html(comparison, {evil, evil, evil, evil});
  EXPECT_EQ(count(page, "<script"), count(plain, "<script"));
  EXPECT_EQ(count(page, "</script"), count(plain, "</script"));
}

}  // namespace
}  // namespace paceline
