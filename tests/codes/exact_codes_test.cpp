// Exact codes beside the three that schemes choose among. Expected values: spec of exact codes,
// sections 3, 8.1, 8.2 and 10.
#include <set>

#include "codes/approximate_test_support.hpp"
#include "codes/real_mds.hpp"
#include "codes/speed_aware.hpp"
#include "codes/worker_groups.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

using testing::all_but;
using testing::code_of;
using testing::from_mask;

GradientCode unlimited(const std::string& text, int workers) {
  return make_code(text, {.workers = workers, .seed = 1, .keep_promise = false}).value();
}

/// Every set with at most s stragglers decodes exactly, none with more.
void expect_exact(const GradientCode& code, const std::string& what) {
  const int n = code.workers();
  for (unsigned mask = 0; mask < 1U << static_cast<unsigned>(n); ++mask) {
    const WorkerSet answered = from_mask(n, mask);
    const auto combination = code.decode(answered);
    ASSERT_EQ(combination.has_value(), n - answered.size() <= code.tolerance) << what << mask;
    ASSERT_EQ(code.decodable(answered), combination.has_value()) << what << mask;
    if (!combination) continue;
    for (const WorkerWeight& term : combination->terms) {
      ASSERT_TRUE(answered.contains(term.worker)) << what << mask;
      ASSERT_FALSE(code.rows[term.worker.index()].terms().empty()) << "sends no message; " << what;
    }
    const double A = combination->amplification;
    ASSERT_LE(testing::worst_deviation(code, *combination), 1e-10 * std::max(1.0, A))
        << what << mask;
    ASSERT_NEAR(testing::amplification(code, *combination), A, 1e-9 * A) << what << mask;
  }
}

TEST(RealMds, HasTheListedVectors) {
  const auto weights = [](const GradientCode& code, const std::vector<int>& stragglers) {
    std::vector<double> a;
    for (const auto& w :
         testing::weights(*code.decode(all_but(code.workers(), stragglers)), code.workers())) {
      a.push_back(w.real());
    }
    return a;
  };
  const auto expect = [](const std::vector<double>& found, const std::vector<double>& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-11) << i;
  };
  const GradientCode six = bare_real_mds(6, 3);
  const Eigen::MatrixXd G = testing::matrix(six);
  for (int i = 0; i < 6; ++i) {
    for (int v = 0; v < 4; ++v) {
      EXPECT_NEAR(G(i, (i + v) % 6), std::vector<double>({1, 2, 2, 1})[v] / 6, 1e-12);
    }
  }
  expect(weights(six, {0, 1, 2}), {0, 0, 0, 6, -6, 6});
  expect(weights(six, {0, 2, 4}), {0, 2, 0, 2, 0, 2});
  const GradientCode five = bare_real_mds(5, 2);
  EXPECT_NEAR(testing::matrix(five)(0, 1), 0.447213595500, 1e-12);
  expect(weights(five, {0, 1}), {0, 0, 3.618033988750, -2.236067977500, 3.618033988750});
  expect(weights(five, {0, 2}), {0, 2.236067977500, 0, 1.381966011250, 1.381966011250});
  expect(weights(five, {3}), {0.690983005625, 0.690983005625, 1.809016994375, 0, 1.809016994375});
  const GradientCode four = bare_real_mds(4, 1);
  EXPECT_NEAR(testing::matrix(four)(2, 3), 0.5, 1e-12);
  expect(weights(four, {1}), {2, 0, 2, 0});
}

TEST(RealMds, DecodesEverySetAndHasPositiveWeights) {
  for (int n = 3; n <= 10; ++n) {
    for (int s = 1; s <= n - 2; ++s) {
      if ((n - s) % 2 == 0) continue;
      const GradientCode code = unlimited("real-mds:s=" + std::to_string(s), n);
      expect_exact(code, "real-mds " + std::to_string(n) + " " + std::to_string(s) + " ");
      EXPECT_NEAR(code.load, (s + 1.0) / n, 1e-12);
      EXPECT_GE(testing::matrix(code).minCoeff(), 0);
    }
  }
}

TEST(RealMds, WithOneStragglerNeverMagnifies) {
  for (const int n : {4, 16, 64}) {  // spec 3.7: A = 1 for even n and s = 1
    const GradientCode code = code_of("real-mds:s=1", n);
    for (int i = 0; i < n; ++i) {
      EXPECT_NEAR(code.decode(all_but(n, {i}))->amplification, 1, 1e-9);
    }
  }
}

TEST(RealMds, IsRefusedWhereItCannotKeepThePromise) {
  const auto code = make_code("real-mds:s=15", {.workers = 64});
  ASSERT_FALSE(code.has_value());
  EXPECT_NE(code.error().message.find("cannot keep its promise"), std::string::npos);
  EXPECT_NE(code.error().message.find("code 'repetition' keeps it"), std::string::npos);
}

TEST(ReedSolomon, DecodesEverySetForAnyNumberOfChunksWithBalancedLoads) {
  for (int n = 3; n <= 7; ++n) {
    for (int s = 1; s <= n - 2; ++s) {
      for (int k = 1; k <= 2 * n; ++k) {
        const std::string what =
            std::to_string(n) + " " + std::to_string(s) + " " + std::to_string(k) + " ";
        const GradientCode code =
            unlimited("reed-solomon:s=" + std::to_string(s) + ",chunks=" + std::to_string(k), n);
        ASSERT_EQ(code.chunks, k);
        expect_exact(code, what);
        const auto G = testing::dense(code);
        for (const auto& row : G) {
          const auto held = std::ranges::count_if(row, [](auto w) { return w != 0.0; });
          const int share = k * (s + 1) / n;
          EXPECT_TRUE(held == share || held == share + 1) << what;
        }
        for (int j = 0; j < k; ++j) {
          const auto holders = std::ranges::count_if(
              G, [&](const auto& row) { return row[static_cast<std::size_t>(j)] != 0.0; });
          EXPECT_EQ(holders, s + 1) << what;
        }
      }
    }
  }
}

TEST(SpeedAware, FollowsTheListedExample) {
  const auto held = chunks_by_speed({1, 2, 3, 4, 4}, 7, 1);
  ASSERT_TRUE(held.has_value());
  EXPECT_EQ(*held, (std::vector<int>{1, 2, 3, 4, 4}));
  const std::vector<std::vector<int>> holders = {
      {0, 3}, {1, 3}, {1, 3}, {2, 4}, {2, 4}, {2, 4}, {3, 4}};
  EXPECT_EQ(holders_around_the_ring(*held, 7), holders);
  const GradientCode code = code_of("speed-aware:s=1,chunks=7,speeds=1/2/3/4/4", 5);
  expect_exact(code, "speed-aware ");
  EXPECT_NEAR(code.load, 4.0 / 7, 1e-12);
}

TEST(SpeedAware, DecodesEverySetAndGivesEveryChunkDifferentHolders) {
  for (const auto& [n, s, k, speeds] : {std::tuple{6, 2, 6, "1"},
                                        {7, 2, 14, "1/1/2/2/3/3/3"},
                                        {8, 3, 12, "1/2/3/4/4/4/4/4"},
                                        {6, 1, 5, "3/1/1/1/1/1"},
                                        {6, 1, 4, "0.1/2/2/2/2/2"}}) {
    const GradientCode code = unlimited(
        "speed-aware:s=" + std::to_string(s) + ",chunks=" + std::to_string(k) + ",speeds=" + speeds,
        n);
    expect_exact(code, std::string(speeds) + " ");
    const Eigen::MatrixXd G = testing::matrix(code);
    EXPECT_TRUE(((G.array() != 0).colwise().count().array() == s + 1).all()) << speeds;
  }
}

TEST(SpeedAware, LetsAllFinishTogether) {
  const std::vector<double> speeds = {1, 2, 3, 5, 8, 8, 8};
  constexpr int kChunks = 700;
  const auto held = chunks_by_speed(speeds, kChunks, 2);
  ASSERT_TRUE(held.has_value());
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    EXPECT_NEAR((*held)[i] / speeds[i], kChunks * 3 / 35.0, 1 / speeds[i] + 1e-9);
  }
}

/// All sets of workers that hold every chunk exactly once.
std::vector<unsigned> groups_by_trial(const std::vector<std::vector<int>>& holders, int workers) {
  std::vector<unsigned> groups;
  for (unsigned mask = 1; mask < 1U << static_cast<unsigned>(workers); ++mask) {
    const auto once = [mask](const std::vector<int>& of_chunk) {
      return std::ranges::count_if(of_chunk, [mask](int i) { return (mask >> i & 1U) != 0; }) == 1;
    };
    if (std::ranges::all_of(holders, once)) groups.push_back(mask);
  }
  return groups;
}

TEST(SpeedAware, FindsGroupsWhereThereAreAny) {
  RandomStream random(1, "speeds");
  int found = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const int n = 5 + trial % 4;
    std::vector<double> speeds;
    for (int i = 0; i < n; ++i) speeds.push_back(1 + static_cast<double>(random.below(3)));
    const int chunks = 4 + static_cast<int>(random.below(8));
    const auto held = chunks_by_speed(speeds, chunks, 1 + trial % 2);
    if (!held) continue;
    const auto holders = holders_around_the_ring(*held, chunks);
    std::vector<unsigned> all = groups_by_trial(holders, n);
    std::size_t smallest = 99;
    for (unsigned mask : all) {
      unsigned sending = 0;  // whoever holds nothing belongs to no group
      for (int i = 0; i < n; ++i) sending += (mask >> i & 1U) != 0 && (*held)[i] > 0 ? 1 : 0;
      smallest = std::min<std::size_t>(smallest, sending);
    }
    const auto groups = groups_around_the_ring(*held, chunks);
    ASSERT_EQ(groups.empty(), all.empty()) << trial;
    if (groups.empty()) continue;
    ++found;
    EXPECT_EQ(groups.front().size(), smallest) << trial;
    unsigned used = 0;
    for (const std::vector<int>& group : groups) {
      unsigned mask = 0;
      for (const int i : group) mask |= 1U << static_cast<unsigned>(i);
      EXPECT_EQ(used & mask, 0U) << "disjoint";
      used |= mask;
      EXPECT_NE(std::ranges::find(all, mask), all.end());
    }
    std::erase_if(all, [used](unsigned mask) { return (mask & used) != 0; });
    for (const unsigned mask : all) {  // nobody left could have made one more
      for (int i = 0; i < n; ++i) {
        EXPECT_TRUE((mask >> i & 1U) == 0 || (*held)[static_cast<std::size_t>(i)] == 0);
      }
    }
  }
  EXPECT_GT(found, 50);
}

TEST(SpeedAware, WithGroupsDecodesAllItDidAndWheneverAGroupIsComplete) {
  int coded = 0;
  for (const auto& [n, s, k, speeds] : {std::tuple{5, 1, 7, "1/2/3/4/4"},
                                        {6, 1, 6, "1"},
                                        {7, 2, 14, "1/1/2/2/3/3/3"},
                                        {9, 3, 12, "1/2/3/4/4/4/4/4/4"},
                                        {8, 2, 9, "3/3/3/2/2/2/2/2"}}) {
    const std::string text = "speed-aware:s=" + std::to_string(s) + ",chunks=" + std::to_string(k) +
                             ",speeds=" + speeds + ",groups=yes";
    const auto made = make_code(text, {.workers = n, .seed = 1, .keep_promise = false});
    ASSERT_TRUE(made) << made.error().message;
    const GradientCode& code = *made;
    std::vector<std::vector<int>> holders(static_cast<std::size_t>(k));
    for (int i = 0; i < n; ++i) {
      for (const Term& term : code.row(WorkerId{i}).terms()) {
        holders[term.chunk.index()].push_back(i);
      }
    }
    for (const auto& of_chunk : holders) EXPECT_EQ(of_chunk.size(), s + 1U);
    int by_groups = 0;
    for (unsigned mask = 0; mask < 1U << static_cast<unsigned>(n); ++mask) {
      const WorkerSet answered = from_mask(n, mask);
      const auto combination = code.decode(answered);
      ASSERT_EQ(code.decodable(answered), combination.has_value());
      ASSERT_TRUE(combination || n - answered.size() > s) << text << " " << mask;
      if (!combination) continue;
      by_groups += n - answered.size() > s ? 1 : 0;
      for (const WorkerWeight& term : combination->terms) {
        ASSERT_TRUE(answered.contains(term.worker));
      }
      const double A = combination->amplification;
      ASSERT_LE(testing::worst_deviation(code, *combination), 1e-10 * A) << text << " " << mask;
    }
    EXPECT_GT(by_groups, 0) << text;
    coded += std::ranges::any_of(code.rows, [](const Row& row) {
      return std::ranges::any_of(row.terms(), [](const Term& t) { return t.weight != 1; });
    });
  }
  EXPECT_GT(coded, 0) << "some of them must have a rest that is coded";
}

TEST(SpeedAware, WithGroupsIsRefusedWhereThereAreNone) {
  const auto code =
      make_code("speed-aware:s=1,groups=yes,speeds=1/1/1/1/1", CodeContext{.workers = 5});
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().message,
            "speed-aware: groups=yes, but at chunks = 5 no workers hold every chunk exactly once; "
            "the nearest chunks = 4");
}

std::vector<WorkerSet> all_sets(int workers) {
  std::vector<WorkerSet> sets;
  for (unsigned mask = 0; mask < 1U << static_cast<unsigned>(workers); ++mask) {
    sets.push_back(from_mask(workers, mask));
  }
  return sets;
}

GradientCode short_messages(int n, int s, int m, const std::string& nodes = "circle") {
  return unlimited(
      "short-messages:s=" + std::to_string(s) + ",m=" + std::to_string(m) + ",nodes=" + nodes, n);
}

TEST(ShortMessages, DecodeEverySetOfEverySmallCode) {
  for (int n = 1; n <= 8; ++n) {
    for (int m = 1; m <= n; ++m) {
      for (int s = 0; s + m <= n; ++s) {
        const GradientCode code = short_messages(n, s, m);
        const std::string what =
            std::to_string(n) + " " + std::to_string(s) + " " + std::to_string(m) + " set ";
        EXPECT_DOUBLE_EQ(code.load, 1.0 * (s + m) / n);
        const MessageShape shape = code.shape;
        EXPECT_EQ(shape.message_length(static_cast<std::size_t>(2 * m * 7)), 14U) << "d/m numbers";
        for (const WorkerSet& answered : all_sets(n)) {
          const auto combination = code.decode(answered);
          ASSERT_EQ(combination.has_value(), n - answered.size() <= s) << what;
          if (!combination) continue;
          for (const WorkerWeight& term : combination->terms) {
            ASSERT_TRUE(answered.contains(term.worker)) << what;
          }
          ASSERT_LE(testing::worst_deviation(code, *combination), 1e-12) << what;
          ASSERT_LE(combination->residual, 1e-24) << what;
        }
      }
    }
  }
}

TEST(ShortMessages, WithRealWeightsDecodeEverySetOfEverySmallCode) {
  for (const char* nodes : {"chebyshev", "published"}) {
    for (int n = 1; n <= 8; ++n) {
      for (int m = 1; m <= n; ++m) {
        for (int s = 0; s + m <= n; ++s) {
          const GradientCode code = short_messages(n, s, m, nodes);
          const std::string what = std::string(nodes) + " " + std::to_string(n) + " " +
                                   std::to_string(s) + " " + std::to_string(m) + " set ";
          EXPECT_EQ(code.shape.parts, m) << "real weights";
          EXPECT_EQ(code.shape.message_length(static_cast<std::size_t>(m * 7)), 7U);
          for (const WorkerSet& answered : all_sets(n)) {
            const auto combination = code.decode(answered);
            ASSERT_EQ(combination.has_value(), n - answered.size() <= s) << what;
            if (!combination) continue;
            for (const WorkerWeight& term : combination->terms) {
              ASSERT_TRUE(answered.contains(term.worker)) << what;
            }
            const double A = combination->amplification;
            ASSERT_LE(testing::worst_deviation(code, *combination), 1e-13 * A) << what;
            ASSERT_LE(combination->residual, 1e-24 * A * A) << what;
          }
        }
      }
    }
  }
}

/// Weight of worker i's message in block b times its weight on block u of chunk j.
double product_of_weights(
    const GradientCode& code, const Combination& combination, int i, int b, int j, int u) {
  double product = 0;
  for (const WorkerWeight& outer : combination.terms) {
    if (outer.worker != WorkerId{i} || outer.part != b) continue;
    for (const Term& inner : code.row(WorkerId{i}).terms()) {
      if (inner.chunk == ChunkId{j} && inner.part == u) product += outer.weight * inner.weight;
    }
  }
  return product;
}

TEST(ShortMessages, OnThePublishedNodesHaveTheListedWeights) {
  // Spec, section 10; products, since the scale of a worker's row is free.
  const GradientCode code = short_messages(5, 1, 2, "published");
  const Combination combination = *code.decode(all_but(5, {1}));
  const double encoding[3][2] = {{1.5, 3.75}, {-1.5, -0.75}, {1.5, -3.75}};
  const double decoding[2] = {-4.0 / 9, -4.0 / 9};  // of worker 0, in blocks 0 and 1
  for (int b = 0; b < 2; ++b) {
    for (int j = 0; j < 3; ++j) {
      for (int u = 0; u < 2; ++u) {
        EXPECT_NEAR(
            product_of_weights(code, combination, 0, b, j, u), decoding[b] * encoding[j][u], 1e-12);
      }
    }
  }
}

TEST(ShortMessages, OnThePublishedNodesMagnifyAsListed) {
  // Spec 4.4: the largest A of 60 random sets, which moves from sample to sample
  for (const auto& [n, s, m, listed] :
       {std::tuple{12, 2, 2, 1e4}, {20, 1, 1, 4e1}, {24, 2, 2, 2e5}, {30, 1, 1, 6e1}}) {
    const CodeQuality quality = measure_quality(short_messages(n, s, m, "published"));
    EXPECT_GT(quality.worst_amplification, listed / 5) << n;
    EXPECT_LT(quality.worst_amplification, listed * 5) << n;
  }
}

TEST(Chebyshev, HasRealWeightsForEveryNumberOfStragglers) {
  for (int n = 1; n <= 8; ++n) {
    for (int s = 0; s < n; ++s) {
      const GradientCode code = unlimited("chebyshev:s=" + std::to_string(s), n);
      EXPECT_EQ(code.name, "chebyshev");
      EXPECT_EQ(code.shape.parts * code.backward_passes, 1);
      if (s > 0 && s < n - 1) {
        expect_exact(code, "chebyshev " + std::to_string(n) + " " + std::to_string(s) + " ");
      }
    }
  }
}

TEST(Chebyshev, MagnifiesAsListed) {
  // Spec 3.6: median and 99th percentile over random sets for all n from 16 to 256
  for (const auto& [n, s, median, most] : {std::tuple{16, 2, 3.0, 10.0},
                                           {64, 2, 3.0, 10.0},
                                           {16, 4, 7.0, 100.0},
                                           {64, 4, 7.0, 100.0},
                                           {64, 8, 40.0, 7e3}}) {
    const CodeQuality quality = measure_quality(unlimited("chebyshev:s=" + std::to_string(s), n));
    EXPECT_LT(quality.median_amplification, 1.3 * median) << n << " " << s;
    EXPECT_LT(quality.p95_amplification, most) << n << " " << s;
    EXPECT_LT(quality.worst_residual, 1e-20) << n << " " << s;
  }
}

TEST(CyclicMds, TakesAStrideThatIsPrimeToTheWorkers) {
  // Stride 1 is the textbook code, which magnifies more and more. Spec 1.8: medians 11 and 44
  for (const auto& [n, s, median] : {std::tuple{8, 2, 11.0}, {16, 2, 44.0}}) {
    const CodeQuality quality =
        measure_quality(unlimited("mds:s=" + std::to_string(s) + ",stride=1", n));
    EXPECT_NEAR(quality.median_amplification, median, 0.1 * median);
  }
  const auto refused = make_code("mds:s=2,stride=4", CodeContext{.workers = 16});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "mds: stride = 4 shares a divisor with 16 workers; the best is 5");
}

TEST(ShortMessages, HoldNeighbouringChunks) {
  const GradientCode code = short_messages(9, 2, 3);
  for (int i = 0; i < 9; ++i) {
    std::set<int> chunks;
    for (const Term& term : code.rows[WorkerId{i}.index()].terms()) {
      chunks.insert((term.chunk.value - i + 9) % 9);
    }
    EXPECT_EQ(chunks, (std::set<int>{0, 1, 2, 3, 4}));
  }
}

TEST(ShortMessages, OfFullLengthAreAsAccurateAsCyclicMds) {
  const GradientCode code = short_messages(12, 3, 1);
  const GradientCode mds = unlimited("mds:s=3", 12);
  for (const WorkerSet& answered : all_survivors(12, 3)) {
    const double A = mds.decode(answered)->amplification;
    EXPECT_NEAR(code.decode(answered)->amplification, A, 1e-9 * A);
  }
}

TEST(ShortMessages, KeepTheListedAccuracy) {
  // Spec 4.6: medians of A over random sets, read up to a factor 2 since A is defined per block
  // there
  for (const auto& [n, s, m, median] :
       {std::tuple{16, 2, 2, 6.0}, {32, 4, 4, 23.0}, {64, 8, 2, 22.0}, {128, 8, 4, 49.0}}) {
    const CodeQuality quality = measure_quality(short_messages(n, s, m));
    EXPECT_GT(quality.median_amplification, median / 2) << n;
    EXPECT_LT(quality.median_amplification, median * 2) << n;
    EXPECT_LT(quality.worst_residual, 1e-20) << n;
  }
}

TEST(ShortMessages, NeedAChunkMoreForEveryShortening) {
  const auto code = make_code("short-messages:s=3,m=6", CodeContext{.workers = 8});
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().message,
            "short-messages: s + m = 9 is more than the 8 workers; with s = 3 at most m = 5");
}

}  // namespace
}  // namespace paceline
