#include "schemes/pattern_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <set>

namespace paceline::test {
namespace {

SchemePlayer player_of(const Walked& walked) {
  auto made = make_scheme(
      walked.text(),
      {.workers = walked.workers, .jobs = walked.jobs, .rule = walked.rule, .keep_promise = false});
  if (!made) ADD_FAILURE() << made.error().message;
  return {std::move(made).value(), walked.jobs};
}

StragglerModel model_of(const Walked& walked) {
  return StragglerModel::bursty(walked.workers, walked.B, walked.W, walked.lambda);
}

}  // namespace

std::string Walked::text() const {
  if (scheme.starts_with("gc")) return scheme;
  const auto comma = scheme.find(',');  // "m-sgc,code=repetition"
  return scheme.substr(0, comma) + ":B=" + std::to_string(B) + ",W=" + std::to_string(W) +
         ",lambda=" + std::to_string(lambda) +
         (comma == std::string::npos ? "" : scheme.substr(comma));
}

PatternState::PatternState(const Walked& walked)
    : player_(player_of(walked)), memory_(walked.W - 1) {
  remember();
}

bool PatternState::play(unsigned stragglers) {
  pattern_.push_back(stragglers);
  const int n = player_.scheme().info().workers;
  bool repeats = false;
  for (int i = 0; i < n; ++i) {
    for (const MiniTask& task : player_.plan().per_worker[static_cast<std::size_t>(i)]) {
      repeats = repeats || task.job.value != player_.round().value;
      const bool straggles = (stragglers >> static_cast<unsigned>(i) & 1U) != 0;
      if (straggles || task.row.terms().empty()) continue;
      answered_[task.job].emplace(i, task.row.terms().front().chunk.value);
    }
  }
  repeats_.push_back(repeats);
  player_.answer_all_but(worker_set_from_bits(n, stragglers));
  return player_.may_close();
}

std::string PatternState::close() {
  player_.close();
  const int oldest = player_.round().value - player_.scheme().info().decode_delay;
  std::erase_if(answered_, [oldest](const auto& job) { return job.first.value < oldest; });
  remember();
  return player_.problem();
}

void PatternState::remember() {
  const int round = player_.round().value;
  const int steady = player_.scheme().info().decode_delay + 1;
  key_ = std::to_string(std::min(round, steady)) + ";";
  for (int ago = 1; ago <= std::min(memory_, round); ++ago) {
    const auto at = static_cast<std::size_t>(round - ago);
    key_ += std::to_string(pattern_[at]) + (repeats_[at] ? "r," : ",");
  }
  for (const auto& [job, messages] : answered_) {
    key_ += ";" + std::to_string(round - job.value) + ":";
    for (const auto& [worker, chunk] : messages) {
      key_ += std::to_string(worker) + "." + std::to_string(chunk) + ",";
    }
  }
}

std::string pattern_text(const std::vector<unsigned>& pattern) {
  std::string text;
  for (const unsigned set : pattern) {
    text += text.empty() ? "{" : " {";
    for (unsigned i = 0; i < 32; ++i) {
      if ((set >> i & 1U) == 0) continue;
      text += (text.back() == '{' ? "" : ",") + std::to_string(i);
    }
    text += "}";
  }
  return text;
}

bool conforms(const std::vector<unsigned>& pattern, StragglerModel model, int workers) {
  for (const unsigned set : pattern) {
    const WorkerSet stragglers = worker_set_from_bits(workers, set);
    if (!model.accepts(stragglers)) return false;
    model.push(stragglers);
  }
  return true;
}

WalkResult walk_conforming(const Walked& walked) {
  WalkResult result;
  std::set<std::string> seen;
  std::deque<std::pair<PatternState, StragglerModel>> open;
  open.emplace_back(PatternState(walked), model_of(walked));
  seen.insert(open.back().first.key());
  while (!open.empty()) {
    const auto [state, model] = std::move(open.front());  // in the order of rounds
    open.pop_front();
    ++result.states;
    result.rounds = state.round();
    if (state.finished()) continue;
    for (unsigned set = 0; set < 1U << static_cast<unsigned>(walked.workers); ++set) {
      const WorkerSet stragglers = worker_set_from_bits(walked.workers, set);
      if (!model.accepts(stragglers)) continue;
      PatternState next = state;
      std::string problem = next.play(set) ? next.close() : "the round cannot close";
      if (!problem.empty()) {
        result.problem = walked.text() + ", n=" + std::to_string(walked.workers) + ", " +
                         pattern_text(next.pattern()) + ": " + problem;
        return result;
      }
      if (!seen.insert(next.key()).second) continue;
      StragglerModel longer = model;
      longer.push(stragglers);
      open.emplace_back(std::move(next), std::move(longer));
    }
  }
  return result;
}

std::vector<unsigned> least_fatal_pattern(const Walked& walked) {
  // Patterns in the order of their straggles; of those with as many, the shorter first.
  std::map<int, std::deque<PatternState>> open;
  std::set<std::string> seen;
  std::map<int, std::vector<unsigned>> fatal;
  const PatternState start(walked);
  seen.insert(start.key());
  open[0].push_back(start);
  while (!open.empty()) {
    const auto first = open.begin();
    const int straggles = first->first;
    if (!fatal.empty() && fatal.begin()->first <= straggles) break;
    if (first->second.empty()) {
      open.erase(first);
      continue;
    }
    const PatternState state = std::move(first->second.front());
    first->second.pop_front();
    for (unsigned set = 0; set < 1U << static_cast<unsigned>(walked.workers); ++set) {
      PatternState next = state;
      const int all = straggles + std::popcount(set);
      if (!next.play(set)) {
        fatal.emplace(all, next.pattern());
        continue;
      }
      next.close();
      if (!next.finished() && seen.insert(next.key()).second) open[all].push_back(std::move(next));
    }
  }
  return fatal.empty() ? std::vector<unsigned>() : fatal.begin()->second;
}

}  // namespace paceline::test
