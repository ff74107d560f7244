#include "paceline/metrics.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

namespace paceline {
namespace {

namespace fs = std::filesystem;

class MetricsFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "paceline-report-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory = name;
  }

  void TearDown() override { fs::remove_all(directory); }

  std::string path(const char* name) const { return (directory / name).string(); }

  static std::string content(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }

  int files() const {
    return static_cast<int>(
        std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
  }

  fs::path directory;
};

RoundRecord record(int round) {
  RoundRecord made;
  made.round = Round{round};
  made.opened = Seconds{1.5};
  made.closed = Seconds{2.25};
  made.busy = 4;
  made.answers = Answers(4);
  made.stragglers = WorkerSet(4);
  made.stragglers.insert(WorkerId{1});
  made.stragglers.insert(WorkerId{3});
  made.decoded = {JobId{6}, JobId{7}};
  return made;
}

// Files larger than `bytes` cannot be written while it lives: a full disk, made to order.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }

  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;

  ~SizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(MetricsFile, NamesWhatHappenedToAWorker) {
  Expected<MetricsWriter> writer = MetricsWriter::create(path("m.jsonl"));
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->note(Round{7}, WorkerId{3}, "is \"stopped\""));
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(content(path("m.jsonl")),
            R"({"event":"fault","round":7,"worker":3,"what":"is \"stopped\""})"
            "\n");
}

TEST_F(MetricsFile, HasALinePerRoundThatCanBeReadWhileTheRunGoesOn) {
  auto writer = MetricsWriter::create(path("metrics.jsonl"));
  ASSERT_TRUE(writer);
  const std::vector<JobLoss> losses = {{JobId{6}, ModelId{2}, 0.5, 1e-30},
                                       {JobId{7}, ModelId{3}, 0.25, 0.125, true}};
  ASSERT_TRUE(writer->write("gc:s=2", record(7), losses));
  EXPECT_EQ(
      content(path("metrics.jsonl")),
      R"({"scheme":"gc:s=2","round":7,"opened":1.5,"closed":2.25,"busy":4,"stragglers":[1,3],)"
      R"("decoded":[6,7],"losses":[{"job":6,"model":2,"loss":0.5},)"
      R"({"job":7,"model":3,"loss":0.25,"residual":0.125,"skipped":true}],"waited_out":false})"
      "\n");
  ASSERT_TRUE(writer->write("a \"quoted\" scheme", record(8), {}));
  ASSERT_TRUE(writer->close());
  std::istringstream lines(content(path("metrics.jsonl")));
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    EXPECT_EQ(nlohmann::json::parse(line)["round"], 7 + count++);
  }
  EXPECT_EQ(count, 2);
}

TEST_F(MetricsFile, HasTablesWithARowPerRoundAndPerJob) {
  auto table = MetricsTable::create(directory.string(), 4);
  ASSERT_TRUE(table);
  const std::vector<JobLoss> losses = {{JobId{6}, ModelId{2}, 0.5, 0, false},
                                       {JobId{7}, ModelId{3}, std::nan(""), 0.125, true}};
  ASSERT_TRUE(table->write("gc:s=2,code=\"x\"", record(7), losses));
  ASSERT_TRUE(table->write("relay", record(8), {}));
  ASSERT_TRUE(table->close());
  EXPECT_EQ(content(path("metrics.csv")),
            "scheme,round,opened_s,closed_s,busy,stragglers,straggler_workers,decoded,waited_out\n"
            "\"gc:s=2,code=\"\"x\"\"\",7,1.500000,2.250000,4,2,1 3,2,0\n"
            "\"relay\",8,1.500000,2.250000,4,2,1 3,2,0\n");
  EXPECT_EQ(content(path("losses.csv")),
            "scheme,round,time_s,job,model,update,loss,residual,skipped\n"
            "\"gc:s=2,code=\"\"x\"\"\",7,2.250000,6,2,1,0.5,0,0\n"
            "\"gc:s=2,code=\"\"x\"\"\",7,2.250000,7,3,1,,0.125,1\n");
}

TEST_F(MetricsFile, ReportsAFullDiskInTheRoundThatMeetsIt) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  auto writer = MetricsWriter::create("/dev/full");
  ASSERT_TRUE(writer);
  const auto written = writer->write("uncoded", record(0), {});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kFailed);
  EXPECT_EQ(written.error().message, "cannot write '/dev/full': No space left on device");
}

TEST_F(MetricsFile, NamesAPathWhereNothingCanBeCreated) {
  const auto writer = MetricsWriter::create(path("missing/metrics.jsonl"));
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(writer.error().message,
            "cannot create '" + path("missing/metrics.jsonl") +
                "': No such file or directory; its directory must exist");
}

TEST_F(MetricsFile, MayBeMovedAndIsClosedOnce) {
  auto writer = MetricsWriter::create(path("metrics.jsonl"));
  ASSERT_TRUE(writer);
  MetricsWriter moved = std::move(writer).value();
  ASSERT_TRUE(moved.close());
  EXPECT_THROW((void)moved.close(), ContractViolation);
  EXPECT_THROW((void)moved.write("gc", record(0), {}), ContractViolation);
}

TEST_F(MetricsFile, WholeFilesReplaceOldOnesAndLeaveNothingElse) {
  ASSERT_TRUE(write_text_file(path("config.json"), "old"));
  ASSERT_TRUE(write_text_file(path("config.json"), "new text"));
  EXPECT_EQ(content(path("config.json")), "new text");
  EXPECT_EQ(files(), 1);
}

TEST_F(MetricsFile, AFileThatDoesNotFitLeavesTheOldOneAndNoHalfOne) {
  ASSERT_TRUE(write_text_file(path("report.html"), "old"));
  {
    const SizeLimit limit(1000);
    const auto written = write_text_file(path("report.html"), std::string(5000, 'x'));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::kFailed);
    EXPECT_EQ(written.error().message,
              "cannot write '" + path("report.html") + "': File too large");
    EXPECT_FALSE(write_text_file(path("fresh.html"), std::string(5000, 'x')));
  }
  EXPECT_EQ(content(path("report.html")), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(MetricsFile, AFileCannotReplaceADirectory) {
  fs::create_directory(path("taken"));
  const auto written = write_text_file(path("taken"), "text");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "cannot replace '" + path("taken") + "': Is a directory");
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace paceline
