// Schemes that count what slow workers did, and clusters that are formed anew. Expected values:
// spec of exact codes, sections 2.4, 6 and 8.3.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "paceline/random.hpp"
#include "paceline/scheme.hpp"
#include "schemes/answer_counts.hpp"

namespace paceline {
namespace {

using test::expect_answered;
using test::expect_each_chunk_once;
using test::for_all_counts;

std::unique_ptr<Scheme> scheme_of(const std::string& text, int workers, bool keep_promise = true) {
  auto scheme = make_scheme(text, {.workers = workers, .keep_promise = keep_promise});
  if (!scheme) {
    ADD_FAILURE() << text << ": " << scheme.error().message;
    return nullptr;
  }
  return std::move(*scheme);
}

std::string text_of(int holders, int parts) {
  return "partial:r=" + std::to_string(holders) + ",m=" + std::to_string(parts);
}

TEST(Partial, ClosesWhenEveryChunkHasCome) {
  for (const auto& [n, r] : {std::pair{1, 1}, {4, 2}, {5, 3}, {4, 4}}) {
    const auto scheme = scheme_of("partial:r=" + std::to_string(r), n);
    const RoundPlan plan = scheme->plan(Round{0});
    for_all_counts(n, r, [&](const Answers& answers) {
      std::set<int> came;
      for (int i = 0; i < n; ++i) {
        for (int p = 0; p < answers.done[static_cast<std::size_t>(i)]; ++p)
          came.insert((i + p) % n);
      }
      const bool all = static_cast<int>(came.size()) == n;
      ASSERT_EQ(scheme->may_close(Round{0}, answers), all);
      if (!all) return;
      const auto decodings = scheme->clone()->close(Round{0}, answers);
      ASSERT_EQ(decodings.size(), 1U);
      expect_each_chunk_once(decodings[0], plan, n);
      expect_answered(decodings[0], answers);
    });
  }
}

TEST(Partial, WithShortMessagesClosesWhenEveryChunkHasComeOftenEnough) {
  for (const auto& [n, r, m] : {std::tuple{4, 2, 2}, {5, 3, 2}, {5, 4, 3}}) {
    const auto scheme = scheme_of(text_of(r, m), n);
    const RoundPlan plan = scheme->plan(Round{0});
    EXPECT_EQ(scheme->info().shape.message_length(12), 12U / static_cast<unsigned>(m));
    for_all_counts(n, r, [&](const Answers& answers) {
      std::vector<int> came(static_cast<std::size_t>(n), 0);
      for (int i = 0; i < n; ++i) {
        for (int p = 0; p < answers.done[static_cast<std::size_t>(i)]; ++p) {
          ++came[static_cast<std::size_t>((i + p) % n)];
        }
      }
      const bool enough = *std::ranges::min_element(came) >= m;
      ASSERT_EQ(scheme->may_close(Round{0}, answers), enough);
      if (!enough) return;
      const auto decodings = scheme->clone()->close(Round{0}, answers);
      expect_each_chunk_once(decodings.at(0), plan, n, m);
      expect_answered(decodings.at(0), answers);
      EXPECT_LE(decodings[0].amplification, scheme->info().amplification_limit * (1 + 1e-12));
    });
  }
}

/// What each of a chunk's parts is in the decoded sum: shape (chunks, parts out, parts in).
std::vector<std::vector<std::vector<double>>> decoded_parts(const Decoding& decoding,
                                                            const RoundPlan& plan,
                                                            int chunks,
                                                            int parts) {
  const auto m = static_cast<std::size_t>(parts);
  std::vector<std::vector<std::vector<double>>> sum(
      static_cast<std::size_t>(chunks),
      std::vector<std::vector<double>>(m, std::vector<double>(m, 0.0)));
  for (const Coefficient& term : decoding.terms) {
    const auto& list = plan.per_worker[term.message.worker.index()];
    for (const Term& row : list[static_cast<std::size_t>(term.message.task)].row.terms()) {
      sum[row.chunk.index()][static_cast<std::size_t>(std::max(term.part, 0))]
         [static_cast<std::size_t>(std::max(row.part, 0))] += term.weight * row.weight;
    }
  }
  return sum;
}

TEST(Partial, DecodesOfAChunkThatCameTooSeldomAllThatCame) {
  // Spec 8.3: the least squares for c < m messages of a chunk, which is the projection on what they
  // span: symmetric, idempotent, of trace c, so that (m - c) / m of the chunk is missing.
  for (const auto& [n, r, m] : {std::tuple{4, 2, 1}, {4, 2, 2}, {5, 3, 2}, {5, 4, 3}}) {
    const auto scheme = scheme_of(text_of(r, m) + ",residual=0.4", n);
    const RoundPlan plan = scheme->plan(Round{0});
    for_all_counts(n, r, [&](const Answers& answers) {
      std::vector<int> came(static_cast<std::size_t>(n), 0);
      for (int i = 0; i < n; ++i) {
        for (int p = 0; p < answers.done[static_cast<std::size_t>(i)]; ++p) {
          ++came[static_cast<std::size_t>((i + p) % n)];
        }
      }
      double missing = 0;
      for (const int times : came) missing += std::max(0.0, 1.0 * (m - times) / m) / n;
      ASSERT_EQ(scheme->may_close(Round{0}, answers), missing <= 0.4 + 1e-9);
      if (missing > 0.4 + 1e-9) return;
      const Decoding decoding = scheme->clone()->close(Round{0}, answers).at(0);
      expect_answered(decoding, answers);
      ASSERT_NEAR(decoding.residual, missing, 1e-12);
      ASSERT_LE(decoding.amplification, scheme->info().amplification_limit * (1 + 1e-12));
      double left = 0;
      const auto decoded = decoded_parts(decoding, plan, n, m);
      for (std::size_t j = 0; j < decoded.size(); ++j) {
        double trace = 0;
        for (std::size_t u = 0; u < decoded[j].size(); ++u) {
          trace += decoded[j][u][u];
          for (std::size_t v = 0; v < decoded[j].size(); ++v) {
            ASSERT_NEAR(decoded[j][u][v], decoded[j][v][u], 1e-9);
            left += std::pow(decoded[j][u][v] - (u == v ? 1 : 0), 2) / (n * m);
          }
        }
        ASSERT_NEAR(trace, std::min(came[j], m), 1e-9);
      }
      ASSERT_NEAR(left, missing, 1e-9);
    });
  }
}

TEST(Partial, IsRefusedWhereShortMessagesWouldMagnifyRounding) {
  const auto scheme = make_scheme("partial:r=12,m=6", {.workers = 20});
  ASSERT_FALSE(scheme);
  EXPECT_NE(scheme.error().message.find("promised is 1e-05; with r=12 at most m=2"),
            std::string::npos)
      << scheme.error().message;
}

TEST(Partial, NeedsNoMoreThanTheListedNumberOfChunkComputations) {
  for (const auto& [n, r, m, listed] : {std::tuple{4, 2, 1, 6},
                                        {5, 3, 1, 10},
                                        {6, 3, 1, 13},
                                        {4, 2, 2, 8},
                                        {5, 3, 2, 13},
                                        {6, 3, 2, 16}}) {
    const auto scheme = scheme_of(text_of(r, m), n);
    int most = 0;  // that were done without the round being able to close
    for_all_counts(n, r, [&](const Answers& answers) {
      if (scheme->may_close(Round{0}, answers)) return;
      most = std::max(most, std::accumulate(answers.done.begin(), answers.done.end(), 0));
    });
    EXPECT_EQ(most + 1, listed);
  }
}

TEST(Partial, TakesTheListedTime) {
  // Seconds per chunk 1 + Exp(1) of every worker and round; 4000 rounds
  for (const auto& [n, r, m, listed] : {std::tuple{20, 4, 1, 3.55},
                                        {20, 4, 2, 5.99},
                                        {20, 4, 3, 9.66},
                                        {50, 6, 1, 4.03},
                                        {50, 6, 2, 6.48},
                                        {50, 6, 3, 8.99}}) {
    const auto scheme = scheme_of(text_of(r, m), n, false);
    RandomStream random(1, "speeds");
    double sum = 0;
    constexpr int kRounds = 1000;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<double> seconds(static_cast<std::size_t>(n));
      for (double& s : seconds) s = 1 + random.exponential();
      std::vector<double> times;
      for (const double s : seconds) {
        for (int c = 1; c <= r; ++c) times.push_back(c * s);
      }
      std::ranges::sort(times);
      const auto closes = std::ranges::partition_point(times, [&](double time) {
        Answers answers(n);
        for (std::size_t i = 0; i < seconds.size(); ++i) {
          answers.done[i] = std::min(r, static_cast<int>(time / seconds[i] + 1e-9));
        }
        return !scheme->may_close(Round{0}, answers);
      });
      sum += *closes;
    }
    EXPECT_NEAR(sum / kRounds, listed, 0.02 * listed) << n;
  }
}

TEST(PartialCoding, HasTheListedLoads) {
  for (const auto& [n, s, own, load] : {std::tuple{12, 1, 10, 0.090909},
                                        {12, 2, 15, 0.093750},
                                        {12, 1, 4, 0.1},
                                        {12, 2, 6, 0.107143},
                                        {12, 1, 2, 0.111111},
                                        {10, 4, 5, 0.166667}}) {
    const auto scheme = scheme_of(
        "partial-gc:s=" + std::to_string(s) + ",own=" + std::to_string(own) + ",code=cyclic", n);
    EXPECT_NEAR(scheme->info().load, load, 1e-6);
    EXPECT_NEAR(scheme->info().storage, load, 1e-6);
    const auto& sizes = scheme->info().chunk_size;
    EXPECT_NEAR(std::accumulate(sizes.begin(), sizes.end(), 0.0), 1, 1e-12);
  }
}

TEST(PartialCoding, ClosesOnAllOwnPartsAndCodedOnesThatDecode) {
  const auto scheme = scheme_of("partial-gc:s=1,own=3,code=cyclic", 4);
  const RoundPlan plan = scheme->plan(Round{0});
  for_all_counts(4, 2, [&](const Answers& answers) {
    const auto finished = std::ranges::count(answers.done, 2);
    const auto silent = std::ranges::count(answers.done, 0);
    ASSERT_EQ(scheme->may_close(Round{0}, answers), silent == 0 && finished >= 3);
    if (!scheme->may_close(Round{0}, answers)) return;
    const auto decodings = scheme->clone()->close(Round{0}, answers);
    expect_each_chunk_once(decodings.at(0), plan, 8);
    expect_answered(decodings.at(0), answers);
  });
}

/// The worker of each role (cluster, position), and that every role is taken once.
std::vector<int> workers_by_role(const Scheme& scheme, Round round, int clusters, int candidates) {
  const int n = scheme.info().workers;
  const int size = n / clusters;
  const RoundPlan plan = scheme.plan(round);
  std::vector<int> worker_of(static_cast<std::size_t>(n), -1);
  for (int i = 0; i < n; ++i) {
    // A cyclic code: position p holds chunks p ... p+s of its cluster, p first.
    const auto terms = plan.per_worker[static_cast<std::size_t>(i)].at(0).row.terms();
    const int cluster = terms[0].chunk.value / size;
    std::set<int> held;
    for (const Term& term : terms) {
      EXPECT_EQ(term.chunk.value / size, cluster);
      held.insert(term.chunk.value % size);
    }
    EXPECT_TRUE(held.contains(i % size)) << "keeps its position";
    EXPECT_LT((cluster - i / size + clusters) % clusters, candidates) << "its data are not there";
    const auto role = static_cast<std::size_t>(cluster * size + i % size);
    EXPECT_EQ(worker_of[role], -1) << "a role is taken twice";
    worker_of[role] = i;
  }
  return worker_of;
}

Answers all_but(int workers, const std::vector<int>& stragglers) {
  Answers answers(workers);
  std::ranges::fill(answers.done, 1);
  std::ranges::fill(answers.time, Seconds{1});
  for (const int i : stragglers) {
    answers.done[static_cast<std::size_t>(i)] = 0;
    answers.time[static_cast<std::size_t>(i)] = kNever;
  }
  return answers;
}

TEST(Clusters, SpreadsStragglersThatStay) {
  constexpr int kClusters = 4;
  constexpr int kSize = 3;
  constexpr int n = kClusters * kSize;
  RandomStream random(3, "stragglers");
  for (int trial = 0; trial < 500; ++trial) {
    auto scheme = scheme_of("clusters:clusters=4,s=1,candidates=4,code=cyclic", n);
    std::vector<int> order = random.permutation(n);
    order.resize(kClusters);  // P s stragglers, anywhere
    // The first round waits for those of them whom it needs, and learns that they are slow.
    Answers first = all_but(n, order);
    std::vector<int> in_cluster(kClusters, 0);
    for (const int i : order) {
      if (++in_cluster[static_cast<std::size_t>(i / kSize)] == 1) continue;
      first.done[static_cast<std::size_t>(i)] = 1;
      first.time[static_cast<std::size_t>(i)] = Seconds{10};
    }
    ASSERT_TRUE(scheme->may_close(Round{0}, first));
    scheme->close(Round{0}, first);
    const std::vector<int> worker_of = workers_by_role(*scheme, Round{1}, kClusters, kClusters);
    std::vector<int> count(kClusters, 0);
    for (std::size_t role = 0; role < worker_of.size(); ++role) {
      if (std::ranges::find(order, worker_of[role]) != order.end()) ++count[role / kSize];
    }
    EXPECT_LE(*std::ranges::max_element(count), 1);
    EXPECT_TRUE(scheme->may_close(Round{1}, all_but(n, order)));
    const RoundPlan plan = scheme->plan(Round{1});
    const auto decodings = scheme->close(Round{1}, all_but(n, order));
    expect_each_chunk_once(decodings.at(0), plan, n);
  }
}

TEST(Clusters, TakesTheListedTime) {
  // Spec 6.7: a good worker turns slow with probability .02, a slow one recovers with .08; time
  // 2 (1 + Exp(10)), ten times that when slow. A cluster ends with its third answer of four.
  constexpr int n = 20;
  constexpr int kRounds = 2000;
  const auto mean = [&](int candidates) {
    auto scheme = scheme_of(
        "clusters:clusters=5,s=1,code=cyclic,candidates=" + std::to_string(candidates), n);
    RandomStream random(7, "chain");
    std::vector<bool> slow(n, false);
    double sum = 0;
    for (int t = 0; t < kRounds; ++t) {
      std::vector<std::pair<double, int>> times;
      for (int i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        slow[at] = random.uniform() < (slow[at] ? 0.92 : 0.02);
        times.emplace_back(2 * (1 + random.exponential() / 10) * (slow[at] ? 10 : 1), i);
      }
      std::ranges::sort(times);
      Answers answers(n);
      double closed = 0;
      for (const auto& [time, i] : times) {
        if (scheme->may_close(Round{t}, answers)) break;
        answers.done[static_cast<std::size_t>(i)] = 1;
        answers.time[static_cast<std::size_t>(i)] = Seconds{time};
        closed = time;
      }
      sum += closed;
      if (t % 100 == 0) workers_by_role(*scheme, Round{t}, 5, candidates);
      scheme->close(Round{t}, answers);
    }
    return sum / kRounds;
  };
  EXPECT_NEAR(mean(1), 14.46, 0.5);
  EXPECT_NEAR(mean(2), 11.23, 0.5);
  EXPECT_NEAR(mean(3), 9.02, 0.5);
  EXPECT_NEAR(mean(5), 8.41, 0.5);
}

TEST(Clusters, NameTheNumbersThatDivideTheWorkers) {
  const auto scheme = make_scheme("clusters:clusters=5,s=1", {.workers = 12});
  ASSERT_FALSE(scheme);
  EXPECT_NE(scheme.error().message.find(
                "clusters=5 does not divide 12 workers; allowed: 1, 2, 3, 4, 6, 12"),
            std::string::npos)
      << scheme.error().message;
}

}  // namespace
}  // namespace paceline
