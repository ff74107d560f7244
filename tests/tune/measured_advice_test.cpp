// What is advised for two recorded training jobs of ten workers each. Their times are those of
// mini-batches, so they are proportional to the load: with base 0, a worker that took x (in
// thousandths of a unit of time) for its tenth takes 10 x / 1000 for all of the data.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "paceline/tune.hpp"
#include "support/shared_files.hpp"

namespace paceline {
namespace {

/// The k-th sample of each worker is round k.
class ProportionalTimes final : public DelaySource {
 public:
  explicit ProportionalTimes(const std::string& path) {
    std::ifstream file(path);
    std::map<int, std::vector<double>> by_worker;
    std::string line;
    std::getline(file, line);  // header
    while (std::getline(file, line)) {
      std::istringstream fields(line);
      std::string number, worker, gpu, time, sample;
      for (std::string* field : {&number, &worker, &gpu, &time, &sample}) {
        std::getline(fields, *field, ',');
      }
      if (!sample.empty()) by_worker[std::stoi(worker)].push_back(std::stod(sample));
    }
    for (auto& [worker, samples] : by_worker) samples_.push_back(std::move(samples));
  }

  int workers() const override { return static_cast<int>(samples_.size()); }

  int rounds() const {
    std::size_t least = samples_.front().size();
    for (const auto& samples : samples_) least = std::min(least, samples.size());
    return static_cast<int>(least);
  }

  Delay delay(Round round, WorkerId worker) const override {
    const double sample = samples_[worker.index()][static_cast<std::size_t>(round.value)];
    return {Seconds{0}, Seconds{10 * sample / 1000}};
  }

 private:
  std::vector<std::vector<double>> samples_;
};

Expected<Tuning> tuned(const std::string& path, double storage) {
  const ProportionalTimes times(path);
  TuneOptions options;
  options.storage = storage;
  return tune(DelayTable::record(times, times.rounds()), options);
}

TEST(MeasuredAdvice, DropsTheSlowHalfWhereStorageIsScarce) {
  PACELINE_NEED_SHARED_FILE(path, "traces/alibaba-pai-job4.csv");
  const auto tuning = tuned(path, 0.2);
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_EQ(tuning->slow_workers, (std::vector<int>{0, 5, 6, 7, 8}));
  EXPECT_EQ(tuning->schemes[tuning->recommended].left_out, tuning->slow_workers);
  EXPECT_TRUE(tuning->advice.starts_with("Half of your workers are always slow: drop them"))
      << tuning->advice;
}

// With half of the data on each, relay gains more from what the slow ones can still do.
TEST(MeasuredAdvice, SaysThatRelaySparesTheSlowHalf) {
  PACELINE_NEED_SHARED_FILE(path, "traces/alibaba-pai-job4.csv");
  const auto tuning = tuned(path, 0.5);
  ASSERT_TRUE(tuning) << tuning.error().message;
  EXPECT_EQ(tuning->schemes[tuning->recommended].family, "relay");
  EXPECT_NE(tuning->advice.find("Half of your workers are always slow (0, 5, 6, 7 and 8): this "
                                "gives them less to do; if you drop them, uncoded on the 5 best"),
            std::string::npos)
      << tuning->advice;
}

// Where every worker reaches all of the data, slow ones are better given less to do than dropped.
TEST(MeasuredAdvice, SparesTheSlowHalfWhereItCan) {
  PACELINE_NEED_SHARED_FILE(path, "traces/alibaba-pai-job4.csv");
  const auto tuning = tuned(path, 1);
  ASSERT_TRUE(tuning) << tuning.error().message;
  const TunedScheme& best = tuning->schemes[tuning->recommended];
  EXPECT_NE(best.info.parameters.find("speed=8"), std::string::npos) << tuning->advice;
  EXPECT_LT(best.seconds_per_job.mean, tuning->schemes[1].seconds_per_job.mean);  // uncoded-fewer
}

TEST(MeasuredAdvice, AddsLittleOrNoRedundancyWhereItDoesNotPay) {
  PACELINE_NEED_SHARED_FILE(path, "traces/alibaba-pai-job3.csv");
  const auto tuning = tuned(path, 1);
  ASSERT_TRUE(tuning) << tuning.error().message;
  const TunedScheme& best = tuning->schemes[tuning->recommended];
  EXPECT_LE(best.info.load, 1.5 / 10 * best.info.jobs_per_round) << tuning->advice;
}

}  // namespace
}  // namespace paceline
