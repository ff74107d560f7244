// Runs whose workers round their messages: what is decoded is off by no more than the codes
// promise, and numbers that a type cannot hold never reach a model.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "paceline/gradient_code.hpp"
#include "runtime/runtime_support.hpp"

namespace paceline {
namespace {

using test::TrainingRun;

constexpr int kWorkers = 6;

TrainingRun make_run(const std::string& scheme, MessageType type, int jobs = 6) {
  TrainingRun run(
      make_scheme(scheme, {.workers = kWorkers, .jobs = jobs, .seed = 5, .message_type = type})
          .value());
  run.rounds = {.jobs = jobs, .models = std::max(2, run.scheme->info().open_jobs)};
  run.options.message_type = type;
  return run;
}

TEST(MessageTypes, DecodedGradientsAreWithinTheirBound) {
  for (const MessageType type : {MessageType::kFloat16, MessageType::kBfloat16}) {
    for (const char* scheme : {"uncoded",
                               "gc:s=2,code=repetition",
                               "gc:s=1,code=cyclic",
                               "gc:s=1,code=mds",
                               "gc:code=short-messages,s=1,m=2",
                               "m-sgc:B=1,W=2,lambda=2",
                               "relay:T=1,r0=2"}) {
      TrainingRun run = make_run(scheme, type);
      run.options.verify = true;
      const auto result = run.go();
      ASSERT_TRUE(result) << result.error().message;
      EXPECT_EQ(result->verified, 6);
      // The samples' gradients point the same way here: their sum is at least half as long as
      // they are together.
      const double bound = run.scheme->info().error_bound;
      EXPECT_LE(bound, promised_error(type)) << scheme;
      EXPECT_LT(result->worst_verify_error, 2 * bound) << scheme;
      EXPECT_GT(result->worst_verify_error, unit_roundoff(type) / 20) << scheme;
      EXPECT_LT(test::distance(run.weights, run.expected_weights()), bound) << scheme;
    }
  }
}

TEST(MessageTypes, HalfTheBytesAreReceived) {
  TrainingRun wide = make_run("uncoded", MessageType::kFloat32);
  TrainingRun narrow = make_run("uncoded", MessageType::kFloat16);
  EXPECT_EQ(wide.go()->bytes_per_round, kWorkers * test::kLength * 4);
  EXPECT_EQ(narrow.go()->bytes_per_round, kWorkers * test::kLength * 2);
  EXPECT_NE(wide.weights, narrow.weights);
}

/// Puts a number into what worker 3 makes of the first job.
TrainingRun run_with(float number, MessageType type) {
  TrainingRun run = make_run("uncoded", type, 1);
  run.hook = [number](std::span<const int> samples, std::span<float> out) {
    if (samples[0] == 3 * test::kBatch / kWorkers) out[0] = number;
  };
  return run;
}

TEST(MessageTypes, WhatATypeCannotHoldEndsTheRunWithWorkerAndJob) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  EXPECT_TRUE(run_with(kLargest, MessageType::kFloat32).go());
  for (const MessageType type : {MessageType::kFloat16, MessageType::kBfloat16}) {
    TrainingRun run = run_with(kLargest, type);
    const auto result = run.go();
    ASSERT_FALSE(result) << message_type_name(type);
    EXPECT_EQ(result.error().message,
              "worker 3's message for job 0 holds a number that is not finite (NaN or infinity)");
  }
}

TEST(MessageTypes, Float16HoldsWhatFloat32Holds) {
  // Far beyond 65504, the largest number without a scale.
  TrainingRun run = run_with(1e30F, MessageType::kFloat16);
  const auto result = run.go();
  ASSERT_TRUE(result) << result.error().message;
  const float expected = -0.3F * 1e30F / test::kBatch;
  EXPECT_NEAR(run.weights[0][0] / expected, 1, unit_roundoff(MessageType::kFloat16));
}

TEST(MessageTypes, Float64IsNoTypeToSend) {
  TrainingRun run = make_run("uncoded", MessageType::kFloat32);
  run.options.message_type = MessageType::kFloat64;
  EXPECT_EQ(run.go().error().message,
            "message_type=float64 is not allowed; float32, float16 or bfloat16");
}

}  // namespace
}  // namespace paceline
