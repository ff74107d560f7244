// What is written is read back to the last bit; what is damaged is found out, and the one before
// taken; a full disk is an error that leaves the older ones whole.
#include "paceline/checkpoint.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace paceline {
namespace {

namespace fs = std::filesystem;

/// A folder that goes when the test does.
class Scratch {
 public:
  Scratch()
      : path_(fs::temp_directory_path() /
              ("paceline-checkpoint-" + std::to_string(getpid()) + "-" +
               testing::UnitTest::GetInstance()->current_test_info()->name())) {}

  ~Scratch() {
    std::error_code error;
    fs::remove_all(path_, error);
  }

  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

Checkpoint sample(int jobs) {
  Checkpoint checkpoint;
  checkpoint.models = {{"model", "softmax"}, {"seed", "1"}};
  checkpoint.play = {{"scheme", "m-sgc:B=1,W=2,lambda=2"}};
  checkpoint.settings = {{"batch", "64"}};
  checkpoint.scheme_number = 2;
  RunState& state = checkpoint.state;
  state.now = Seconds{1.0 / 3};
  state.begun = {Version{0}, Version{1}};
  state.studied = 4;
  state.finished = false;
  state.totals = {Seconds{0.1}, 7, jobs, 1, 12, 345, 6.5e10};
  state.events = {{LoggedEvent::Kind::kStart, Seconds{1e-9}, {}, 0, 0},
                  {LoggedEvent::Kind::kArrived,
                   Seconds{0.1},
                   {WorkerId{3}, Round{2}, 1, Seconds{1.0 / 7}, Seconds{0.3}},
                   0,
                   5},
                  {LoggedEvent::Kind::kTimer, Seconds{0.2}, {}, 9, 0}};
  for (int m = 0; m < 2; ++m) {
    state.bank.models.push_back({Version{jobs / 2},
                                 std::make_shared<const std::vector<float>>(std::vector<float>{
                                     0.1F * static_cast<float>(m), -0.0F, 1e-40F}),
                                 {3, {{1.5F, 2, 3}, {}}}});
  }
  state.bank.messages = {{{WorkerId{1}, Round{2}, 0}, {7, 8, 9}, 0.3, 16}};
  state.bank.open = {{JobId{5}, {0.1, 0.2, 0.3}, {{WorkerId{0}, Round{1}, 2}}, 0.7, 8}};
  return checkpoint;
}

void expect_equal(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(a.models, b.models);
  EXPECT_EQ(a.play, b.play);
  EXPECT_EQ(a.settings, b.settings);
  EXPECT_EQ(a.scheme_number, b.scheme_number);
  EXPECT_EQ(a.state.now, b.state.now);
  EXPECT_EQ(a.state.begun, b.state.begun);
  EXPECT_EQ(a.state.studied, b.state.studied);
  EXPECT_EQ(a.state.finished, b.state.finished);
  EXPECT_EQ(a.state.events, b.state.events);
  EXPECT_EQ(a.state.totals.total, b.state.totals.total);
  EXPECT_EQ(a.state.totals.rounds, b.state.totals.rounds);
  EXPECT_EQ(a.state.totals.jobs, b.state.totals.jobs);
  EXPECT_EQ(a.state.totals.wait_outs, b.state.totals.wait_outs);
  EXPECT_EQ(a.state.totals.stragglers, b.state.totals.stragglers);
  EXPECT_EQ(a.state.totals.messages, b.state.totals.messages);
  EXPECT_EQ(a.state.totals.bytes, b.state.totals.bytes);
  const BankState& x = a.state.bank;
  const BankState& y = b.state.bank;
  ASSERT_EQ(x.models.size(), y.models.size());
  for (std::size_t m = 0; m < x.models.size(); ++m) {
    EXPECT_EQ(x.models[m].version, y.models[m].version);
    EXPECT_EQ(*x.models[m].parameters, *y.models[m].parameters);
    EXPECT_EQ(x.models[m].optimizer.steps, y.models[m].optimizer.steps);
    EXPECT_EQ(x.models[m].optimizer.arrays, y.models[m].optimizer.arrays);
  }
  ASSERT_EQ(x.messages.size(), y.messages.size());
  EXPECT_EQ(x.messages[0].id, y.messages[0].id);
  EXPECT_EQ(x.messages[0].values, y.messages[0].values);
  EXPECT_EQ(x.messages[0].loss, y.messages[0].loss);
  EXPECT_EQ(x.messages[0].samples, y.messages[0].samples);
  ASSERT_EQ(x.open.size(), y.open.size());
  EXPECT_EQ(x.open[0].job, y.open[0].job);
  EXPECT_EQ(x.open[0].sum, y.open[0].sum);
  EXPECT_EQ(x.open[0].counted, y.open[0].counted);
  EXPECT_EQ(x.open[0].loss, y.open[0].loss);
  EXPECT_EQ(x.open[0].samples, y.open[0].samples);
}

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The newest whole one, and what was said.
std::pair<std::optional<FoundCheckpoint>, std::string> newest(const std::string& path) {
  std::string said;
  auto found = read_newest_checkpoint(path, [&](const std::string& line) { said += line + "\n"; });
  EXPECT_TRUE(found) << found.error().message;
  return {found ? std::move(*found) : std::nullopt, said};
}

TEST(Checkpoint, IsReadBackAsItWasAndTheNewestFewAreKept) {
  const Scratch scratch;
  auto folder = CheckpointFolder::open(scratch.path() + "/deep", 2);
  ASSERT_TRUE(folder) << folder.error().message;
  EXPECT_TRUE(folder->empty());
  for (const int jobs : {10, 20, 30}) ASSERT_TRUE(folder->write(sample(jobs)));
  EXPECT_EQ(names_in(scratch.path() + "/deep"),
            (std::vector<std::string>{"checkpoint-000002", "checkpoint-000003"}));
  const auto [found, said] = newest(scratch.path() + "/deep");
  ASSERT_TRUE(found);
  EXPECT_EQ(said, "");
  EXPECT_TRUE(found->path.ends_with("/deep/checkpoint-000003"));
  expect_equal(found->checkpoint, sample(30));
  // A later process goes on counting.
  auto again = CheckpointFolder::open(scratch.path() + "/deep", 1);
  EXPECT_FALSE(again->empty());
  ASSERT_TRUE(again->write(sample(40)));
  EXPECT_EQ(names_in(scratch.path() + "/deep"), std::vector<std::string>{"checkpoint-000004"});
}

TEST(Checkpoint, OneThatIsDamagedIsLeftOutForTheOneBefore) {
  const Scratch scratch;
  auto folder = CheckpointFolder::open(scratch.path(), 9);
  ASSERT_TRUE(folder->write(sample(10)));
  ASSERT_TRUE(folder->write(sample(20)));
  const std::string last = scratch.path() + "/checkpoint-000002/";
  const std::string kept = scratch.path() + ".kept";
  fs::copy(last, kept, fs::copy_options::recursive);
  for (const char* name : {"state.json", "weights.safetensors", "flight.safetensors", "COMPLETE"}) {
    const auto size = fs::file_size(last + name);
    for (const std::string how : {"cut", "flipped", "missing"}) {
      if (how == "cut") fs::resize_file(last + name, size - 3);
      if (how == "flipped") {
        std::fstream file(last + name, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(size / 2));
        file.put('\x55');
      }
      if (how == "missing") fs::remove(last + name);
      const auto [found, said] = newest(scratch.path());
      ASSERT_TRUE(found);
      EXPECT_EQ(found->checkpoint.state.totals.jobs, 10) << name << " " << how;
      EXPECT_NE(said.find("checkpoint-000002 is left out"), std::string::npos) << said;
      fs::copy_file(kept + "/" + name, last + name, fs::copy_options::overwrite_existing);
    }
  }
  EXPECT_EQ(newest(scratch.path()).first->checkpoint.state.totals.jobs, 20);
  fs::remove_all(kept);
}

TEST(Checkpoint, WhatAWriterLeftUnfinishedIsTakenAway) {
  const Scratch scratch;
  fs::create_directories(scratch.path() + "/.checkpoint-000001.tmp");
  std::ofstream(scratch.path() + "/.checkpoint-000001.tmp/weights.safetensors") << "half";
  std::ofstream(scratch.path() + "/notes.txt") << "not ours";
  const auto [found, said] = newest(scratch.path());
  EXPECT_FALSE(found);
  auto folder = CheckpointFolder::open(scratch.path(), 1);
  ASSERT_TRUE(folder);
  EXPECT_TRUE(folder->empty());
  EXPECT_EQ(names_in(scratch.path()), std::vector<std::string>{"notes.txt"});
}

TEST(Checkpoint, AFullDiskIsAnErrorAndTheOlderOnesStay) {
  const Scratch scratch;
  auto folder = CheckpointFolder::open(scratch.path(), 1);
  ASSERT_TRUE(folder->write(sample(10)));
  const auto old_action = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{256, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto written = folder->write(sample(20));
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_action);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kFailed);
  EXPECT_NE(written.error().message.find("File too large"), std::string::npos);
  EXPECT_EQ(names_in(scratch.path()), std::vector<std::string>{"checkpoint-000001"});
  EXPECT_EQ(newest(scratch.path()).first->checkpoint.state.totals.jobs, 10);
  ASSERT_TRUE(folder->write(sample(30)));  // there is room again
  EXPECT_EQ(newest(scratch.path()).first->checkpoint.state.totals.jobs, 30);
}

TEST(Checkpoint, FoldersThatCannotBeAreErrorsThatNameThem) {
  const Scratch scratch;
  std::ofstream(scratch.path()) << "a file";
  EXPECT_NE(CheckpointFolder::open(scratch.path() + "/x", 1).error().message.find("cannot be made"),
            std::string::npos);
  EXPECT_EQ(read_newest_checkpoint("/no/such/folder", {}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(CheckpointFolder::open(scratch.path(), 0).error().message,
            "0 checkpoints to keep; at least 1");
}

}  // namespace
}  // namespace paceline
