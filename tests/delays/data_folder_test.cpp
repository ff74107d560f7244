// The profiles of data/ are what data/README.md says: draws of our own bursty model.
#include <gtest/gtest.h>

#include <string>

#include "paceline/delays.hpp"

namespace paceline {
namespace {

void expect_drawn_from(const std::string& file, const std::string& model, int workers) {
  const auto profile = read_delay_profile(PACELINE_SOURCE_DIR "/data/" + file);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->workers, workers);
  EXPECT_EQ(profile->rounds, 60);
  EXPECT_EQ(profile->load, 0);
  const auto delays = make_delay_model(model, workers, 1);
  ASSERT_TRUE(delays) << delays.error().message;
  for (int r = 0; r < 60; ++r) {
    for (int i = 0; i < workers; ++i) {
      EXPECT_NEAR(
          profile->at(r, i), (*delays)->delay(Round{r}, WorkerId{i}).base.count(), 0.00005001);
    }
  }
}

TEST(DataFolder, HoldsTheModelsItNames) {
  const std::string model = "bursty:base=0.08,noise=0.01,slow=6,bad=0.04,good=0.45,spread=0.08";
  expect_drawn_from("bursty-16x60.csv", model, 16);
  expect_drawn_from("bursty-64x60.csv", model, 64);
}

}  // namespace
}  // namespace paceline
