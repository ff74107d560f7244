// The example of docs/adding-a-scheme.md: its code is what the page shows (one test compares them),
// and it passes the conformance suite.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "paceline/check.hpp"
#include "paceline/gradient_code.hpp"
#include "schemes/scheme_entry.hpp"
#include "support/scheme_conformance.hpp"

namespace paceline {
namespace {

// Second chance: uncoded, but a worker that misses a round may catch up in the next one. Worker i
// computes chunk i of every job. Whoever did not answer in round t-1 first does that job's chunk
// again in round t, which waits for it.
class SecondChance final : public Scheme {
 public:
  explicit SecondChance(int workers) : owing_(workers) {
    info_.name = "second-chance";
    info_.workers = workers;
    info_.decode_delay = 1;
    info_.open_jobs = 2;
    info_.messages_per_round = 2;
    info_.load = 2.0 / workers;
    info_.storage = 1.0 / workers;
    info_.chunk_size.assign(static_cast<std::size_t>(workers), 1.0 / workers);
    info_.amplification_limit = 1;
    info_.error_bound = decode_error_bound(1, 0, workers, MessageType::kFloat32);
  }

  const SchemeInfo& info() const override { return info_; }

  RoundPlan plan(Round round) const override {
    PACELINE_CHECK(round == next_);
    RoundPlan plan;
    for (int i = 0; i < info_.workers; ++i) {
      const Row row({Term{ChunkId{i}}});
      const double load = 1.0 / info_.workers;
      std::vector<MiniTask> list;
      if (owing_.contains(WorkerId{i})) list.push_back({JobId{round.value - 1}, row, load});
      list.push_back({JobId{round.value}, row, load});
      plan.per_worker.push_back(std::move(list));
    }
    return plan;
  }

  // The job that is due needs everybody who owes. The new job can always be saved in the next
  // round, by waiting there, so nobody else has to answer.
  bool may_close(Round round, const Answers& answers) const override {
    PACELINE_CHECK(round == next_);
    for (int i = 0; i < info_.workers; ++i) {
      if (owing_.contains(WorkerId{i}) && !answered(i, answers)) return false;
    }
    return true;
  }

  // Chunks are added up as they come: one instalment per round and job, the last one complete.
  std::vector<Decoding> close(Round round, const Answers& answers) override {
    PACELINE_CHECK(may_close(round, answers));
    Decoding due;
    due.job = JobId{round.value - 1};
    Decoding fresh;
    fresh.job = JobId{round.value};
    WorkerSet missing(info_.workers);
    for (int i = 0; i < info_.workers; ++i) {
      const WorkerId worker{i};
      const bool owes = owing_.contains(worker);
      if (owes) due.terms.push_back({MessageId{worker, round, 0}});
      if (answered(i, answers)) {
        fresh.terms.push_back({MessageId{worker, round, owes ? 1 : 0}});
      } else {
        missing.insert(worker);
      }
    }
    fresh.complete = missing.size() == 0;
    std::vector<Decoding> decodings;
    if (owing_.size() > 0) decodings.push_back(std::move(due));
    decodings.push_back(std::move(fresh));
    owing_ = missing;
    ++next_.value;
    return decodings;
  }

  // Nothing counts but who has answered, so simulations may play whole rounds at once.
  bool timeless() const override { return true; }

  std::unique_ptr<Scheme> clone() const override { return std::make_unique<SecondChance>(*this); }

 private:
  bool answered(int i, const Answers& answers) const {
    const int tasks = owing_.contains(WorkerId{i}) ? 2 : 1;
    return answers.done[static_cast<std::size_t>(i)] == tasks;
  }

  SchemeInfo info_;
  Round next_{0};
  WorkerSet owing_;  // who still owes its chunk of the job before
};

SchemeEntry second_chance_entry() {
  return {{.name = "second-chance",
           .summary = "uncoded; who misses a round catches up in the next",
           .parameters = {},
           .load = "2/n",
           .decode_delay = "1",
           .source = "ours",
           .example = "second-chance"},
          [](ParameterText& parameters,
             const SchemeContext& context) -> Expected<std::unique_ptr<Scheme>> {
            if (auto fine = parameters.finish(); !fine) return Unexpected(fine.error());
            return std::unique_ptr<Scheme>(std::make_unique<SecondChance>(context.workers));
          },
          true,
          [](const SearchLimits& limits) -> std::vector<SearchFamily> {
            if (limits.models < 2) return {};
            SearchFamily family{.name = "second-chance", .lines = {}};
            family.lines.push_back({0, 0, [](int) { return std::string("second-chance"); }});
            return {std::move(family)};
          }};
}

test::ConformanceCase conformance_case() {
  test::ConformanceCase test{"second-chance", 6};
  test.build = [](const test::ConformanceCase& self) {
    auto parameters = ParameterText::parse(self.scheme);
    return std::move(second_chance_entry().make(*parameters, {.workers = self.workers})).value();
  };
  return test;
}

TEST(SecondChance, Conforms) {
  const test::ConformanceCase test = conformance_case();
  test::expect_consistent_info(test);
  test::expect_all_answers_close(test);
  test::expect_every_job_exact_and_in_time(test);
  test::expect_more_answers_never_hurt(test);
  test::expect_asking_changes_nothing(test);
  test::expect_copies_go_on_alike(test);
  test::expect_rounds_without_messages_agree(test);
  test::expect_runs_repeat(test);
}

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(std::string(PACELINE_SOURCE_DIR) + "/" + path).rdbuf();
  return text.str();
}

TEST(SecondChance, IsWhatThePageShows) {
  const std::string page = read("docs/adding-a-scheme.md");
  const std::string source = read("tests/schemes/second_chance_test.cpp");
  const std::string open = "```cpp\n";
  int blocks = 0;
  for (std::size_t at = page.find(open); at != std::string::npos; at = page.find(open, at)) {
    at += open.size();
    const std::string block = page.substr(at, page.find("```", at) - at);
    EXPECT_NE(source.find(block), std::string::npos) << block;
    ++blocks;
  }
  EXPECT_EQ(blocks, 2);
}

}  // namespace
}  // namespace paceline
