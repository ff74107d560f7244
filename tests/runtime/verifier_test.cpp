#include "runtime/verifier.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <latch>
#include <limits>
#include <memory>
#include <new>

#include "runtime/runtime_support.hpp"

namespace paceline {
namespace {

class VerifierTest : public testing::Test {
 protected:
  Verifier& with(test::QuadraticSource::Hook hook = {}) {
    std::vector<std::unique_ptr<GradientSource>> sources;
    sources.push_back(std::make_unique<test::QuadraticSource>(std::move(hook)));
    pool_ = std::make_unique<ComputePool>(2, sources);
    verifier_ = std::make_unique<Verifier>(
        *pool_,
        sampler_,
        VerifierOptions{
            .length = test::kLength, .micro_batch = 5, .most_bytes = 1, .interrupted = [this] {
              return interrupted_.load();
            }});
    return *verifier_;
  }

  std::vector<float> direct(Version read) const {
    std::vector<int> batch(test::kBatch);
    sampler_.batch(ModelId{0}, read, batch);
    std::vector<float> sum(test::kLength, 0.0F);
    const std::vector<float> ones(test::kBatch, 1.0F);
    test::QuadraticSource().add_gradient(*parameters(), batch, ones, sum);
    return sum;
  }

  Parameters parameters() const {
    return std::make_shared<const std::vector<float>>(test::kLength, 0.25F);
  }

  test::CircularSampler sampler_;
  std::atomic<bool> interrupted_{false};
  std::unique_ptr<ComputePool> pool_;
  std::unique_ptr<Verifier> verifier_;
};

TEST_F(VerifierTest, ComparesEverythingSubmitted) {
  Verifier& verifier = with();
  for (int v = 0; v < 50; ++v) {
    ASSERT_TRUE(
        verifier.submit(JobId{v}, ModelId{0}, Version{v}, parameters(), direct(Version{v})));
  }
  const auto verified = verifier.finish();
  ASSERT_TRUE(verified);
  EXPECT_EQ(verified->count, 50);
  EXPECT_LT(verified->worst, 1e-6);
}

TEST_F(VerifierTest, ReportsTheLargestError) {
  Verifier& verifier = with();
  for (const float factor : {1.0F, 1.5F, 1.1F}) {
    auto decoded = direct(Version{2});
    for (float& value : decoded) value *= factor;
    ASSERT_TRUE(verifier.submit(JobId{0}, ModelId{0}, Version{2}, parameters(), decoded));
  }
  EXPECT_NEAR(verifier.finish().value().worst, 0.5, 1e-5);
}

TEST_F(VerifierTest, AnErrorThatIsNotANumberIsNotOverlooked) {
  Verifier& verifier =
      with([](auto, auto out) { out[0] = std::numeric_limits<float>::quiet_NaN(); });
  ASSERT_TRUE(verifier.submit(JobId{0}, ModelId{0}, Version{0}, parameters(), direct(Version{0})));
  EXPECT_TRUE(std::isnan(verifier.finish().value().worst));
}

TEST_F(VerifierTest, AnExceptionEndsItWithTheJobOnTop) {
  Verifier& verifier = with([](auto, auto) { throw std::bad_alloc(); });
  ASSERT_TRUE(verifier.submit(JobId{7}, ModelId{0}, Version{0}, parameters(), direct(Version{0})));
  const auto verified = verifier.finish();
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().message, "verification of job 7: out of memory");
}

TEST_F(VerifierTest, AFullQueueMakesTheCallerWaitAndLosesNothing) {
  std::latch go{1};
  Verifier& verifier = with([&](auto, auto) { go.wait(); });
  const auto submit = [&] {
    return verifier.submit(JobId{0}, ModelId{0}, Version{0}, parameters(), direct(Version{0}));
  };
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(submit());
  interrupted_ = true;
  EXPECT_FALSE(submit()) << "the fifth has to wait, so it sees the interruption";
  interrupted_ = false;
  go.count_down();
  ASSERT_TRUE(submit());
  EXPECT_EQ(verifier.finish().value().count, 5);
}

TEST_F(VerifierTest, AnInterruptionEndsTheWait) {
  // Shared: the thread that waits may look at it after this test has returned.
  const auto go = std::make_shared<std::latch>(1);
  Verifier& verifier = with([go](auto, auto) { go->wait(); });
  ASSERT_TRUE(verifier.submit(JobId{0}, ModelId{0}, Version{0}, parameters(), direct(Version{0})));
  interrupted_ = true;
  const auto verified = verifier.finish();
  go->count_down();
  ASSERT_FALSE(verified);
  EXPECT_EQ(verified.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace paceline
