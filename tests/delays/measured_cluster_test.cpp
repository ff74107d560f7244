#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "paceline/delays.hpp"
#include "support/shared_files.hpp"

namespace paceline {
namespace {

class MeasuredClusterTest : public ::testing::Test {
 protected:
  MeasuredClusterTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("paceline_") + test->name() + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }

  ~MeasuredClusterTest() override {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }

  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }

 private:
  std::filesystem::path folder_;
};

std::vector<std::string> measured_run(const std::string& name,
                                      const std::vector<std::string>& loads) {
  std::vector<std::string> paths;
  for (const std::string& load : loads) {
    paths.push_back(test::shared_file("traces/lambda-" + name + "-load" + load + ".csv"));
  }
  return paths;
}

TEST(LoadLine, IsTheLeastSquaresLine) {
  // y = 1, 2 at x = 0; 4, 5 at x = 1: slope 3, intercept 1.5
  const std::vector<DelayProfile> profiles = {{1, 2, 0, {1, 2}}, {1, 2, 1, {4, 5}}};
  const auto line = fit_load_line(profiles);
  ASSERT_TRUE(line);
  EXPECT_DOUBLE_EQ(line->slope, 3);
  EXPECT_DOUBLE_EQ(line->intercept, 1.5);
}

TEST(LoadLine, NeedsTwoLoadsAndTimesThatGrow) {
  const std::vector<DelayProfile> one = {{1, 1, 0.5, {1}}, {1, 1, 0.5, {2}}};
  EXPECT_FALSE(fit_load_line(one));
  const std::vector<DelayProfile> falling = {{1, 1, 0, {2}}, {1, 1, 1, {1}}};
  const auto line = fit_load_line(falling);
  ASSERT_FALSE(line);
  EXPECT_NE(line.error().message.find("times fall by 1 s"), std::string::npos);
}

TEST_F(MeasuredClusterTest, TheLowestLoadIsTheBaseInWhateverOrder) {
  const auto cluster = read_measured_cluster(std::vector<std::string>{
      file("b.csv", "# load=1\n3,4\n"), file("a.csv", "# load=0.5\n2,3\n")});
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->base.load, 0.5);
  EXPECT_EQ(cluster->files.size(), 2U);
  ASSERT_TRUE(cluster->line);
  EXPECT_DOUBLE_EQ(cluster->line->slope, 2);
}

TEST_F(MeasuredClusterTest, ALineSteeperThanTheFastestAnswersAllowIsFlattenedWithAWarning) {
  // The line takes 8 s per unit of load; 1 s at load 0.25 leaves room for 4.
  const auto cluster = read_measured_cluster(std::vector{
      file("low.csv", "# load=0.25\n1,3\n2,2\n"), file("high.csv", "# load=0.75\n6,6\n5,7\n")});
  ASSERT_TRUE(cluster) << cluster.error().message;
  ASSERT_TRUE(cluster->line);
  EXPECT_DOUBLE_EQ(cluster->line->slope, 4);
  EXPECT_DOUBLE_EQ(cluster->line->intercept, 2);  // through the mean: 4 s at load 0.5
  ASSERT_EQ(cluster->base.warnings.size(), 1);
  EXPECT_NE(cluster->base.warnings.front().find("times grow by 8 s per unit of load"),
            std::string::npos);
  EXPECT_TRUE(make_replay(cluster->base, {.slope = cluster->line->slope}));
}

TEST_F(MeasuredClusterTest, RefusesFilesThatDoNotBelongTogether) {
  const std::string a = file("a.csv", "# load=0.5\n2,3\n");
  const auto error = [](const std::vector<std::string>& paths, const ImportOptions& options = {}) {
    const auto cluster = read_measured_cluster(paths, options);
    return cluster ? std::string("no error") : cluster.error().message;
  };
  EXPECT_NE(error({a, file("b.csv", "# load=0.5\n2,3\n")}).find("both have load 0.5"),
            std::string::npos);
  EXPECT_NE(error({a, file("c.csv", "# load=1\n2\n")}).find("allowed: files of one cluster"),
            std::string::npos);
  EXPECT_NE(error({a, a}, {.load = 0.5}).find("--load is that of one file"), std::string::npos);
  EXPECT_NE(error({}).find("no delay profile"), std::string::npos);
}

TEST_F(MeasuredClusterTest, LeavesOutFailedCallsWithAWarning) {
  const auto cluster =
      read_measured_cluster(std::vector<std::string>{file("a.csv", "# load=0\n0.01,0.01,0.02\n"),
                                                     file("b.csv", "# load=0.5\n2,3,3\n"),
                                                     file("c.csv", "# load=1\n4,5,5\n")});
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->base.load, 0.5);
  ASSERT_EQ(cluster->base.warnings.size(), 1U);
  EXPECT_NE(cluster->base.warnings[0].find("a.csv"), std::string::npos);
  EXPECT_NE(cluster->base.warnings[0].find("it is left out"), std::string::npos);
}

TEST_F(MeasuredClusterTest, AFileInAnotherUnitIsDoubtful) {
  const auto cluster =
      read_measured_cluster(std::vector<std::string>{file("a.csv", "# load=0\n2,3,3\n"),
                                                     file("b.csv", "# load=0.5\n3,4,4\n"),
                                                     file("c.csv", "# load=1\n4000,5000,5000\n")});
  ASSERT_TRUE(cluster) << cluster.error().message;
  ASSERT_GE(cluster->base.warnings.size(), 1U);
  EXPECT_NE(
      cluster->base.warnings[0].find("c.csv: typical times of 5000 s, 4 s in the other files"),
      std::string::npos)
      << cluster->base.warnings[0];
}

// Source: the notes of the measurements.
TEST(MeasuredCluster, AMeasuredRunHasItsPublishedLine) {
  PACELINE_NEED_SHARED_FILE(folder, "traces");
  const auto cluster = read_measured_cluster(
      measured_run("cnn-long-canada-b2048", {"0.000", "0.250", "0.500", "0.750", "1.000"}));
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_NEAR(cluster->line->slope, 1.12175, 5e-6);
  EXPECT_NEAR(cluster->line->intercept, 0.71082, 5e-6);
  EXPECT_EQ(cluster->base.load, 0);
  EXPECT_EQ(cluster->files.size(), 5U);
}

TEST(MeasuredCluster, ARunWhoseLowestLoadFailedStartsAtTheNext) {
  PACELINE_NEED_SHARED_FILE(folder, "traces");
  const auto cluster = read_measured_cluster(measured_run(
      "resnet18-b-canada-b256", {"0.000", "0.020", "0.250", "0.500", "0.750", "1.000"}));
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->base.load, 0.02);
  EXPECT_EQ(cluster->files.size(), 5U);
  EXPECT_NE(cluster->base.warnings.at(0).find("looks like failed calls"), std::string::npos);
}

}  // namespace
}  // namespace paceline
