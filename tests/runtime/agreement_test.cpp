// What was simulated is what runs: one script of delays through the simulator and the runtime gives
// equal records but for times, for every scheme and close policy, and the weights of plain gradient
// descent.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <string>
#include <vector>

#include "paceline/gradient_code.hpp"
#include "paceline/simulator.hpp"
#include "runtime/runtime_support.hpp"

namespace paceline {
namespace {

using test::TrainingRun;

constexpr int kWorkers = 6;

/// Times that lie at least 8 ms apart, also from twice the fastest one (where mu = 1 cuts): the
/// workers take turns, and one or two of them straggle in two rounds out of three. Each worker is a
/// little slower than the one before it, so that no two look equally fast to a scheme that learns
/// their times: the noise of a live run would break such a tie.
class Script final : public DelaySource {
 public:
  explicit Script(int scale) : millisecond_(0.001 * scale) {}

  int workers() const override { return kWorkers; }

  Delay delay(Round round, WorkerId worker) const override {
    constexpr int kTimes[kWorkers] = {30, 45, 80, 95, 110, 125};
    const int turn = (worker.value * 5 + round.value * (round.value + 1)) % kWorkers;
    const bool straggles = round.value % 3 != 2 && turn >= kWorkers - 1 - round.value % 2;
    const double own = 1.3 * worker.value;
    return {millisecond_ * (kTimes[turn] + own + (straggles ? 100 : 0)), 4 * millisecond_};
  }

 private:
  Seconds millisecond_;
};

struct Case {
  std::string scheme;
  std::string policy;
  bool cancel = true;
};

/// Which orders have lain behind older ones of their workers.
std::vector<bool> queued(const Answers& answers) {
  std::vector<bool> queued;
  for (const Seconds waited : answers.waited) queued.push_back(waited > Seconds{0});
  return queued;
}

void expect_equal(const std::vector<RoundRecord>& live,
                  const std::vector<RoundRecord>& simulated,
                  std::string& difference) {
  const auto differ = [&](std::size_t r, const std::string& what) {
    difference += "round " + std::to_string(r) + ": " + what + "; ";
  };
  if (live.size() != simulated.size()) differ(std::min(live.size(), simulated.size()), "the last");
  for (std::size_t r = 0; r < std::min(live.size(), simulated.size()); ++r) {
    const RoundRecord& a = live[r];
    const RoundRecord& b = simulated[r];
    if (a.round != b.round) differ(r, "number");
    if (a.busy != b.busy) differ(r, "busy");
    if (!(a.stragglers == b.stragglers)) differ(r, "stragglers");
    if (a.answers.done != b.answers.done) differ(r, "done");
    if (a.answers.compute != b.answers.compute) differ(r, "compute");
    if (queued(a.answers) != queued(b.answers)) differ(r, "waited");
    if (a.started != b.started) differ(r, "started");
    if (a.decoded != b.decoded) differ(r, "decoded");
    if (a.waited_out != b.waited_out) differ(r, "waited out");
  }
}

/// An empty text, or what went wrong.
std::string disagreement(const Case& how, int scale) {
  const Script delays(scale);
  const auto policy = make_close_policy(how.policy);
  auto scheme = make_scheme(
      how.scheme, {.workers = kWorkers, .jobs = 12, .rule = policy.value()->rule(), .seed = 5});
  if (!scheme) return scheme.error().message;

  TrainingRun run(std::move(scheme).value());
  run.policy = how.policy;
  run.rounds = {.jobs = 12,
                .models = std::max(2, run.scheme->info().open_jobs),
                .cancel_stragglers = how.cancel};
  run.options.delays = &delays;
  run.options.verify = true;
  const auto lived = run.go();
  if (!lived) return lived.error().message;

  std::vector<RoundRecord> simulated;
  auto coordinator = make_round_coordinator(
      run.scheme->clone(), make_close_policy(how.policy).value(), run.rounds);
  SimulatorOptions options;
  options.workers = how.cancel ? WorkerKind::kStateless : WorkerKind::kPersistent;
  options.observer = [&](const RoundRecord& record) { simulated.push_back(record); };
  const auto played = simulate(*coordinator.value(), delays, options);
  if (!played) return played.error().message;

  std::string difference;
  expect_equal(run.records, simulated, difference);
  if (lived->rounds != played->rounds) difference += "rounds; ";
  if (lived->wait_outs != played->wait_outs) difference += "wait-outs; ";
  if (lived->mean_stragglers != played->mean_stragglers) difference += "mean stragglers; ";
  if (lived->jobs != 12 || lived->verified != 12) difference += "jobs; ";
  if (lived->total < played->total) difference += "faster than simulated; ";
  // A decoded sum is off by at most kPromisedError * sum_j |g_j|; the sum is a small multiple of
  // |g|.
  if (!(lived->worst_verify_error < 10 * kPromisedError)) difference += "decoded gradients; ";
  if (!(test::distance(run.weights, run.expected_weights()) < 1e-4)) difference += "weights; ";
  return difference;
}

/// All cases at once, since they sleep most of the time. A machine that is busy elsewhere may wake
/// us too late for the script; then it is played again, slower. Equal records cannot come about by
/// chance.
void expect_agreement(const std::vector<Case>& cases) {
  std::vector<std::future<std::string>> results;
  for (const Case& how : cases) {
    results.push_back(std::async(std::launch::async, [how] {
      std::string difference;
      for (int scale = 1; scale <= 16; scale *= 2) {
        difference = disagreement(how, scale);
        if (difference.empty()) break;
      }
      return difference;
    }));
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(results[i].get(), "") << cases[i].scheme << " with " << cases[i].policy;
  }
}

std::vector<Case> with_every_policy(const std::vector<std::string>& schemes) {
  std::vector<Case> cases;
  for (const std::string& scheme : schemes) {
    for (const char* policy : {"published:mu=1", "conforming:mu=1", "eager", "quantile:q=0.6"}) {
      cases.push_back({scheme, policy});
    }
  }
  return cases;
}

TEST(Agreement, UncodedAndGradientCodesRunAsSimulated) {
  expect_agreement(with_every_policy(
      {"uncoded", "gc:s=2,code=repetition", "gc:s=1,code=cyclic", "gc:s=1,code=mds"}));
}

TEST(Agreement, SequentialCodesRunAsSimulated) {
  expect_agreement(with_every_policy({"sr-sgc:B=1,W=2,lambda=2",
                                      "m-sgc:B=1,W=2,lambda=2",
                                      "m-sgc:B=2,W=4,lambda=3",
                                      "gc:s=1,bundle=2"}));
}

TEST(Agreement, RelayRunsAsSimulated) {
  expect_agreement(with_every_policy({"relay:T=1,r0=2", "relay:T=3,r0=1.5,bundle=2"}));
}

TEST(Agreement, LateAnswersComeAsSimulated) {
  std::vector<Case> cases;
  for (const char* scheme : {"gc:s=2,code=repetition",
                             "gc:s=1,code=cyclic",
                             "m-sgc:B=1,W=2,lambda=2",
                             "relay:T=1,r0=2,accept_late=1"}) {
    cases.push_back({scheme, "eager", false});
  }
  expect_agreement(cases);
}

}  // namespace
}  // namespace paceline
