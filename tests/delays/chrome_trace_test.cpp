#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <vector>

#include "paceline/delays.hpp"
#include "support/shared_files.hpp"

namespace paceline {
namespace {

std::string event(const std::string& name, int pid, int tid, int step, double ts, double dur) {
  return R"({"ph":"X","name":")" + name + R"(","pid":)" + std::to_string(pid) + R"(,"tid":)" +
         std::to_string(tid) + R"(,"ts":)" + std::to_string(ts) + R"(,"dur":)" +
         std::to_string(dur) + R"(,"args":{"step":)" + std::to_string(step) + "}}";
}

/// Two processes with two threads each, one step; the second step of process 1 is twice as long.
std::string sample() {
  std::string text = R"([{"ph":"M","name":"process_name","pid":0,"args":{"name":"rank 0"}})";
  for (const int pid : {0, 1}) {
    for (const int step : {7, 10}) {
      const double long_ = pid == 1 && step == 10 ? 2 : 1;
      const double start = step * 1e7;
      text += "," + event("forward-compute", pid, 0, step, start, 1e6 * long_);
      text += "," + event("backward-compute", pid, 1, step, start + 5e5, 2e6 * long_);
      text += "," + event("forward-compute", pid, 0, step, start + 4e6, 1e6);
      text += "," + event("all-reduce", pid, 0, step, start + 5e6, 3e6);
    }
  }
  return text + "]";
}

Expected<DelayProfile> parse(std::string_view bytes, const std::string& columns = "") {
  return parse_delay_profile(bytes, "t.json", {.columns = columns});
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 100, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

void expect_seconds(const Expected<DelayProfile>& profile, const std::vector<double>& seconds) {
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_EQ(profile->seconds.size(), seconds.size());
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    EXPECT_NEAR(profile->seconds[k], seconds[k], 1e-9) << k;
  }
}

void expect_error(std::string_view text, const std::string& part, const std::string& columns = "") {
  const auto profile = parse(text, columns);
  ASSERT_FALSE(profile) << text;
  EXPECT_NE(profile.error().message.find(part), std::string::npos) << profile.error().message;
}

TEST(ChromeTrace, TimesAreThoseOfComputingPerStepAndProcess) {
  const auto profile = parse(sample());
  expect_seconds(profile, {5, 5, 5, 5});  // all end with the same last event
  EXPECT_EQ(profile->rounds, 2);
  EXPECT_EQ(profile->workers, 2);
}

TEST(ChromeTrace, BusyTimeIsTheUnionOfItsEvents) {
  expect_seconds(parse(sample(), "seconds=busy"), {3.5, 3.5, 3.5, 5});
}

TEST(ChromeTrace, ThreadsCanBeTheWorkers) {
  expect_seconds(parse(sample(), "worker=pid/tid,seconds=busy"), {2, 2, 2, 2, 2, 2, 3, 4});
}

TEST(ChromeTrace, OtherEventsCanBeTheOnesThatCount) {
  expect_seconds(parse(sample(), "events=all-reduce"), {3, 3, 3, 3});
  expect_seconds(parse(sample(), "events=e"), {8, 8, 8, 8});
}

TEST(ChromeTrace, MayBeAnObjectAndCompressed) {
  const std::string object = R"( {"traceEvents":)" + sample() + R"(,"displayTimeUnit":"ms"})";
  expect_seconds(parse(object), {5, 5, 5, 5});
  expect_seconds(parse(gzip(object)), {5, 5, 5, 5});
  expect_seconds(parse(gzip(object) + gzip("")), {5, 5, 5, 5});
  expect_seconds(parse(gzip("1,2\n3,4\n")), {1, 2, 3, 4});
}

TEST(ChromeTrace, RefusesWhatIsNone) {
  expect_error("[1,2", "t.json: byte 5 is not right in JSON");
  expect_error("{}", "names a round in args.step");
  expect_error("[" + event("compute", 0, 0, 1, 0, 0) + "]",
               "round '1', worker '0': 0 is not a time");
  expect_error(sample(), "names a round in args.iteration", "round=iteration");
  expect_error(sample(), "has 'nothing' in its name", "events=nothing");
  expect_error(sample(), "did you mean 'busy'?", "seconds=bussy");
  expect_error(sample(), "known: pid, pid/tid", "worker=host");
  const std::string whole = gzip(sample());
  expect_error(whole.substr(0, whole.size() / 2), "cannot be uncompressed: it ends too early");
  std::string damaged = whole;
  damaged[damaged.size() / 2] = static_cast<char>(~damaged[damaged.size() / 2]);
  expect_error(damaged, "t.json: ");
}

// 32 sampled steps of a job with two data-parallel ranks of four pipeline stages.
TEST(ChromeTrace, ReadsAMeasuredOne) {
  PACELINE_NEED_SHARED_FILE(path, "traces/bytedance-timeline-ST.json.gz");
  const auto ranks = read_delay_profile(path);
  ASSERT_TRUE(ranks) << ranks.error().message;
  EXPECT_EQ(ranks->rounds, 32);
  EXPECT_EQ(ranks->workers, 2);
  EXPECT_TRUE(ranks->warnings.empty());
  const auto stages = read_delay_profile(path, {.columns = "worker=pid/tid,seconds=busy"});
  ASSERT_TRUE(stages) << stages.error().message;
  EXPECT_EQ(stages->workers, 8);
  for (int r = 0; r < 32; ++r) {
    double slowest = 0;
    for (int i = 0; i < 4; ++i) slowest = std::max(slowest, stages->at(r, i));
    EXPECT_GT(ranks->at(r, 0), slowest) << "a rank takes longer than its slowest stage computes";
  }
}

}  // namespace
}  // namespace paceline
