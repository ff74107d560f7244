// Every question against a sorted list of the answers, with many equal times, idle workers and
// workers that never answer.
#include "paceline/arrivals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "paceline/random.hpp"

namespace paceline {
namespace {

struct Sample {
  Arrivals arrivals{1};
  std::vector<Moment> sorted;  ///< of all that ever answer
  WorkerSet busy{1};
};

Sample draw(RandomStream& random, int n) {
  const std::uint64_t steps = 1 + random.below(20);
  const bool all_work = random.below(2) == 0;
  Sample sample{Arrivals(n), {}, WorkerSet(n)};
  std::vector<double> loads;
  std::vector<double> took;
  const Seconds opened{0.7};
  for (int i = 0; i < n; ++i) {
    const bool works = all_work || random.below(4) > 0;
    const bool dead = random.below(30) == 0;
    loads.push_back(works ? 0.1 : -1);
    took.push_back(dead ? kNever.count() : 0.3 * static_cast<double>(random.below(steps)));
    if (works) sample.busy.insert(WorkerId{i});
    if (works && !dead) sample.sorted.push_back({opened + Seconds{took.back()}, i});
  }
  std::ranges::sort(sample.sorted);
  sample.arrivals.open(opened, loads, took);
  return sample;
}

TEST(Arrivals, AnswerAsASortedListWould) {
  RandomStream random(1, "arrivals");
  for (int run = 0; run < 400; ++run) {
    const int n = 1 + static_cast<int>(random.below(run < 350 ? 20 : 400));
    Sample sample = draw(random, n);
    Arrivals& arrivals = sample.arrivals;
    const auto answers = static_cast<int>(sample.sorted.size());
    const bool all = answers == sample.busy.size();
    EXPECT_EQ(arrivals.busy(), sample.busy);
    EXPECT_EQ(arrivals.busy_count(), sample.busy.size());
    EXPECT_EQ(arrivals.first(), answers > 0 ? sample.sorted.front() : kAfterAllTime);
    const Moment end = answers > 0 ? sample.sorted.back() : kBeforeAnswers;
    EXPECT_EQ(arrivals.last(), all ? end : kAfterAllTime);
    EXPECT_EQ(arrivals.nth(0), kBeforeAnswers);
    WorkerSet missing = sample.busy;
    WorkerSet found(n);
    for (int k = 0; k <= n; ++k) {
      const bool comes = k >= 1 && k <= answers;
      const Moment moment = comes ? sample.sorted[static_cast<std::size_t>(k - 1)]
                                  : (k == 0 ? kBeforeAnswers : kAfterAllTime);
      EXPECT_EQ(arrivals.nth(k), moment);
      if (k > answers) continue;
      if (comes) missing.erase(WorkerId{moment.worker});
      EXPECT_EQ(arrivals.count_by(moment), k);
      arrivals.missing_after(moment, found);
      EXPECT_EQ(found, missing);
      const auto few = [&](const WorkerSet& set) { return set.size() <= sample.busy.size() - k; };
      EXPECT_EQ(arrivals.first_enough(few), moment);
    }
    const auto never = [&](const WorkerSet& set) {
      return set.size() < sample.busy.size() - answers;
    };
    EXPECT_EQ(arrivals.first_enough(never), kAfterAllTime);
  }
}

TEST(Arrivals, ATimerComesAfterTheAnswersOfItsTime) {
  Arrivals arrivals(4);
  arrivals.open(Seconds{1}, std::vector<double>(4, 0.5), std::vector<double>{2, 1, 1, 3});
  EXPECT_EQ(arrivals.count_by({Seconds{2}, Moment::kTimer}), 2);
  EXPECT_EQ(arrivals.count_by({Seconds{2}, 1}), 1);
  EXPECT_EQ(arrivals.count_by({Seconds{1.5}, Moment::kTimer}), 0);
}

TEST(Arrivals, WithoutSomeTheyNeverAnswer) {
  RandomStream random(3, "arrivals");
  for (int repeat = 0; repeat < 20; ++repeat) {
    Sample sample = draw(random, 12);
    WorkerSet left_out(12);
    for (int i = 0; i < 12; ++i) {
      if (random.below(3) == 0) left_out.insert(WorkerId{i});
    }
    Arrivals& rest = sample.arrivals.without(left_out);
    EXPECT_EQ(rest.busy(), sample.busy);
    for (int i = 0; i < 12; ++i) {
      const WorkerId worker{i};
      const Moment expected =
          left_out.contains(worker) ? Moment{kNever, i} : sample.arrivals.moment(worker);
      EXPECT_EQ(rest.moment(worker), expected);
    }
  }
}

TEST(Arrivals, APartIsEveryMthWorker) {
  RandomStream random(2, "arrivals");
  for (const int m : {1, 2, 3}) {
    Sample sample = draw(random, 12);
    for (int u = 0; u < m; ++u) {
      Arrivals& part = sample.arrivals.part(u, m);
      ASSERT_EQ(part.workers(), 12 / m);
      for (int w = 0; w < 12 / m; ++w) {
        const WorkerId worker{w * m + u};
        EXPECT_EQ(part.busy().contains(WorkerId{w}), sample.busy.contains(worker));
        EXPECT_EQ(Arrivals::whole(part.moment(WorkerId{w}), u, m), sample.arrivals.moment(worker));
      }
    }
  }
  EXPECT_EQ(Arrivals::whole(kAfterAllTime, 1, 2), kAfterAllTime);
  EXPECT_EQ(Arrivals::whole(kBeforeAnswers, 1, 2), kBeforeAnswers);
}

}  // namespace
}  // namespace paceline
