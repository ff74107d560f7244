// The feasibility test (CloseRule::kDecodable) against slow versions that replay the whole history
// from the definitions, on random patterns far outside every straggler model. Sets that may not
// close are thinned out until they may, so a deadline that could still break would be seen.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "paceline/random.hpp"
#include "support/scheme_player.hpp"

namespace paceline {
namespace {

using test::SchemePlayer;

using History = std::vector<WorkerSet>;  // who straggled in each round

struct Case {
  int workers, B, W, lambda;
  std::string code;

  int groups() const { return workers / (lambda + 1); }  // of repetition inside M-SGC

  SchemePlayer player(const std::string& scheme, int jobs) const {
    const std::string text = scheme + ":B=" + std::to_string(B) + ",W=" + std::to_string(W) +
                             ",lambda=" + std::to_string(lambda) + ",code=" + code;
    auto made = make_scheme(text, {.workers = workers, .jobs = jobs, .keep_promise = false});
    if (!made) ADD_FAILURE() << made.error().message;
    return {std::move(made).value(), jobs};
  }
};

/// Whether answers of these workers decode: enough of them, or one of each group i mod Q.
bool decodes(const Case& c, int s, int groups, const std::set<int>& answered) {
  if (c.code == "cyclic") return static_cast<int>(answered.size()) >= c.workers - s;
  std::set<int> covered;
  for (const int i : answered) covered.insert(i % groups);
  return static_cast<int>(covered.size()) == groups;
}

/// M-SGC, sections 5.3 and 5.4: job t is decodable if nobody straggles after `history`.
bool m_sgc_job_is_safe(const Case& c, int t, const History& history) {
  const int pieces = c.W - 1;
  std::vector<std::set<int>> owed(static_cast<std::size_t>(c.workers));
  for (auto& list : owed) {
    for (int piece = 0; piece < pieces; ++piece) list.insert(piece);
  }
  std::vector<std::set<int>> delivered(static_cast<std::size_t>(c.B));
  for (int slot = 0; slot < pieces + c.B; ++slot) {
    const auto round = static_cast<std::size_t>(t + slot);
    for (int i = 0; i < c.workers; ++i) {
      if (round < history.size() && history[round].contains(WorkerId{i})) continue;
      auto& list = owed[static_cast<std::size_t>(i)];
      if (slot < pieces) {
        list.erase(slot);
      } else if (!list.empty()) {
        list.erase(list.begin());
      } else {
        delivered[static_cast<std::size_t>(slot - pieces)].insert(i);
      }
    }
  }
  const bool data = std::ranges::all_of(owed, [](const auto& list) { return list.empty(); });
  return data && (c.lambda == c.workers || std::ranges::all_of(delivered, [&](const auto& group) {
                    return decodes(c, c.lambda, c.groups(), group);
                  }));
}

WorkerSet random_set(int workers, RandomStream& random) {
  WorkerSet set(workers);
  const std::uint64_t odds = 2 + random.below(4);
  for (int i = 0; i < workers; ++i) {
    if (random.below(odds) == 0) set.insert(WorkerId{i});
  }
  return set;
}

/// Takes random workers out of the set until the round may close.
/// @param check  called with (may close, set) for every set tried
template <class Check>
void thin_out_and_close(SchemePlayer& player, WorkerSet set, RandomStream& random, Check&& check) {
  while (true) {
    SchemePlayer trial = player;
    trial.answer_all_but(set);
    const WorkerSet missing = trial.missing();
    const bool may = trial.may_close();
    check(may, missing);
    if (may) {
      trial.close();
      player = trial;
      return;
    }
    ASSERT_GT(set.size(), 0);
    set.erase(WorkerId{static_cast<int>(random.below(static_cast<std::uint64_t>(set.workers())))});
  }
}

TEST(MSgcFeasibility, IsWhatReplayingTheHistorySays) {
  const std::vector<Case> cases = {{3, 1, 2, 1, "cyclic"},
                                   {4, 2, 3, 2, "cyclic"},
                                   {5, 1, 4, 2, "cyclic"},
                                   {6, 3, 4, 3, "cyclic"},
                                   {6, 2, 4, 1, "repetition"},
                                   {8, 2, 3, 3, "repetition"},
                                   {7, 2, 3, 2, "repetition"},
                                   {4, 2, 3, 4, "cyclic"},
                                   {5, 1, 3, 0, "cyclic"}};
  int refused = 0;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const Case& c = cases[k];
    RandomStream random(11, "feasibility", k);
    const int jobs = 40;
    SchemePlayer player = c.player("m-sgc", jobs);
    History history;
    while (!player.finished()) {
      const int round = player.round().value;
      const int T = player.scheme().info().decode_delay;
      WorkerSet last(c.workers);
      thin_out_and_close(
          player, random_set(c.workers, random), random, [&](bool may, const WorkerSet& missing) {
            History next = history;
            next.push_back(missing);
            bool safe = true;
            for (int t = std::max(0, round - T); t <= std::min(round, jobs - 1); ++t) {
              safe = safe && m_sgc_job_is_safe(c, t, next);
            }
            EXPECT_EQ(may, safe) << player.scheme().info().label() << ", round " << round;
            refused += may ? 0 : 1;
            last = missing;
          });
      history.push_back(last);
      ASSERT_EQ(player.problem(), "");
      ASSERT_LT(round, jobs + T);
    }
  }
  EXPECT_GT(refused, 50);
}

/// SR-SGC, sections 4.2 and 4.4: who repeats in a round, given who contributed to the job that is
/// due: the lowest-numbered v-s, or one of each group without an answer.
std::set<int> expected_repairs(const Case& c, int s, int groups, const std::set<int>& got) {
  std::set<int> repairs;
  if (decodes(c, s, groups, got)) return repairs;
  if (c.code == "cyclic") {
    const std::size_t wanted = static_cast<std::size_t>(c.workers - s) - got.size();
    for (int i = 0; i < c.workers && repairs.size() < wanted; ++i) {
      if (!got.contains(i)) repairs.insert(i);
    }
    return repairs;
  }
  for (int group = 0; group < groups; ++group) {
    const bool answered = std::ranges::any_of(got, [&](int i) { return i % groups == group; });
    if (!answered) repairs.insert(group);  // the lowest member
  }
  return repairs;
}

TEST(SrSgcFeasibility, RepeatsAndClosesAsTheDefinitionSays) {
  const std::vector<Case> cases = {{5, 1, 2, 4, "cyclic"},
                                   {6, 2, 3, 6, "cyclic"},
                                   {7, 1, 4, 6, "cyclic"},
                                   {8, 3, 4, 4, "cyclic"},
                                   {6, 2, 3, 4, "repetition"},
                                   {8, 1, 2, 2, "repetition"},
                                   {7, 2, 5, 5, "repetition"},
                                   {4, 1, 2, 0, "cyclic"}};
  int refused = 0;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const Case& c = cases[k];
    const int x = (c.W - 1) / c.B;
    const int s = (c.lambda + x) / (x + 1);
    const int groups = c.workers / (s + 1);
    RandomStream random(12, "feasibility", k);
    const int jobs = 40;
    SchemePlayer player = c.player("sr-sgc", jobs);
    std::vector<std::set<int>> got;  // per job: who contributed in its first round
    while (!player.finished()) {
      const int round = player.round().value;
      std::set<int> repairs;
      if (round >= c.B) {
        repairs = expected_repairs(c, s, groups, got[static_cast<std::size_t>(round - c.B)]);
      }
      for (int i = 0; i < c.workers; ++i) {
        const int job = repairs.contains(i) ? round - c.B : round;
        const auto& list = player.plan().per_worker[static_cast<std::size_t>(i)];
        ASSERT_EQ(list.size(), 1U);
        ASSERT_EQ(list[0].job.value, job) << player.scheme().info().label();
      }
      WorkerSet last(c.workers);
      thin_out_and_close(
          player, random_set(c.workers, random), random, [&](bool may, const WorkerSet& missing) {
            const bool hit =
                std::ranges::any_of(repairs, [&](int i) { return missing.contains(WorkerId{i}); });
            EXPECT_EQ(may, !hit);
            refused += may ? 0 : 1;
            last = missing;
          });
      got.emplace_back();
      for (int i = 0; i < c.workers; ++i) {
        if (!last.contains(WorkerId{i}) && !repairs.contains(i)) got.back().insert(i);
      }
      ASSERT_EQ(player.problem(), "");
      ASSERT_LT(round, jobs + c.B);
    }
  }
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace paceline
