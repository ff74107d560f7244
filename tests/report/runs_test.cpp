#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "paceline/metrics.hpp"
#include "paceline/run_reports.hpp"
#include "report/sample_report.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;

class SavedReport : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "paceline-runs-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }

  void TearDown() override { fs::remove_all(folder); }

  std::string trouble_with(const std::string& text) {
    const std::string path = folder + "/report.json";
    EXPECT_TRUE(write_text_file(path, text));
    const auto report = read_report(path);
    EXPECT_FALSE(report) << text;
    return report ? "" : report.error().message.substr(path.size());
  }

  std::string folder;
};

std::vector<NamedReport> two_runs() {
  return {{"first", sample::make_report({.workers = 4, .rounds = 12, .models = 2, .schemes = 2})},
          {"second", sample::make_report({.workers = 4, .rounds = 8, .models = 2, .schemes = 1})}};
}

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++found;
  return found;
}

std::string text_of(const std::vector<FigureFile>& files, const std::string& name) {
  const auto found = std::ranges::find(files, name, &FigureFile::name);
  return found == files.end() ? "there is no " + name : found->text;
}

TEST_F(SavedReport, ComesBackAsItWasWritten) {
  RunReport report = sample::make_report({.workers = 5, .rounds = 20, .models = 2});
  report.kind = "simulation";
  report.schemes[1].time_won = Seconds{1.25};
  report.schemes[2].predicted.reset();
  report.schemes[2].mean_residual = 0.125;
  report.schemes[3].history.clear();
  report.schemes[4].loss[1].clear();
  ASSERT_TRUE(write_text_file(folder + "/report.json", to_json(report)));
  const auto back = read_report(folder);
  ASSERT_TRUE(back) << back.error().message;
  const SchemeRun& scheme = back->schemes[5];
  EXPECT_EQ(back->command, report.command);
  EXPECT_EQ(scheme.label, "relay:T=3");
  EXPECT_NEAR(scheme.total.count(), report.schemes[5].total.count(), 1e-6);
  EXPECT_EQ(scheme.history.back().stragglers, report.schemes[5].history.back().stragglers);
  // Rounded once to what the file keeps, it comes back exactly, member by member.
  const std::string text = to_json(*back);
  ASSERT_TRUE(write_text_file(folder + "/report.json", text));
  EXPECT_TRUE(to_json(*read_report(folder + "/report.json")) == text);
  EXPECT_EQ(back->schemes[1].time_won, Seconds{1.25});
  EXPECT_FALSE(back->schemes[2].predicted);
  EXPECT_TRUE(back->schemes[3].history.empty());
}

TEST_F(SavedReport, SaysWhatIsWrongWithAFile) {
  const std::string whole = to_json(sample::make_report({.workers = 2, .rounds = 3, .models = 1}));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_EQ(trouble_with(""), ": is no whole JSON: half written, or no report");
  EXPECT_EQ(trouble_with(whole.substr(0, whole.size() / 2)),
            ": is no whole JSON: half written, or no report");
  EXPECT_EQ(trouble_with(changed("\"format\":1", "\"format\":\"two\"")),
            ": has format \"two\"; this paceline reads 1");
  EXPECT_EQ(trouble_with(changed("\"label\"", "\"name\"")), ": is damaged: key 'label' not found");
  EXPECT_EQ(trouble_with(changed("\"jobs\":3", "\"jobs\":\"3\"")),
            ": is damaged: type must be number, but is string");
  EXPECT_EQ(trouble_with(changed("\"stragglers\":[]", "\"stragglers\":[2]")),
            ": is damaged: a straggler is no worker");
}

TEST(Runs, AreComparedWithTheFirst) {
  std::vector<NamedReport> runs = two_runs();
  EXPECT_TRUE(incomparable(runs).empty());
  runs[0].report.configuration = {{"model", "mlp", "flag"}, {"profile", "a.csv", "flag"}};
  runs[1].report.configuration = {{"model", "mlp", "flag"}, {"profile", "b.csv", "flag"}};
  EXPECT_EQ(
      incomparable(runs),
      std::vector<std::string>{
          "second and first differ in delays (b.csv, a.csv): their times are not comparable."});
  runs[1].report.configuration = {{"model", "small-cnn", "flag"}, {"profile", "a.csv", "flag"}};
  EXPECT_EQ(incomparable(runs),
            std::vector<std::string>{"second and first differ in model (small-cnn, mlp): their "
                                     "times, losses and accuracies are not comparable."});
  runs[1].report.kind = "simulation";  // computes nothing, so it has no other model
  EXPECT_TRUE(incomparable(runs).empty());
  runs[1].report = sample::make_report({.workers = 6, .rounds = 8, .models = 2, .schemes = 1});
  runs[0].report.configuration = runs[1].report.configuration;
  EXPECT_EQ(incomparable(runs),
            std::vector<std::string>{
                "second and first differ in workers (6, 4): their times are not comparable."});
}

TEST(Runs, StandOnOnePageEachWithItsOwnPlaces) {
  const std::string page = reports_html(two_runs(), std::vector<std::string>{"<b>: is missing"});
  for (const char* id :
       {"all-bars", "all-loss", "run0-bars", "run1-bars", "run0-heat", "run1-data"}) {
    EXPECT_EQ(count(page, "id=\"" + std::string(id) + '"'), 1) << id;
  }
  EXPECT_EQ(count(page, "class=\"run\""), 2);
  EXPECT_EQ(count(page, "Left out: &lt;b&gt;: is missing"), 1);
  EXPECT_EQ(count(page, "<article>"), 2);
  for (const char* request : {"src=", "href=", "url(", "fetch(", "https:"}) {
    EXPECT_EQ(count(page, request), 0) << request;
  }
}

TEST(Runs, OfOneThePageIsTheRunsOwn) {
  const std::vector<NamedReport> runs = {two_runs()[0]};
  EXPECT_EQ(reports_html(runs, {}), report_html(runs[0].report));
}

TEST(Figures, AreScriptsBesideTheirTables) {
  std::vector<NamedReport> runs = two_runs();
  runs[0].name = "it's";
  const std::vector<std::string> formats = {"svg", "png"};
  const auto files = figures(runs, formats);
  const std::string loss = text_of(files, "loss.gp");
  EXPECT_EQ(count(loss, "set output 'loss.svg'"), 1);
  EXPECT_EQ(count(loss, "set output 'loss.png'"), 1);
  EXPECT_EQ(count(loss, "'it''s: uncoded'"), 2);
  EXPECT_EQ(count(text_of(files, "times.dat"), "\n"), 1 + 3);
  // Four workers, twelve rounds.
  const std::string response = text_of(files, "response-1.dat");
  EXPECT_EQ(count(response, "\n"), 1 + 4);
  const RoundSummary& round = runs[0].report.schemes[0].history[0];
  const std::string second_line = response.substr(response.find('\n') + 1);
  EXPECT_NEAR(std::stod(second_line), double{round.response[0]}, 1e-4);
  EXPECT_EQ(count(text_of(files, "response-4.gp"), "there is no"), 1);
}

TEST(Figures, LeaveOutLossesWhereThereAreNone) {
  std::vector<NamedReport> runs = two_runs();
  for (NamedReport& run : runs) {
    for (SchemeRun& scheme : run.report.schemes) scheme.loss.clear();
  }
  const std::vector<std::string> formats = {"svg"};
  EXPECT_EQ(text_of(figures(runs, formats), "loss.gp"), "there is no loss.gp");
  EXPECT_TRUE(figures({}, formats).empty());
}

}  // namespace
}  // namespace paceline
