// The code on a tree. Expected values: spec of exact codes, section 7.
#include <algorithm>
#include <functional>
#include <numeric>

#include "codes/approximate_test_support.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

using testing::from_mask;

struct TreeShape {
  int b, H, s;

  int workers() const {
    int size = 0;
    for (int level = 0; level < H; ++level) size = b * (size + 1);
    return size;
  }

  /// Level by level; the master is -1.
  int child(int parent, int c) const { return b * (parent + 1) + c; }

  bool is_leaf(int worker) const { return child(worker, 0) >= workers(); }
};

GradientCode tree(const TreeShape& shape, const std::string& inner, bool keep_promise = false) {
  const std::string text =
      "tree:s=" + std::to_string(shape.s) + ",depth=" + std::to_string(shape.H) + ",inner=" + inner;
  auto code =
      make_code(text, {.workers = shape.workers(), .seed = 1, .keep_promise = keep_promise});
  if (!code) {
    ADD_FAILURE() << text << ": " << code.error().message;
    return {};
  }
  return *std::move(code);
}

/// A value is lost if its worker straggles or more than s of its children's are.
bool is_lost(const TreeShape& shape, const WorkerSet& answered, int worker) {
  if (worker >= 0 && !answered.contains(WorkerId{worker})) return true;
  if (worker >= 0 && shape.is_leaf(worker)) return false;
  int lost = 0;
  for (int c = 0; c < shape.b; ++c)
    lost += is_lost(shape, answered, shape.child(worker, c)) ? 1 : 0;
  return lost > shape.s;
}

void expect_exact(const GradientCode& code, const WorkerSet& answered) {
  const auto combination = code.decode(answered);
  ASSERT_TRUE(combination);
  const double A = combination->amplification;
  ASSERT_LE(testing::worst_deviation(code, *combination), 1e-10 * std::max(1.0, A));
  ASSERT_NEAR(testing::amplification(code, *combination), A, 1e-9 * A);
  for (const WorkerWeight& term : combination->terms) ASSERT_TRUE(answered.contains(term.worker));
}

TEST(TreeCode, HasTheLeastLoad) {
  struct Line {
    TreeShape shape;
    double over, under;
    int chunks;  ///< 0: not listed
  };

  for (const Line& line : {Line{{3, 2, 1}, 4, 15, 15},
                           {{4, 2, 1}, 1, 6, 12},
                           {{4, 3, 0}, 1, 84, 0},
                           {{4, 3, 1}, 1, 14, 28},
                           {{4, 3, 2}, 27, 148, 148},
                           {{4, 3, 3}, 1, 3, 0},
                           {{12, 2, 1}, 1, 42, 84},
                           {{12, 2, 2}, 1, 20, 0},
                           {{12, 2, 3}, 1, 12, 48},
                           {{3, 3, 1}, 8, 57, 57},
                           {{2, 3, 1}, 1, 3, 0}}) {
    const GradientCode code = tree(line.shape, "cyclic");
    EXPECT_NEAR(code.load, line.over / line.under, 1e-12);
    if (line.chunks > 0) {
      EXPECT_EQ(code.chunks, line.chunks);
    }
    EXPECT_EQ(code.tolerance, line.shape.s);
    for (const Row& row : code.rows) {
      EXPECT_NEAR(static_cast<double>(row.terms().size()) / code.chunks, code.load, 1e-12)
          << "all do the same";
    }
    // As cheap with groups, where they are even.
    if (line.shape.b % (line.shape.s + 1) == 0) {
      EXPECT_NEAR(tree(line.shape, "repetition").load, code.load, 1e-12);
    }
  }
}

TEST(TreeCode, DecodesExactlyWhatTheTreeWould) {
  for (const auto& [shape, inner] : {std::pair{TreeShape{3, 2, 1}, "cyclic"},
                                     {TreeShape{3, 2, 1}, "mds"},
                                     {TreeShape{3, 2, 2}, "repetition"},
                                     {TreeShape{2, 3, 1}, "repetition"},
                                     {TreeShape{2, 2, 0}, "cyclic"},
                                     {TreeShape{7, 1, 2}, "cyclic"}}) {
    const GradientCode code = tree(shape, inner);
    const int n = shape.workers();
    for (unsigned mask = 0; mask < 1U << static_cast<unsigned>(n); ++mask) {
      const WorkerSet answered = from_mask(n, mask);
      const bool decodes = !is_lost(shape, answered, -1);
      ASSERT_EQ(code.decodable(answered), decodes) << inner << " " << mask;
      ASSERT_EQ(code.decode(answered).has_value(), decodes) << inner << " " << mask;
      if (decodes) {
        ASSERT_NO_FATAL_FAILURE(expect_exact(code, answered)) << inner << " " << mask;
      }
    }
  }
}

TEST(TreeCode, SurvivesStragglersUnderEveryParent) {
  for (const TreeShape& shape :
       {TreeShape{4, 2, 1}, {4, 3, 1}, {4, 3, 2}, {3, 3, 1}, {12, 2, 1}, {12, 2, 3}}) {
    const GradientCode code = tree(shape, "mds");
    RandomStream random(1, "tree");
    for (int trial = 0; trial < 20; ++trial) {
      WorkerSet answered = WorkerSet::all(shape.workers());
      for (int parent = -1; !shape.is_leaf(parent); ++parent) {
        const std::vector<int> order = random.permutation(shape.b);
        for (int k = 0; k < shape.s; ++k) {
          answered.erase(WorkerId{shape.child(parent, order[static_cast<std::size_t>(k)])});
        }
      }
      ASSERT_FALSE(is_lost(shape, answered, -1));
      ASSERT_NO_FATAL_FAILURE(expect_exact(code, answered));
    }
  }
}

TEST(TreeCode, KeepsThePromiseOfExactCodes) {
  const TreeShape shape{4, 2, 2};
  const GradientCode code = tree(shape, "mds", true);
  RandomStream random(2, "promise");
  int decoded = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    WorkerSet answered(shape.workers());
    for (int i = 0; i < shape.workers(); ++i) {
      if (random.below(3) > 0) answered.insert(WorkerId{i});
    }
    const auto combination = code.decode(answered);
    ASSERT_EQ(code.decodable(answered), combination.has_value());
    if (!combination) continue;
    ++decoded;
    EXPECT_LE(combination->amplification, promised_amplification(MessageType::kFloat32));
  }
  EXPECT_GT(decoded, 200);
}

/// When a parent has b - s of its children's values: the receiver takes `take` seconds for each,
/// in the order of their coming.
double when_ready(const TreeShape& shape,
                  const std::vector<double>& computed,
                  double take,
                  int parent) {
  std::vector<double> ready;
  for (int c = 0; c < shape.b; ++c) {
    const int child = shape.child(parent, c);
    const double own = computed[static_cast<std::size_t>(child)];
    ready.push_back(shape.is_leaf(child) ? own
                                         : std::max(own, when_ready(shape, computed, take, child)));
  }
  std::ranges::sort(ready);
  double free = 0;
  for (int k = 0; k < shape.b - shape.s; ++k) {
    free = std::max(free, ready[static_cast<std::size_t>(k)]) + take;
  }
  return free;
}

// What is promised of the star: rounds end when those of a tree would whose messages take no time.
TEST(TreeCode, TakesTheTimeOfATreeWhoseMessagesTakeNone) {
  for (const TreeShape& shape : {TreeShape{3, 2, 1}, {4, 2, 1}, {3, 3, 1}, {2, 3, 0}}) {
    const GradientCode code = tree(shape, "cyclic");
    RandomStream random(3, "times");
    for (int trial = 0; trial < 50; ++trial) {
      std::vector<double> computed(code.rows.size());
      for (double& time : computed) time = random.exponential();
      std::vector<int> order(code.rows.size());
      std::iota(order.begin(), order.end(), 0);
      std::ranges::sort(order, {}, [&](int i) { return computed[static_cast<std::size_t>(i)]; });
      WorkerSet answered(shape.workers());
      double ended = 0;
      for (const int i : order) {
        if (code.decodable(answered)) break;
        answered.insert(WorkerId{i});
        ended = computed[static_cast<std::size_t>(i)];
      }
      EXPECT_EQ(ended, when_ready(shape, computed, 0, -1));
    }
  }
}

// Spec 7.7: a worker computes for 100 L (1 + Exp(1)), a receiver takes 1 per message.
TEST(TreeCode, HasTheLoadsOfTheListedTimes) {
  for (const auto& [shape, listed] : {std::pair{TreeShape{4, 3, 0}, 13.3},
                                      {TreeShape{4, 3, 1}, 23.4},
                                      {TreeShape{4, 3, 2}, 37.8},
                                      {TreeShape{12, 2, 0}, 24.7},
                                      {TreeShape{12, 2, 1}, 24.4},
                                      {TreeShape{12, 2, 2}, 25.1}}) {
    const double load = tree(shape, "cyclic").load;
    RandomStream random(4, "listed");
    constexpr int kRounds = 1000;
    double sum = 0;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<double> computed(static_cast<std::size_t>(shape.workers()));
      for (double& time : computed) time = 100 * load * (1 + random.exponential());
      sum += when_ready(shape, computed, 1, -1);
    }
    EXPECT_NEAR(sum / kRounds, listed, 0.04 * listed)
        << shape.b << " " << shape.H << " " << shape.s;
  }
}

TEST(TreeCode, NamesTheNearestTrees) {
  const auto message = [](const char* text, int n) {
    return make_code(text, {.workers = n}).error().message;
  };
  EXPECT_EQ(message("tree:s=1", 13),
            "tree: 13 workers make no tree of depth 2, b + ... + b^2; the nearest: 12 with b = 3, "
            "20 with b = 4");
  EXPECT_EQ(message("tree:s=1,depth=3", 2),
            "tree: 2 workers make no tree of depth 3, b + ... + b^3; the nearest: 3 with b = 1");
  EXPECT_NE(message("tree:s=3", 12).find("0 <= s <= 2"), std::string::npos);
  EXPECT_EQ(nearest_workers("tree", 60, 3), 56);
  EXPECT_EQ(nearest_workers("tree", 14, 1), 14) << "two children each, three levels";
}

}  // namespace
}  // namespace paceline
