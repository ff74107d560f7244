#include "paceline/timeline.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "paceline/play.hpp"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Times of one worker and one round: seconds[round % rounds][worker].
class Script final : public DelaySource {
 public:
  explicit Script(std::vector<std::vector<double>> seconds) : seconds_(std::move(seconds)) {}

  int workers() const override { return static_cast<int>(seconds_.front().size()); }

  Delay delay(Round round, WorkerId worker) const override {
    return {Seconds{seconds_[round.index() % seconds_.size()][worker.index()]}, Seconds{0}};
  }

 private:
  std::vector<std::vector<double>> seconds_;
};

class TimelineFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "paceline-timeline-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory = name;
  }

  void TearDown() override { fs::remove_all(directory); }

  std::string path() const { return (directory / "timeline.json").string(); }

  /// Plays the schemes one after the other. @return how each of them went
  std::vector<SimulationResult> watch(const std::vector<std::string>& schemes,
                                      const DelaySource& delays,
                                      PlayOptions options) const {
    auto timeline = Timeline::create(path());
    EXPECT_TRUE(timeline.has_value());
    options.wrap = [&](std::unique_ptr<Coordinator> inner, const SchemeInfo& info) {
      return timeline->watch(std::move(inner), info.label(), info.workers);
    };
    std::vector<SimulationResult> results;
    for (const std::string& scheme : schemes) {
      const auto played = play(scheme, delays, options);
      EXPECT_TRUE(played.has_value()) << scheme;
      if (played) results.push_back(played->result);
    }
    EXPECT_TRUE(timeline->close().has_value());
    return results;
  }

  json events() const {
    std::ifstream file(path());
    return json::parse(file).at("traceEvents");
  }

  json events_of(const std::string& scheme, const DelaySource& delays, const PlayOptions& options) {
    watch({scheme}, delays, options);
    return events();
  }

  fs::path directory;
};

struct Track {
  int process;
  int thread;
  auto operator<=>(const Track&) const = default;
};

Track track_of(const json& event) { return {event.at("pid").get<int>(), event.value("tid", -1)}; }

std::map<Track, std::string> thread_names(const json& events) {
  std::map<Track, std::string> names;
  for (const json& event : events) {
    if (event.at("name") == "thread_name") {
      names[track_of(event)] = event.at("args").at("name").get<std::string>();
    }
  }
  return names;
}

/// What the Trace Event Format asks of the three kinds of events that we write.
void expect_format(const json& events) {
  const std::map<Track, std::string> names = thread_names(events);
  for (const json& event : events) {
    ASSERT_TRUE(event.at("pid").is_number_integer()) << event;
    ASSERT_TRUE(event.at("name").is_string()) << event;
    if (event.contains("args")) {
      ASSERT_TRUE(event.at("args").is_object()) << event;
    }
    const std::string phase = event.at("ph").get<std::string>();
    if (phase == "M") {
      const std::set<std::string> known = {
          "process_name", "process_sort_index", "thread_name", "thread_sort_index"};
      EXPECT_TRUE(known.contains(event.at("name").get<std::string>())) << event;
      continue;
    }
    ASSERT_TRUE(phase == "X" || phase == "i") << event;
    ASSERT_TRUE(event.at("ts").is_number()) << event;
    EXPECT_GE(event.at("ts").get<double>(), 0) << event;
    EXPECT_TRUE(names.contains(track_of(event))) << event;
    if (phase == "X") {
      EXPECT_GE(event.at("dur").get<double>(), 0) << event;
    } else {
      EXPECT_EQ(event.at("s"), "t") << event;
    }
  }
}

/// A viewer nests what overlaps on a thread: what goes on at once must lie on different ones.
void expect_no_overlap(const json& events) {
  std::map<Track, std::vector<std::pair<double, double>>> slices;
  for (const json& event : events) {
    if (event.at("ph") != "X") continue;
    const double began = event.at("ts").get<double>();
    slices[track_of(event)].emplace_back(began, began + event.at("dur").get<double>());
  }
  constexpr double kRounding = 2e-3;  // microseconds; both ends are written to three digits
  for (auto& [track, list] : slices) {
    std::sort(list.begin(), list.end());
    for (std::size_t i = 1; i < list.size(); ++i) {
      EXPECT_LE(list[i - 1].second, list[i].first + kRounding) << "thread " << track.thread;
    }
  }
}

std::vector<json> on_thread(const json& events, const std::string& name) {
  const std::map<Track, std::string> names = thread_names(events);
  std::vector<json> found;
  for (const json& event : events) {
    const auto thread = names.find(track_of(event));
    if (event.at("ph") != "M" && thread != names.end() && thread->second == name) {
      found.push_back(event);
    }
  }
  return found;
}

TEST_F(TimelineFile, HasOneSliceForEachRoundAndAnswer) {
  const Script delays({{1, 2}, {3, 1}});
  const json events = events_of("uncoded", delays, {.jobs = 3});
  expect_format(events);
  expect_no_overlap(events);
  const auto rounds = on_thread(events, "rounds");
  ASSERT_EQ(rounds.size(), 3U);
  EXPECT_EQ(rounds[1].at("name"), "round 1");
  EXPECT_EQ(rounds[1].at("ts"), 2e6);
  EXPECT_EQ(rounds[1].at("dur"), 3e6);
  const auto decoded = on_thread(events, "decoded");
  ASSERT_EQ(decoded.size(), 3U);
  EXPECT_EQ(decoded[2].at("name"), "job 2");
  EXPECT_EQ(decoded[2].at("ts"), 7e6);
  const auto second = on_thread(events, "worker 1");
  ASSERT_EQ(second.size(), 3U);
  EXPECT_EQ(second[1].at("name"), "job 1");
  EXPECT_EQ(second[1].at("ts"), 2e6);
  EXPECT_EQ(second[1].at("dur"), 1e6);
  EXPECT_EQ(second[1].at("args").at("round"), 1);
}

TEST_F(TimelineFile, ShowsWhoWasStopped) {
  const Script delays({{1, 9, 1, 1}});
  const json events =
      events_of("gc:s=1,code=repetition", delays, {.jobs = 2, .cancel_stragglers = true});
  expect_format(events);
  const auto slow = on_thread(events, "worker 1");
  ASSERT_EQ(slow.size(), 2U);
  EXPECT_EQ(slow[0].at("name"), "stopped: job 0");
  EXPECT_EQ(slow[0].at("dur"), 1e6);
}

TEST_F(TimelineFile, OrdersAtTheSameTimeLieOnDifferentThreads) {
  const Script delays({{1, 3.5, 1, 1}});
  const json events = events_of("gc:s=1,code=repetition", delays, {.jobs = 4});
  expect_format(events);
  expect_no_overlap(events);
  EXPECT_FALSE(on_thread(events, "worker 1, order 2").empty());
  const auto unanswered = on_thread(events, "worker 1");
  const auto answered = std::count_if(unanswered.begin(), unanswered.end(), [](const json& slice) {
    return slice.at("dur") == 3.5e6;
  });
  EXPECT_EQ(answered, 1);  // the first order was answered late, while the fourth job was computed
}

TEST_F(TimelineFile, EverySchemeIsAProcess) {
  const Script delays({{1, 2, 1, 4, 1, 1, 2, 1}});
  watch({"relay:T=3,r0=1", "m-sgc:B=1,W=2,lambda=2", "sr-sgc:B=1,W=2,lambda=2"},
        delays,
        {.jobs = 20});
  const json all = events();
  expect_format(all);
  expect_no_overlap(all);
  std::map<int, std::string> processes;
  std::map<int, int> decoded;
  for (const json& event : all) {
    const int process = event.at("pid").get<int>();
    if (event.at("name") == "process_name") processes[process] = event.at("args").at("name");
    if (event.at("ph") == "i") ++decoded[process];
  }
  ASSERT_EQ(processes.size(), 3U);
  EXPECT_EQ(processes[2].rfind("m-sgc:B=1,W=2,lambda=2", 0), 0U);
  EXPECT_EQ(decoded, (std::map<int, int>{{1, 20}, {2, 20}, {3, 20}}));
}

TEST_F(TimelineFile, WatchingChangesNothing) {
  const Script delays({{1, 2, 1, 4, 1, 1, 2, 1}, {1, 1, 5, 1, 1, 2, 1, 1}});
  for (const char* scheme : {"uncoded", "relay:T=3", "m-sgc:B=1,W=2,lambda=2", "gc:s=2"}) {
    const auto plain = play(scheme, delays, {.jobs = 30});
    const auto watched = watch({scheme}, delays, {.jobs = 30});
    ASSERT_TRUE(plain.has_value() && watched.size() == 1) << scheme;
    EXPECT_EQ(watched[0].total, plain->result.total) << scheme;
    EXPECT_EQ(watched[0].rounds, plain->result.rounds) << scheme;
  }
}

TEST_F(TimelineFile, NeedsItsDirectory) {
  const auto timeline = Timeline::create((directory / "missing" / "timeline.json").string());
  ASSERT_FALSE(timeline.has_value());
  EXPECT_NE(timeline.error().message.find("missing"), std::string::npos);
}

TEST(Timeline, SaysThatTheDiskIsFull) {
  auto timeline = Timeline::create("/dev/full");
  ASSERT_TRUE(timeline.has_value());
  const auto closed = timeline->close();
  ASSERT_FALSE(closed.has_value());
  EXPECT_NE(closed.error().message.find("/dev/full"), std::string::npos);
}

}  // namespace
}  // namespace paceline
