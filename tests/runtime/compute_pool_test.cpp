#include "runtime/compute_pool.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <mutex>
#include <vector>

#include "runtime/runtime_support.hpp"

namespace paceline {
namespace {

struct Call final : Work {
  explicit Call(std::function<void()> f) : what(std::move(f)) {}

  void run(ComputeSlot&) override { what(); }

  std::function<void()> what;
};

std::vector<std::unique_ptr<GradientSource>> one_source() {
  std::vector<std::unique_ptr<GradientSource>> sources;
  sources.push_back(std::make_unique<test::QuadraticSource>());
  return sources;
}

SteadyTime second(int value) { return SteadyTime(std::chrono::seconds(value)); }

// One slot, kept busy until `go`, so that what is submitted meanwhile queues up.
class OneSlot : public testing::Test {
 protected:
  OneSlot()
      : blocker([this] {
          begun.count_down();
          go.wait();
        }) {
    pool.submit(blocker, second(0));
    begun.wait();
  }

  std::latch begun{1}, go{1};
  Call blocker;
  ComputePool pool{1, one_source()};
};

TEST_F(OneSlot, DoesWhatIsWantedFirstFirst) {
  std::vector<int> order;
  std::latch done{4};
  const auto note = [&](int i) {
    return [&, i] {
      order.push_back(i);
      done.count_down();
    };
  };
  Call last(note(4)), third(note(3)), first(note(1)), second_first(note(2));
  pool.submit(last, kNoDeadline);
  pool.submit(third, second(9));
  pool.submit(first, second(5));
  pool.submit(second_first, second(5));
  go.count_down();
  done.wait();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST_F(OneSlot, NeverRunsWorkThatWasWithdrawn) {
  std::latch done{1};
  bool ran = false;
  Call withdrawn([&] { ran = true; });
  Call after([&] { done.count_down(); });
  pool.submit(withdrawn, second(1));
  pool.submit(after, second(2));
  EXPECT_TRUE(pool.withdraw(withdrawn));
  EXPECT_FALSE(pool.withdraw(withdrawn));
  EXPECT_FALSE(pool.withdraw(blocker)) << "it has begun";
  go.count_down();
  done.wait();
  EXPECT_FALSE(ran);
}

TEST_F(OneSlot, TakesNoMoreWorkOnceItIsClosed) {
  go.count_down();
  pool.close();
  bool ran = false;
  Call late([&] { ran = true; });
  pool.submit(late, second(0));
  pool.close();
  EXPECT_FALSE(pool.withdraw(late)) << "it was not queued";
  EXPECT_FALSE(ran);
}

TEST(ComputePool, StartsAndEndsManyThreadsQuickly) {
  const SteadyTime begin = std::chrono::steady_clock::now();
  std::latch all{256};
  std::vector<std::unique_ptr<Call>> calls;
  {
    ComputePool pool(256, one_source());
    // Every call waits for all others: each needs a thread of its own.
    for (int i = 0; i < 256; ++i) {
      calls.push_back(std::make_unique<Call>([&] { all.arrive_and_wait(); }));
      pool.submit(*calls.back(), second(i));
    }
    all.wait();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace paceline
