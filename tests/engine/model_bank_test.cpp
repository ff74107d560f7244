// The master's payloads: sums of messages, instalments, parts, what is not finite, who still reads
// old parameters.
#include "paceline/model_bank.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "paceline/check.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// parameters -= gradient
class PlainDescent final : public Optimizer {
 public:
  void step(std::span<float> parameters, std::span<const float> gradient) override {
    ASSERT_EQ(parameters.size(), gradient.size());
    for (std::size_t j = 0; j < parameters.size(); ++j) parameters[j] -= gradient[j];
  }

  std::unique_ptr<Optimizer> clone() const override {
    return std::make_unique<PlainDescent>(*this);
  }
};

ModelBank make_bank(const ModelBankOptions& options, int models = 1) {
  std::vector<std::unique_ptr<Optimizer>> optimizers;
  for (int m = 0; m < models; ++m) optimizers.push_back(std::make_unique<PlainDescent>());
  return ModelBank(options,
                   std::vector<std::vector<float>>(static_cast<std::size_t>(models),
                                                   std::vector<float>(options.length, 0.0F)),
                   std::move(optimizers));
}

MessageId id(int worker, int round = 0, int task = 0) {
  return {WorkerId{worker}, Round{round}, task};
}

Apply make_apply(std::vector<Coefficient> terms, int version = 1, bool complete = true) {
  Apply apply{JobId{version - 1}, ModelId{0}, Version{version}, {}};
  apply.sum.job = apply.job;
  apply.sum.terms = std::move(terms);
  apply.sum.complete = complete;
  return apply;
}

std::vector<float> values_of(const ModelBank& bank, int model = 0) {
  return *bank.parameters(ModelId{model});
}

std::string error_of(const Expected<Applied>& result) {
  return result ? "no error" : result.error().message;
}

const char* const kWorkerThreeIsBad =
    "worker 3's message for job 0 holds a number that is not finite (NaN or infinity)";

TEST(ModelBank, StartsWithVersionZero) {
  std::vector<std::unique_ptr<Optimizer>> optimizers;
  optimizers.push_back(std::make_unique<PlainDescent>());
  optimizers.push_back(std::make_unique<PlainDescent>());
  const ModelBank bank({.length = 2}, {{1, 2}, {3, 4}}, std::move(optimizers));
  EXPECT_EQ(bank.models(), 2);
  EXPECT_EQ(bank.version(ModelId{1}), Version{0});
  EXPECT_EQ(values_of(bank, 0), (std::vector<float>{1, 2}));
  EXPECT_EQ(values_of(bank, 1), (std::vector<float>{3, 4}));
}

TEST(ModelBank, StepsWithTheMeanOfTheDecodedSum) {
  ModelBank bank = make_bank({.length = 2, .batch_size = 10});
  bank.keep_gradient(true);
  bank.store(id(0), {1, 2}, 6, 3);
  bank.store(id(1), {10, 20}, 8, 4);
  const auto applied = bank.apply(make_apply({{id(0), 2}, {id(1), 1}}));
  ASSERT_TRUE(applied);
  EXPECT_TRUE(applied->stepped);
  EXPECT_EQ(applied->gradient, (std::vector<float>{12, 24})) << "the sum, not the mean";
  EXPECT_DOUBLE_EQ(applied->loss, 2.0) << "14 over 7 samples";
  EXPECT_EQ(bank.version(ModelId{0}), Version{1});
  const auto values = values_of(bank);
  EXPECT_FLOAT_EQ(values[0], -1.2F);
  EXPECT_FLOAT_EQ(values[1], -2.4F);
}

TEST(ModelBank, MakesNoStepWithAGradientThatLacksTooMuch) {
  ModelBank bank = make_bank({.length = 1, .skip_above = 0.25});
  for (const auto& [version, residual, expected] :
       {std::tuple{1, 0.25, -1.0F}, {2, 0.26, -1.0F}, {3, 0.0, -2.0F}}) {
    bank.store(id(0), {1}, 3, 1);
    Apply apply = make_apply({{id(0), 1}}, version);
    apply.sum.residual = residual;
    const auto applied = bank.apply(apply);
    ASSERT_TRUE(applied);
    EXPECT_TRUE(applied->stepped) << "there is a new version in any case";
    EXPECT_EQ(applied->skipped, residual > 0.25);
    EXPECT_EQ(applied->loss, 3);
    EXPECT_EQ(bank.version(ModelId{0}), Version{version});
    EXPECT_EQ(values_of(bank)[0], expected) << residual;
  }
}

TEST(ModelBank, KeepsGradientsOnlyWhenAsked) {
  ModelBank bank = make_bank({.length = 1});
  bank.store(id(0), {1}, 0, 1);
  EXPECT_TRUE(bank.apply(make_apply({{id(0), 1}}))->gradient.empty());
}

TEST(ModelBank, UpdatesOneModelAndLeavesTheOthers) {
  ModelBank bank = make_bank({.length = 1}, 3);
  bank.store(id(0), {1}, 0, 1);
  Apply apply = make_apply({{id(0), 1}});
  apply.model = ModelId{2};
  ASSERT_TRUE(bank.apply(apply));
  EXPECT_EQ(values_of(bank, 0)[0], 0);
  EXPECT_EQ(values_of(bank, 1)[0], 0);
  EXPECT_EQ(values_of(bank, 2)[0], -1);
  EXPECT_EQ(bank.version(ModelId{0}), Version{0});
  EXPECT_EQ(bank.version(ModelId{2}), Version{1});
}

TEST(ModelBank, AddsInstalmentsToARunningSum) {
  ModelBank bank = make_bank({.length = 2, .batch_size = 2});
  bank.keep_gradient(true);
  bank.store(id(0), {1, 2}, 5, 5);
  const auto first = bank.apply(make_apply({{id(0), 1}}, 1, false));
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->stepped);
  EXPECT_EQ(bank.version(ModelId{0}), Version{0});
  EXPECT_EQ(values_of(bank), (std::vector<float>{0, 0}));
  bank.drop(std::vector<MessageId>{id(0)});  // an instalment's messages may go at once

  bank.store(id(1), {10, 20}, 7, 1);
  ASSERT_TRUE(bank.apply(make_apply({{id(1), 0.5}}, 1, false)));
  bank.store(id(2), {100, 200}, 0, 6);
  const auto last = bank.apply(make_apply({{id(2), 1}}));
  ASSERT_TRUE(last);
  EXPECT_TRUE(last->stepped);
  EXPECT_EQ(last->gradient, (std::vector<float>{106, 212}));
  EXPECT_DOUBLE_EQ(last->loss, 1.0) << "12 over 12 samples of all instalments";
  EXPECT_EQ(values_of(bank), (std::vector<float>{-53, -106}));
}

TEST(ModelBank, AnInstalmentDoesNotReachTheNextJob) {
  ModelBank bank = make_bank({.length = 1});
  bank.store(id(0), {1}, 3, 1);
  ASSERT_TRUE(bank.apply(make_apply({{id(0), 1}}, 1, false)));
  ASSERT_TRUE(bank.apply(make_apply({})));
  EXPECT_EQ(values_of(bank)[0], -1);
  bank.store(id(1), {10}, 5, 1);
  const auto second = bank.apply(make_apply({{id(1), 1}}, 2));
  ASSERT_TRUE(second);
  EXPECT_DOUBLE_EQ(second->loss, 5);
  EXPECT_EQ(values_of(bank)[0], -11);
}

TEST(ModelBank, InstalmentsOfSeveralJobsAreKeptApart) {
  ModelBank bank = make_bank({.length = 1}, 2);
  Apply other{JobId{1}, ModelId{1}, Version{1}, {}};
  bank.store(id(0), {1}, 0, 1);
  bank.store(id(1), {10}, 0, 1);
  other.sum = {JobId{1}, {{id(1), 1}}, 0, 1, false};
  ASSERT_TRUE(bank.apply(make_apply({{id(0), 1}}, 1, false)));
  ASSERT_TRUE(bank.apply(other));
  ASSERT_TRUE(bank.apply(make_apply({})));
  other.sum = {JobId{1}, {}, 0, 1, true};
  ASSERT_TRUE(bank.apply(other));
  EXPECT_EQ(values_of(bank, 0)[0], -1);
  EXPECT_EQ(values_of(bank, 1)[0], -10);
}

/// The coefficients of a complex weight on the two halves of a message.
std::vector<Coefficient> complex_weight(const MessageId& message, double real, double imaginary) {
  std::vector<Coefficient> terms;
  if (real != 0) terms.push_back({message, real, 0, 0});
  if (imaginary != 0) terms.push_back({message, -imaginary, 1, 0});
  if (imaginary != 0) terms.push_back({message, imaginary, 0, 1});
  if (real != 0) terms.push_back({message, real, 1, 1});
  return terms;
}

TEST(ModelBank, CombinesSegmentsIntoParts) {
  for (const bool instalments : {false, true}) {
    ModelBank bank = make_bank({.length = 3, .shape = {2}});  // padded to 4
    bank.keep_gradient(true);
    bank.store(id(0), {1, 2, 3, 4}, 10, 5);
    bank.store(id(1), {5, 6, 7, 0}, 20, 5);
    std::vector<Coefficient> terms = complex_weight(id(0), 2, 3);
    const std::vector<Coefficient> more = complex_weight(id(1), 1, 0);
    if (instalments) {
      ASSERT_TRUE(bank.apply(make_apply(terms, 1, false)));
      terms.clear();
    }
    terms.insert(terms.end(), more.begin(), more.end());
    const auto applied = bank.apply(make_apply(terms));
    ASSERT_TRUE(applied);
    // First part: 2 (1, 2) - 3 (3, 4) + (5, 6); second: 3 (1, 2) + 2 (3, 4) + (7, 0), less padding.
    EXPECT_EQ(applied->gradient, (std::vector<float>{-2, -2, 16}));
    EXPECT_DOUBLE_EQ(applied->loss, 3.0) << "a message in pieces counts once: 30 over 10";
  }
}

TEST(ModelBank, AMessageOfPurelyImaginaryWeightCountsForTheLoss) {
  ModelBank bank = make_bank({.length = 4, .shape = {2}});
  bank.store(id(0), {1, 2, 3, 4}, 10, 5);
  const auto applied = bank.apply(make_apply(complex_weight(id(0), 0, 1)));
  ASSERT_TRUE(applied);
  EXPECT_DOUBLE_EQ(applied->loss, 2.0);
}

TEST(ModelBank, WholeMessagesAndPiecesMayBeMixed) {
  ModelBank bank = make_bank({.length = 4, .shape = {2}});
  bank.keep_gradient(true);
  bank.store(id(0), {1, 2, 3, 4}, 0, 1);
  bank.store(id(1), {10, 20, 30, 40}, 0, 1);
  const auto applied = bank.apply(make_apply({{id(0), 1}, {id(1), 2, 1, 0}}));
  ASSERT_TRUE(applied);
  EXPECT_EQ(applied->gradient, (std::vector<float>{61, 82, 3, 4}));
}

TEST(ModelBank, ShortMessagesFillALongGradient) {
  ModelBank bank = make_bank({.length = 7, .shape = {4, 2}});  // padded to 8
  bank.keep_gradient(true);
  bank.store(id(0), {1, 2, 3, 4}, 0, 1);
  bank.store(id(1), {10, 20, 30, 40}, 0, 1);
  EXPECT_EQ(bank.message_bytes(), 8 * sizeof(float));
  const auto applied = bank.apply(make_apply(
      {{id(0), 1, 0, 0}, {id(0), 1, 1, 1}, {id(1), 1, 0, 2}, {id(1), 2, 1, 3}, {id(0), 1, 0, 3}}));
  ASSERT_TRUE(applied);
  EXPECT_EQ(applied->gradient, (std::vector<float>{1, 2, 3, 4, 10, 20, 61}));
}

TEST(ModelBank, ADecodingThatNeedsAMissingPartLeavesItZero) {
  ModelBank bank = make_bank({.length = 4, .shape = {2}});
  bank.keep_gradient(true);
  for (const int version : {1, 2}) {  // the second time there is something to overwrite
    bank.store(id(0), {1, 2, 3, 4}, 0, 1);
    const int part = version - 1;
    const auto applied = bank.apply(make_apply({{id(0), 1, 0, part}}, version));
    ASSERT_TRUE(applied);
    EXPECT_EQ(applied->gradient,
              part == 0 ? (std::vector<float>{1, 2, 0, 0}) : (std::vector<float>{0, 0, 1, 2}));
  }
}

TEST(ModelBank, AUsedMessageThatIsNotFiniteIsAnErrorThatNamesWorkerAndJob) {
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    ModelBank bank = make_bank({.length = 2});
    bank.store(id(1), {1, 1}, 0, 1);
    bank.store(id(3), {1, bad}, 0, 1);
    const auto applied = bank.apply(make_apply({{id(1), 1}, {id(3), 0.5}}));
    EXPECT_EQ(error_of(applied), kWorkerThreeIsBad);
    EXPECT_EQ(applied.error().code, ErrorCode::kFailed);
    EXPECT_EQ(bank.version(ModelId{0}), Version{0});
    EXPECT_EQ(values_of(bank), (std::vector<float>{0, 0}));
  }
}

TEST(ModelBank, ABadMessageInAnInstalmentIsNamedAtOnce) {
  ModelBank bank = make_bank({.length = 2});
  bank.store(id(3), {1, kNan}, 0, 1);
  EXPECT_EQ(error_of(bank.apply(make_apply({{id(3), 0.5}}, 1, false))), kWorkerThreeIsBad);
}

TEST(ModelBank, AMessageThatIsNotUsedMayHoldAnything) {
  for (const bool complete : {true, false}) {
    ModelBank bank = make_bank({.length = 2});
    bank.store(id(0), {1, 2}, 4, 2);
    bank.store(id(3), {kNan, kInfinity}, kNan, 2);
    const auto applied = bank.apply(make_apply({{id(3), 0}, {id(0), 1}}, 1, complete));
    EXPECT_EQ(error_of(applied), "no error");
    const auto last = complete ? applied : bank.apply(make_apply({}));
    ASSERT_TRUE(last);
    EXPECT_DOUBLE_EQ(last->loss, 2.0) << "4 over 2 samples";
    EXPECT_EQ(values_of(bank), (std::vector<float>{-1, -2}));
  }
}

TEST(ModelBank, ASegmentThatIsNotUsedMayHoldAnything) {
  for (const bool complete : {true, false}) {
    ModelBank bank = make_bank({.length = 2, .shape = {2}});
    bank.store(id(3), {1, kNan}, 0, 1);
    const std::vector<Coefficient> terms = {{id(3), 1, 0, 0}, {id(3), 2, 0, 1}};
    EXPECT_EQ(error_of(bank.apply(make_apply(terms, 1, complete))), "no error");
  }
}

TEST(ModelBank, AnOverflowIsNoWorkersFault) {
  ModelBank bank = make_bank({.length = 1});
  bank.store(id(0), {3e38F}, 0, 1);
  bank.store(id(1), {3e38F}, 0, 1);
  const char* const expected =
      "job 0: the decoded gradient is not finite although every message is: it overflows float32; "
      "lower the learning rate or check the data";
  EXPECT_EQ(error_of(bank.apply(make_apply({{id(0), 1}, {id(1), 1}}))), expected);
  ModelBank other = make_bank({.length = 1});
  other.store(id(0), {3e38F}, 0, 1);
  ASSERT_TRUE(other.apply(make_apply({{id(0), 1}}, 1, false)));
  EXPECT_EQ(error_of(other.apply(make_apply({{id(0), 1}}))), expected);
}

TEST(ModelBank, LargeMessagesThatCancelAreFine) {
  ModelBank bank = make_bank({.length = 1});
  bank.store(id(0), {3e38F}, 0, 1);
  bank.store(id(1), {-3e38F}, 0, 1);
  bank.store(id(2), {1}, 0, 1);
  ASSERT_TRUE(bank.apply(make_apply({{id(0), 2}, {id(1), 2}, {id(2), 1}})));
  EXPECT_EQ(values_of(bank)[0], -1);
}

TEST(ModelBank, ASnapshotStaysAsItWasWhileItIsHeld) {
  ModelBank bank = make_bank({.length = 2});
  const Parameters before = bank.parameters(ModelId{0});
  bank.store(id(0), {1, 2}, 0, 1);
  ASSERT_TRUE(bank.apply(make_apply({{id(0), 1}})));
  EXPECT_EQ(*before, (std::vector<float>{0, 0}));
  EXPECT_EQ(values_of(bank), (std::vector<float>{-1, -2}));
}

// For the thread sanitizer: a reader that lets go of a snapshot needs no other synchronisation.
TEST(ModelBank, AReaderInAnotherThreadMayLetGoAtAnyTime) {
  ModelBank bank = make_bank({.length = 64});
  bank.store(id(0), std::vector<float>(64, 1.0F), 0, 1);
  for (int version = 1; version <= 200; ++version) {
    std::jthread reader([snapshot = bank.parameters(ModelId{0}), version]() mutable {
      for (const float value : *snapshot) EXPECT_EQ(value, 1.0F - static_cast<float>(version));
      snapshot.reset();
    });
    ASSERT_TRUE(bank.apply(make_apply({{id(0), 1}}, version)));
  }
}

TEST(ModelBank, ChangesItsParametersInPlaceWhenNobodyHoldsThem) {
  ModelBank bank = make_bank({.length = 2});
  const float* const place = bank.parameters(ModelId{0})->data();
  bank.store(id(0), {1, 2}, 0, 1);
  ASSERT_TRUE(bank.apply(make_apply({{id(0), 1}})));
  EXPECT_EQ(bank.parameters(ModelId{0})->data(), place);
}

TEST(ModelBank, DroppedBuffersComeBack) {
  ModelBank bank = make_bank({.length = 3, .shape = {2}});
  EXPECT_TRUE(bank.recycle().empty());
  EXPECT_EQ(bank.message_bytes(), 0U);
  bank.store(id(0), std::vector<float>(4), 0, 1);
  bank.store(id(1), std::vector<float>(4), 0, 1);
  EXPECT_EQ(bank.message_bytes(), 32U);
  bank.drop(std::vector<MessageId>{id(0), id(7)});  // 7 never came
  EXPECT_EQ(bank.message_bytes(), 16U);
  EXPECT_EQ(bank.recycle().size(), 4U);
  EXPECT_TRUE(bank.recycle().empty());
  bank.drop(std::vector<MessageId>{id(0), id(1)});
  EXPECT_EQ(bank.message_bytes(), 0U);
}

TEST(ModelBank, ASecondMessageOfTheSameNameReplacesTheFirst) {
  ModelBank bank = make_bank({.length = 1});
  bank.store(id(0), {1}, 5, 1);
  bank.store(id(0), {2}, 7, 1);
  const auto applied = bank.apply(make_apply({{id(0), 1}}));
  ASSERT_TRUE(applied);
  EXPECT_DOUBLE_EQ(applied->loss, 7);
  EXPECT_EQ(values_of(bank)[0], -2);
}

TEST(ModelBank, RandomDecodingsAgreeWithASlowSum) {
  constexpr std::size_t kLength = 4999;
  constexpr int kParts = 3;
  constexpr std::size_t kPadded = 5001;
  RandomStream random(1, "bank");
  for (const bool pieces : {false, true}) {
    ModelBank bank = make_bank({.length = kLength, .shape = {kParts}});
    bank.keep_gradient(true);
    std::vector<double> expected(kPadded, 0.0);
    std::vector<Coefficient> terms;
    for (int worker = 0; worker < 9; ++worker) {
      std::vector<float> values(kPadded);
      for (float& value : values) value = static_cast<float>(random.normal());
      for (int part = 0; part < (pieces ? kParts : 1); ++part) {
        Coefficient term{id(worker), random.normal()};
        if (pieces) {
          term.segment = static_cast<int>(random.below(kParts));
          term.part = part;
        }
        const std::size_t size = pieces ? kPadded / kParts : kPadded;
        const std::size_t from = pieces ? static_cast<std::size_t>(term.segment) * size : 0;
        for (std::size_t j = 0; j < size; ++j) {
          expected[static_cast<std::size_t>(part) * size + j] += term.weight * values[from + j];
        }
        terms.push_back(term);
      }
      bank.store(id(worker), values, 0, 1);
    }
    const auto applied = bank.apply(make_apply(terms));
    ASSERT_TRUE(applied);
    ASSERT_EQ(applied->gradient.size(), kLength);
    for (std::size_t j = 0; j < kLength; ++j) {
      ASSERT_NEAR(applied->gradient[j], expected[j], 1e-6 * (1 + std::abs(expected[j])));
    }
  }
}

TEST(ModelBank, WrongCallsAreBugsOfTheCaller) {
  ModelBank bank = make_bank({.length = 2});
  EXPECT_THROW(bank.store(id(0), {1}, 0, 1), ContractViolation);
  EXPECT_THROW(static_cast<void>(bank.apply(make_apply({{id(5), 1}}))), ContractViolation)
      << "a message that never came";
  bank.store(id(0), {1, 2}, 0, 1);
  EXPECT_THROW(static_cast<void>(bank.apply(make_apply({{id(0), 1}}, 2))), ContractViolation)
      << "a version is left out";
  EXPECT_THROW(make_bank({.length = 2, .batch_size = 0}), ContractViolation);
  EXPECT_THROW(ModelBank({.length = 2}, {{1, 2}}, {}), ContractViolation);
}

}  // namespace
}  // namespace paceline
