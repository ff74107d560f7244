#include <gtest/gtest.h>

#include <set>
#include <string>

#include "codes/code_test_support.hpp"
#include "paceline/gradient_code.hpp"

namespace paceline {
namespace {

TEST(CodeCatalog, KnowsItsNames) {
  EXPECT_EQ(code_names(), (std::vector<std::string>{"repetition", "cyclic", "mds", "auto"}));
}

TEST(CodeCatalog, SuggestsTheNearestNameForAWrongOne) {
  const auto code = make_code({.name = "repitition", .workers = 4, .stragglers = 1});
  ASSERT_FALSE(code.has_value());
  EXPECT_EQ(code.error().message, "unknown code 'repitition'; did you mean 'repetition'?");
}

TEST(CodeCatalog, TakesRepetitionWhereItsGroupsAreEven) {
  for (const auto& [n, s] : {std::pair{12, 2}, {8, 3}, {256, 15}, {6, 0}, {6, 5}}) {
    EXPECT_EQ(make_code({.workers = n, .stragglers = s})->name, "repetition") << n << " " << s;
  }
}

TEST(CodeCatalog, TakesTheCyclicCodeWhereItIsCheaperAndKeepsItsPromise) {
  const auto code = make_code({.workers = 5, .stragglers = 2}).value();
  EXPECT_EQ(code.name, "cyclic");
  EXPECT_DOUBLE_EQ(code.load, 0.6);
  EXPECT_EQ(make_code({.workers = 128, .stragglers = 9})->name, "repetition")
      << "the cyclic code would be cheaper but amplifies too much";
}

TEST(CodeCatalog, RefusesACodeThatCannotKeepItsPromiseAndNamesOneThatCan) {
  const auto code = make_code({.name = "cyclic", .workers = 64, .stragglers = 7});
  ASSERT_FALSE(code.has_value());
  const std::string& message = code.error().message;
  EXPECT_EQ(message.find("code 'cyclic' at n = 64, s = 7 cannot keep its promise: amplification "),
            0U)
      << message;
  EXPECT_NE(message.find("promised is 1e-05; code 'repetition' keeps it at load 0.125"),
            std::string::npos)
      << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(CodeCatalog, PromisesLessForMessagesOf16BitsAndRefusesWhatCannotKeepEvenThat) {
  CodeRequest request = {.name = "mds", .workers = 12, .stragglers = 5};
  const double amplification = measure_quality(make_code(request).value()).p95_amplification;
  ASSERT_LT(amplification, promised_amplification(MessageType::kFloat16));
  ASSERT_GT(amplification, promised_amplification(MessageType::kBfloat16));
  request.message_type = MessageType::kFloat16;
  EXPECT_TRUE(make_code(request));
  request.message_type = MessageType::kBfloat16;
  const auto refused = make_code(request);
  ASSERT_FALSE(refused);
  const std::string& message = refused.error().message;
  EXPECT_EQ(message.find("code 'mds' at n = 12, s = 5 cannot keep its promise with bfloat16 "
                         "messages: amplification "),
            0U)
      << message;
  EXPECT_NE(message.find("promised is 5e-02; code 'repetition' keeps it at load 0.5"),
            std::string::npos)
      << message;
}

TEST(CodeCatalog, ChoosesAmongTheCodesThatKeepThePromiseOfTheType) {
  for (const auto& [type, name] : {std::pair{MessageType::kFloat32, "cyclic"},
                                   {MessageType::kFloat16, "cyclic"},
                                   {MessageType::kBfloat16, "repetition"}}) {
    EXPECT_EQ(make_code({.workers = 7, .stragglers = 3, .message_type = type})->name, name);
  }
  for (const MessageType type : {MessageType::kFloat16, MessageType::kBfloat16}) {
    for (const auto& [n, s] : {std::pair{5, 2}, {7, 3}, {9, 4}, {16, 5}}) {
      const auto code = make_code({.workers = n, .stragglers = s, .message_type = type}).value();
      for (unsigned trial = 0; trial < 200; ++trial) {
        WorkerSet answered = WorkerSet::all(n);
        for (int k = 0; k < s; ++k) {
          answered.erase(WorkerId{static_cast<int>(trial * (k + 3U) + k * k) % n});
        }
        const auto combination = code.decode(answered);
        if (!combination) continue;
        EXPECT_LE(decode_error_bound(combination->amplification, 0, code.chunks, type),
                  promised_error(type));
      }
    }
  }
}

TEST(CodeCatalog, BuildsThatCodeAllTheSameWithoutThePromise) {
  const auto code =
      make_code({.name = "cyclic", .workers = 64, .stragglers = 7, .keep_promise = false}).value();
  const CodeQuality quality = measure_quality(code);
  EXPECT_GT(quality.p95_amplification, promised_amplification(MessageType::kFloat32));
  EXPECT_LT(quality.worst_amplification, testing::kNoLimit) << "nothing is refused";
}

TEST(CodeCatalog, KeepsItsPromiseForEverySetItDecodes) {
  for (const char* name : {"repetition", "cyclic", "mds"}) {
    const auto code = make_code({.name = name, .workers = 9, .stragglers = 4}).value();
    for (unsigned mask = 0; mask < 1U << 9U; ++mask) {
      const auto combination = code.decode(testing::from_mask(9, mask));
      if (!combination) continue;
      EXPECT_LE(
          decode_error_bound(combination->amplification, 0, code.chunks, MessageType::kFloat32),
          kPromisedError);
    }
  }
}

TEST(CodeCatalog, KeepsTheStrideCodeWhileItAmplifiesLittle) {
  EXPECT_TRUE(make_code({.name = "mds", .workers = 256, .stragglers = 8}).has_value());
  EXPECT_FALSE(make_code({.name = "mds", .workers = 256, .stragglers = 16}).has_value());
}

TEST(CodeCatalog, WithoutWeightsOnlyTheWeightsAreMissing) {
  for (const std::string name : {"repetition", "cyclic", "mds", "auto"}) {
    CodeRequest request = {.name = name, .workers = 9, .stragglers = 3, .keep_promise = false};
    const GradientCode whole = make_code(request).value();
    request.weights = false;
    const GradientCode code = make_code(request).value();
    EXPECT_EQ(code.name, whole.name);
    EXPECT_EQ(code.shape.parts, whole.shape.parts);
    EXPECT_EQ(code.tolerance, whole.tolerance);
    EXPECT_EQ(code.load, whole.load);
    EXPECT_EQ(code.backward_passes, whole.backward_passes);
    EXPECT_EQ(code.chunk_size, whole.chunk_size);
    for (unsigned bits = 0; bits < 512; ++bits) {
      WorkerSet answered(9);
      for (int i = 0; i < 9; ++i) {
        if ((bits >> static_cast<unsigned>(i) & 1U) != 0) answered.insert(WorkerId{i});
      }
      EXPECT_EQ(code.decodable(answered), whole.decodable(answered));
    }
    for (std::size_t i = 0; i < code.rows.size(); ++i) {
      const auto chunks = [](const Row& row) {
        std::set<int> held;
        for (const Term& term : row.terms()) {
          for (int j = 0; j < term.count; ++j) held.insert(term.chunk.value + j);
        }
        return held;
      };
      EXPECT_EQ(chunks(code.rows[i]), chunks(whole.rows[i]));
    }
  }
  const GradientCode code = make_code({.name = "cyclic",
                                       .workers = 9,
                                       .stragglers = 3,
                                       .keep_promise = false,
                                       .weights = false})
                                .value();
  EXPECT_THROW(code.decode(WorkerSet::all(9)), ContractViolation);
}

}  // namespace
}  // namespace paceline
