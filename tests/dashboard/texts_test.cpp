// The texts that the page and Prometheus read.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "dashboard/rounds.hpp"
#include "paceline/dashboard.hpp"

namespace paceline {
namespace {

using nlohmann::json;

std::unique_ptr<LiveState> sample_state() {
  auto state = std::make_unique<LiveState>();
  state->describe(rounds::run_of(4, 2));
  state->begin({.number = 1,
                .schemes = 2,
                .label = "gc:s=1",
                .jobs = 40,
                .predicted = Seconds{25},
                .limit = {}});
  rounds::play(*state, 4, 2, 0, 10);
  return state;
}

TEST(LiveJson, HoldsTheState) {
  const auto state = sample_state();
  const json told = json::parse(live_json(state->view({})));
  EXPECT_EQ(told["run"]["title"], "a \"quoted\" title");
  EXPECT_EQ(told["run"]["models"], (json{"net 0", "net 1"}));
  EXPECT_EQ(told["scheme"]["number"], 1);
  EXPECT_EQ(told["scheme"]["playing"], "gc:s=1");
  EXPECT_EQ(told["scheme"]["ended"], false);
  EXPECT_EQ(told["scheme"]["predicted"], 25);
  EXPECT_TRUE(told["scheme"]["limit"].is_null());
  EXPECT_EQ(told["now"]["jobs"], 10);
  EXPECT_EQ(told["now"]["elapsed"], 5);
  EXPECT_EQ(told["now"]["left"], 15);
  EXPECT_EQ(told["now"]["slowest"], 7.5);
  EXPECT_EQ(told["now"]["limit"], 2);
  EXPECT_EQ(told["workers"]["relative"].size(), 4U);
  EXPECT_TRUE(told["workers"]["individual"][0].is_null()) << "no history yet";
  EXPECT_EQ(told["anew"], true);
  EXPECT_EQ(told["stride"], 1);
  const json& columns = told["columns"];
  for (const char* name :
       {"round", "rounds", "seconds", "stragglers", "closed", "jobs", "slowest", "limit"}) {
    EXPECT_EQ(columns[name].size(), 10U) << name;
  }
  EXPECT_EQ(columns["loss"].size(), 2U);
  EXPECT_TRUE(columns["loss"][0][1].is_null());
  EXPECT_EQ(columns["loss"][0][4], 0.2);
  EXPECT_EQ(columns["cells"].get<std::string>().size(), 10U * 4 * 3);
}

TEST(LiveJson, TellsWhatIsNew) {
  const auto state = sample_state();
  const Seen seen{.run = "7", .scheme = 1, .rounds = 8, .stride = 1};
  const json told = json::parse(live_json(state->view(seen)));
  EXPECT_EQ(told["anew"], false);
  EXPECT_EQ(told["firstColumn"], 8);
  EXPECT_EQ(told["columns"]["round"], (json{8, 9}));
  EXPECT_EQ(told["newest"]["round"], (json{8, 9}));
  const json same =
      json::parse(live_json(state->view({.run = "7", .scheme = 1, .rounds = 10, .stride = 1})));
  EXPECT_EQ(same["columns"]["round"], json::array());
  EXPECT_EQ(same["columns"]["cells"], "");
}

TEST(LiveJson, GivesResponseTimesBackWithinHalfAStep) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  LiveState state;
  state.describe(rounds::run_of(6, 1));
  state.begin({.number = 1, .schemes = 1, .label = "x", .jobs = 1, .predicted = {}, .limit = {}});
  const std::vector<double> times = {1e-6, 0.0123, 7.5, 1e5, rounds::kIdle, rounds::kStraggles};
  state.add(rounds::make_round(0, 0, 1e5, times), {}, "x", {});
  const std::string cells = json::parse(live_json(state.view({})))["columns"]["cells"];
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto digit = [&](std::size_t k) {
      return static_cast<int>(digits.find(cells[3 * i + k]));
    };
    const int level = 64 * digit(0) + digit(1);
    EXPECT_EQ(digit(2), times[i] == rounds::kStraggles ? 63 : 0);
    if (i >= 4) {
      EXPECT_EQ(level, 0);
    } else {
      EXPECT_NEAR(1e-6 * std::pow(10, 11 * (level - 1) / 4094.0) / times[i], 1, 0.0032);
    }
  }
}

/// The samples of a text in the format 0.0.4, by name and labels; fails where it is none. Slow and
/// obvious: comments announce a metric, and its samples follow them.
std::map<std::string, double> parse_prometheus(const std::string& text) {
  std::map<std::string, double> samples;
  std::map<std::string, std::string> types;
  std::set<std::string> ended;
  std::string current;
  EXPECT_TRUE(text.ends_with('\n'));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "#") {
      std::string kind, name, rest;
      words >> kind >> name;
      std::getline(words, rest);
      EXPECT_GT(rest.size(), 1U) << line;
      if (kind == "HELP") {
        if (!current.empty()) ended.insert(current);
        EXPECT_FALSE(ended.contains(name)) << name << " comes twice";
        current = name;
      } else {
        EXPECT_EQ(kind, "TYPE") << line;
        EXPECT_EQ(name, current) << line;
        types[name] = rest.substr(1);
      }
      continue;
    }
    const std::size_t space = line.rfind(' ');
    const std::string key = line.substr(0, space);
    const std::string name = key.substr(0, key.find('{'));
    EXPECT_TRUE(types.contains(current)) << line;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos) << line;
    if (types[current] == "histogram") {
      EXPECT_TRUE(name == current + "_bucket" || name == current + "_sum" ||
                  name == current + "_count")
          << line;
    } else {
      EXPECT_EQ(name, current) << line;
    }
    if (types[current] == "counter") {
      EXPECT_TRUE(name.ends_with("_total")) << line;
    }
    std::size_t read = 0;
    const double value = std::stod(line.substr(space + 1), &read);
    EXPECT_EQ(read, line.size() - space - 1) << line;
    EXPECT_TRUE(samples.emplace(key, value).second) << key << " comes twice";
  }
  return samples;
}

TEST(Prometheus, TellsWhatTheStateHolds) {
  const auto state = sample_state();
  const auto found = parse_prometheus(prometheus_text(state->numbers()));
  const std::map<std::string, double> expected = {
      {"paceline_scheme_info{scheme=\"gc:s=1\",number=\"1\"}", 1},
      {"paceline_schemes", 2},
      {"paceline_workers", 4},
      {"paceline_jobs_decoded_total", 10},
      {"paceline_rounds_total", 10},
      {"paceline_wait_outs_total", 0},
      {"paceline_round_seconds_bucket{le=\"0.25\"}", 0},
      {"paceline_round_seconds_bucket{le=\"0.5\"}", 10},
      {"paceline_round_seconds_bucket{le=\"+Inf\"}", 10},
      {"paceline_round_seconds_sum", 5},
      {"paceline_round_seconds_count", 10},
      {"paceline_scheme_jobs", 40},
      {"paceline_scheme_jobs_decoded", 10},
      {"paceline_scheme_elapsed_seconds", 5},
      {"paceline_scheme_left_seconds", 15},
      {"paceline_scheme_predicted_seconds", 25},
      {"paceline_scheme_waiting_for_all_seconds", 7.5},
      {"paceline_scheme_clairvoyant_seconds", 2},
      {"paceline_round_stragglers", 1},
      {"paceline_loss{model=\"net 0\"}", 1.0 / 9},
      {"paceline_loss{model=\"net 1\"}", 0.1},
      {"paceline_worker_response_seconds{worker=\"0\"}", 0.25},
      {"paceline_worker_relative_score{worker=\"3\"}", 1},
      {"paceline_worker_straggled_rounds_total{worker=\"0\"}", 3},
      {"paceline_worker_straggled_rounds_total{worker=\"3\"}", 2}};
  for (const auto& [name, value] : expected) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_DOUBLE_EQ(found.at(name), value) << name;
  }
  EXPECT_FALSE(found.contains("paceline_worker_individual_score{worker=\"0\"}")) << "not known yet";
}

TEST(Prometheus, SumsBucketsUp) {
  LiveState state;
  state.describe(rounds::run_of(1, 1));
  state.begin({.number = 1, .schemes = 1, .label = "x", .jobs = 9, .predicted = {}, .limit = {}});
  int r = 0;
  for (const double took : {0.0005, 0.001, 0.3, 0.4, 70.0, 500.0}) {
    state.add(rounds::make_round(r++, 0, took, {took}), {}, "x", {});
  }
  const auto found = parse_prometheus(prometheus_text(state.numbers()));
  EXPECT_EQ(found.at("paceline_round_seconds_bucket{le=\"0.001\"}"), 2);
  EXPECT_EQ(found.at("paceline_round_seconds_bucket{le=\"0.25\"}"), 2);
  EXPECT_EQ(found.at("paceline_round_seconds_bucket{le=\"0.5\"}"), 4);
  EXPECT_EQ(found.at("paceline_round_seconds_bucket{le=\"50\"}"), 4);
  EXPECT_EQ(found.at("paceline_round_seconds_bucket{le=\"100\"}"), 5);
  EXPECT_EQ(found.at("paceline_round_seconds_bucket{le=\"+Inf\"}"), 6);
}

TEST(Prometheus, EscapesLabelsAndBearsAnEmptyState) {
  LiveState state;
  EXPECT_EQ(parse_prometheus(prometheus_text(state.numbers())).at("paceline_rounds_total"), 0);
  state.describe(rounds::run_of(1, 1));
  state.begin(
      {.number = 1, .schemes = 1, .label = "a\"b\\c\nd", .jobs = 1, .predicted = {}, .limit = {}});
  EXPECT_NE(prometheus_text(state.numbers()).find(R"(scheme="a\"b\\c\nd")"), std::string::npos);
}

TEST(DashboardAddress, IsReadFromText) {
  EXPECT_EQ(parse_dashboard_address(":8080")->host, "127.0.0.1");
  EXPECT_EQ(parse_dashboard_address(":8080")->port, 8080);
  EXPECT_EQ(parse_dashboard_address(":0")->port, 0);
  EXPECT_EQ(parse_dashboard_address("0.0.0.0:1")->host, "0.0.0.0");
  EXPECT_EQ(parse_dashboard_address("node-7:65535")->host, "node-7");
  EXPECT_EQ(parse_dashboard_address("[::1]:80")->host, "::1");
  for (const char* wrong : {"",
                            "8080",
                            ":",
                            ":x",
                            ":80x",
                            ":-1",
                            ":65536",
                            "::1:80",
                            "host:",
                            "host",
                            ":99999999999"}) {
    const auto refused = parse_dashboard_address(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_NE(refused.error().message.find(wrong), std::string::npos);
    EXPECT_NE(refused.error().message.find(":8080"), std::string::npos);
  }
}

}  // namespace
}  // namespace paceline
