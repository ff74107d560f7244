// What every approximate code owes, whatever its family: exhaustively on few workers.
#include "codes/approximate_test_support.hpp"

namespace paceline {
namespace {

using testing::code_of;
using testing::from_mask;

struct Case {
  std::string text;
  int workers;
  bool optimal = true;  ///< leaves the least possible
};

std::string with(const std::string& text, const std::string& more) {
  return text + (text.find(':') == std::string::npos ? ":" : ",") + more;
}

std::vector<Case> cases() {
  return {{"erasurehead:r=2", 8},
          {"erasurehead:r=3", 9},
          {"erasurehead:r=3,decoder=optimal", 9},
          {"erasurehead:r=9,decoder=algorithmic", 9, false},
          {"graph:graph=complete,r=3", 6},
          {"graph:graph=circulant,r=2", 7},
          {"graph:graph=cube,r=3", 12},
          {"graph:graph=complete-bipartite,r=3", 9},
          {"graph", 9},
          {"graph:decoder=optimal", 9},
          {"graph:decoder=one-step", 9, false},
          {"graph:graph=complete,r=3,spare=yes", 8},
          {"graph:graph=circulant,r=4,spare=yes", 11},
          {"expander", 8},
          {"expander:graph=circulant,r=4", 9},
          {"expander:graph=margulis", 9},
          {"expander:decoder=one-step", 8, false},
          {"expander:decoder=uniform", 8, false},
          {"bernoulli:r=2", 8},
          {"bernoulli:r=1.5,chunks=5,covered=no", 8},
          {"bernoulli:decoder=algorithmic,iterations=5", 8, false},
          {"bernoulli:r=1,chunks=2,decoder=one-step", 8, false},  // some hold nothing
          {"regularized-bernoulli:r=2", 8},
          {"stochastic-block:block=4,r=3", 8},
          {"projective-plane", 7},
          {"projective-plane:complement=yes", 7},
          {"affine-plane", 9},
          {"hadamard", 7},
          {"steiner", 9},
          {"pairs", 6},
          {"projective-plane:decoder=optimal", 7},
          {"pairs:decoder=algorithmic", 6, false},
          {"affine-plane:transposed=yes", 6},
          {"steiner:transposed=yes", 7},
          {"pairs:transposed=yes", 10},
          {"soft-design:r=2.5", 8},
          {"soft-design:r=2.5,h=1.2", 8},
          {"soft-design:decoder=design", 8, false},
          {"product:left=pairs,left-workers=4,right=separate", 8},
          {"product:left=affine-plane,left-workers=4,right=copies", 8},
          {"heterogeneous:p=0.1/0.1/0.2/0.2/0.3/0.3/0.5/0.5", 8, false},
          {"stochastic:p=0.2,r=2", 8, false},
          {"stochastic:p=0.2,r=2,decoder=optimal", 8},
          {"heterogeneous:decoder=uniform", 8, false},
          {"stochastic:p=0.2,base=2", 8, false}};
}

class EveryApproximateCode : public ::testing::TestWithParam<Case> {};

TEST_P(EveryApproximateCode, SaysWhatItLeavesAndLeavesTheLeastItCan) {
  const auto& [text, n, optimal] = GetParam();
  const std::string any = optimal ? "residual=1" : "s=" + std::to_string(n - 1);
  const GradientCode code = code_of(with(text, any), n);
  ASSERT_FALSE(code.exact);
  const Eigen::MatrixXd G = testing::matrix(code);
  for (unsigned mask = 0; mask < 1U << static_cast<unsigned>(n); ++mask) {
    const WorkerSet answered = from_mask(n, mask);
    const auto combination = code.decode(answered);
    ASSERT_EQ(combination.has_value(), mask != 0) << "one must answer";
    if (!combination) continue;
    ASSERT_NEAR(combination->residual, testing::residual_of(G, *combination), 1e-12) << mask;
    ASSERT_LE(combination->residual, 1 + 1e-12) << mask;
    ASSERT_NEAR(
        std::max(1.0, testing::amplification(code, *combination)), combination->amplification, 1e-9)
        << mask;
    const double least = testing::least_residual(G, answered);
    ASSERT_GE(combination->residual, least - 1e-12) << mask;
    if (optimal) {  // x is a projection of the all-ones vector: |x|^2 = sum x
      ASSERT_NEAR(combination->residual, least, 1e-9) << mask;
      double sum = 0;
      for (const WorkerWeight& term : combination->terms) {
        sum += term.weight * G.row(term.worker.value).sum();
      }
      ASSERT_NEAR(combination->residual, 1 - sum / code.chunks, 1e-9) << mask;
    }
    for (const WorkerWeight& term : combination->terms) {
      ASSERT_TRUE(answered.contains(term.worker));
      ASSERT_NE(term.weight, 0);
      ASSERT_FALSE(code.rows[term.worker.index()].terms().empty()) << "such send no message";
    }
  }
}

TEST_P(EveryApproximateCode, AnswersForAsManyStragglersAsItWasToldAndStatesItsLoad) {
  const auto& [text, n, optimal] = GetParam();
  const GradientCode code = code_of(with(text, "s=2"), n);
  EXPECT_EQ(code.tolerance, 2);
  const Eigen::MatrixXd G = testing::matrix(code);
  const auto most = static_cast<double>((G.array() != 0).rowwise().count().maxCoeff());
  EXPECT_NEAR(code.load, most / code.chunks, 1e-12);
  EXPECT_EQ(code.chunk_size.size(), static_cast<std::size_t>(code.chunks));
  for (unsigned mask = 0; mask < 1U << static_cast<unsigned>(n); ++mask) {
    const WorkerSet answered = from_mask(n, mask);
    const bool complete = code.name == "erasurehead" && !answered.empty() &&
                          testing::least_residual(G, answered) < 1e-12;
    ASSERT_EQ(code.decodable(answered), n - answered.size() <= 2 || complete) << mask;
    ASSERT_EQ(code.decode(answered).has_value(), code.decodable(answered)) << mask;
  }
}

TEST_P(EveryApproximateCode, WaitsUntilItLeavesNoMoreThanItMay) {
  const auto& [text, n, optimal] = GetParam();
  if (!optimal) {
    const auto refused = make_code(with(text, "residual=0.1"), {.workers = n, .seed = 1});
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().message.find("residual="), std::string::npos);
    return;
  }
  const GradientCode code = code_of(with(text, "residual=0.1"), n);
  const Eigen::MatrixXd G = testing::matrix(code);
  for (unsigned mask = 0; mask < 1U << static_cast<unsigned>(n); ++mask) {
    const WorkerSet answered = from_mask(n, mask);
    const double least = testing::least_residual(G, answered);
    if (std::abs(least - 0.1) < 1e-9) continue;
    const bool enough = answered.size() == n || (least < 0.1 && !answered.empty());
    ASSERT_EQ(code.decodable(answered), enough) << mask;
    ASSERT_EQ(code.decode(answered).has_value(), enough) << mask;
  }
}

TEST_P(EveryApproximateCode, IsAFunctionOfItsSeed) {
  const auto& [text, n, optimal] = GetParam();
  const std::string whole = with(text, "s=1");
  EXPECT_EQ(testing::matrix(code_of(whole, n, 5)), testing::matrix(code_of(whole, n, 5)));
}

INSTANTIATE_TEST_SUITE_P(Codes,
                         EveryApproximateCode,
                         ::testing::ValuesIn(cases()),
                         [](const auto& one) {
                           std::string name = one.param.text;
                           std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
                           return name + std::to_string(one.param.workers);
                         });

TEST(CodeCatalog, HoldsEveryCodeThatExistsNearAnyNumberOfWorkers) {
  EXPECT_EQ(code_catalog().size(), 27U);
  for (const CodeDescription& code : code_catalog()) {
    for (const int n : {5, 16, 37, 60}) {
      const int near = nearest_workers(code.name, n, 2);
      const auto made = make_code(code.name + ":s=2", {.workers = near, .keep_promise = false});
      ASSERT_TRUE(made.has_value()) << code.name << " " << near << ": " << made.error().message;
      EXPECT_EQ(made->name, code.name);
      EXPECT_EQ(made->exact, code.exact);
      EXPECT_EQ(made->workers(), near);
    }
  }
}

TEST(CodeCatalog, KnowsWhereThereIsNone) {
  EXPECT_EQ(nearest_workers("biplane", 60, 40), 0);
  EXPECT_EQ(nearest_workers("pairs", 60, 70), 71);
}

TEST(Decoders, LeaveNoLessThanTheOptimalOneAndNoMoreWithMoreIterations) {
  for (const auto& [text, n] : {std::pair<std::string, int>{"graph:r=4", 10},
                                {"expander:r=3", 10},
                                {"bernoulli:r=3", 9},
                                {"regularized-bernoulli:r=3", 9},
                                {"stochastic-block:block=5", 10},
                                {"projective-plane", 7},
                                {"affine-plane", 9},
                                {"affine-plane:transposed=yes", 12},
                                {"subsets:r=3", 6},
                                {"soft-design", 9},
                                {"product:left=pairs,left-workers=4,right=separate", 8},
                                {"heterogeneous:p=0.2", 9},
                                {"stochastic:p=0.2", 9}}) {
    const auto with_decoder = [&, workers = n, &code = text](const std::string& decoder) {
      return code_of(with(code, "s=" + std::to_string(workers - 1) + ",decoder=" + decoder),
                     workers);
    };
    const GradientCode optimal = with_decoder("optimal");
    const GradientCode one_step = with_decoder("one-step");
    const GradientCode uniform = with_decoder("uniform");
    std::vector<GradientCode> algorithmic;
    for (const char* t : {"1", "2", "5", "20"}) {
      algorithmic.push_back(with_decoder("algorithmic,iterations=" + std::string(t)));
    }
    for (unsigned mask = 1; mask < 1U << static_cast<unsigned>(n); ++mask) {
      const WorkerSet answered = from_mask(n, mask);
      const auto left = [&](const GradientCode& code) { return code.decode(answered)->residual; };
      const double least = left(optimal);
      ASSERT_LE(left(uniform), left(one_step) + 1e-9) << text << " " << mask;
      ASSERT_GE(left(uniform), least - 1e-9) << text << " " << mask;
      double before = 1;
      for (const GradientCode& code : algorithmic) {
        ASSERT_LE(left(code), before + 1e-9) << text << " " << mask;
        ASSERT_GE(left(code), least - 1e-9) << text << " " << mask;
        before = left(code);
      }
    }
  }
}

TEST(CodeCatalog, RefusesWhatDoesNotExistInOneLineThatNamesTheNearest) {
  const auto message = [](const std::string& text, int workers) {
    const auto code = make_code(text, {.workers = workers});
    EXPECT_FALSE(code.has_value()) << text;
    return code ? std::string() : code.error().message;
  };
  EXPECT_EQ(message("projective-plane:s=2", 16),
            "projective-plane: there is none on 16 workers, only on q^2+q+1, q a power of a prime; "
            "the nearest: 13 or 21");
  EXPECT_EQ(message("erasurehead:r=4,s=2", 30),  // what the published launcher asks for
            "erasurehead: r = 4 does not divide 30 workers; 3 and 5 do");
  EXPECT_NE(message("erasurehead:s=2", 13).find("the nearest numbers are 12 or 14"),
            std::string::npos);
  EXPECT_NE(message("erasurehead:r=3,s=9", 12).find("at most s = 8"), std::string::npos);
  EXPECT_NE(message("steiner:s=1", 16).find("the nearest: 15 or 19"), std::string::npos);
  EXPECT_NE(message("hadamard:s=1", 16).find("the nearest: 15 or 19"), std::string::npos);
  EXPECT_NE(message("affine-plane:s=1", 20).find("the nearest: 16 or 25"), std::string::npos);
  EXPECT_NE(message("biplane:s=1", 20).find("the nearest: 16 or 37"), std::string::npos);
  EXPECT_NE(message("graph:r=3,s=1", 16).find("the nearest: 15"), std::string::npos);
  EXPECT_NE(message("expander:r=3,s=1", 9).find("the nearest: 8 and 10"), std::string::npos);
  EXPECT_NE(message("product:s=1", 60).find("56 or 62"), std::string::npos);
  EXPECT_NE(message("erasurehead:r=3,s=8,decoder=uniform", 9).find("at most s = 6"),
            std::string::npos)
      << "not that it does not know decoder=, which it had no reason to read";
  EXPECT_NE(message("real-mds:s=3", 9).find("s = 2 or 4"), std::string::npos);
  EXPECT_NE(message("heterogeneous:s=1,held=1,chunks=12", 6).find("held = 2 is the least"),
            std::string::npos);
  EXPECT_NE(message("stochastic:base=3,s=1", 10).find("9 or 27"), std::string::npos);
  EXPECT_NE(message("speed-aware:s=1,speeds=9/1/1/1", 4).find("at most 3"), std::string::npos);
  EXPECT_EQ(message("grahp:s=1", 16), "unknown code 'grahp'; did you mean 'graph'?");
  EXPECT_NE(message("graph:s=1,e=3", 15).find("unknown parameter 'e'"), std::string::npos);
  EXPECT_NE(message("graph", 15).find("needs s="), std::string::npos);
  EXPECT_NE(message("graph:s=15", 15).find("s=15 is not allowed"), std::string::npos);
}

// Spec 0.7: with r = 1 common weights n/m leave U(n, 1, s), whoever straggles.
TEST(ApproximateCodes, IgnoringStragglersLeavesTheSameWhoeverStraggles) {
  constexpr int n = 9;
  const GradientCode code = code_of("ignore:s=4", n);
  EXPECT_NEAR(code.load, 1.0 / n, 1e-12);
  for (int s = 0; s <= 4; ++s) {
    const auto left = testing::over_all_sets(code, s);
    EXPECT_NEAR(left.mean, testing::one_step_mean(n, 1, s), 1e-12);
    EXPECT_NEAR(left.worst, s / (n - 1.0 * s), 1e-12);
  }
  EXPECT_FALSE(code_of("ignore:residual=0.3", n).decodable(testing::all_but(n, {0, 1, 2})));
  EXPECT_TRUE(code_of("ignore:residual=0.3", n).decodable(testing::all_but(n, {0, 1})));
}

TEST(ApproximateCodes, ExistForTheSettingsThatSearchesTry) {
  const auto settings = [](const char* name, int n) { return code_settings(name, n, n); };
  EXPECT_EQ(settings("graph", 15),
            (std::vector<std::string>{
                "graph=circulant,r=2", "r=3", "graph=petersen,r=3", "r=5", "graph=complete,r=5"}));
  EXPECT_EQ(settings("erasurehead", 6), (std::vector<std::string>{"r=1", "r=2", "r=3", "r=6"}));
  EXPECT_EQ(settings("projective-plane", 13), (std::vector<std::string>{"", "complement=yes"}));
  EXPECT_TRUE(settings("projective-plane", 12).empty());
  EXPECT_TRUE(settings("stochastic", 12).empty()) << "does not decode";
  for (const char* name : {"erasurehead",
                           "graph",
                           "expander",
                           "projective-plane",
                           "affine-plane",
                           "hadamard",
                           "biplane",
                           "steiner",
                           "pairs",
                           "product"}) {
    for (const int n : {4, 7, 9, 14, 15, 16}) {
      for (const std::string& setting : settings(name, n)) {
        const std::string text =
            std::string(name) + ":residual=0.1" + (setting.empty() ? "" : ",") + setting;
        const auto code = make_code(text, {.workers = n});
        ASSERT_TRUE(code) << text << " " << n << ": " << code.error().message;
      }
    }
  }
}

}  // namespace
}  // namespace paceline
