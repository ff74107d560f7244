#include "paceline/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "paceline/parameters.hpp"
#include "paceline/random.hpp"
#include "paceline/suggest.hpp"

namespace paceline {
namespace {

constexpr int kMostRounds = std::numeric_limits<int>::max();
constexpr double kMostSlowdown = 1e6;
constexpr int kMostRandom = 1000000;
constexpr int kReplacedAfter = 10;  // rounds, by default

const std::array<std::string, 8> kNames = {
    "stop", "kill", "slow", "corrupt", "nan", "drop", "duplicate", "random"};
constexpr int kKinds = 7;

bool lasts(FaultKind kind) {
  return kind == FaultKind::kStop || kind == FaultKind::kKill || kind == FaultKind::kSlow;
}

void add_random(ParameterText& text, int workers, int rounds, std::vector<Fault>& faults) {
  const int count = text.integer("count", 1, kMostRandom);
  const int seed = text.integer("seed", 0, kMostRounds, 1);
  const int within = text.integer("rounds", 1, kMostRounds, std::max(1, rounds));
  if (!text.ok()) return;
  RandomStream random(static_cast<std::uint64_t>(seed), "faults");
  constexpr std::uint64_t kLongest = 5;  // rounds
  for (int k = 0; k < count; ++k) {
    Fault fault;
    fault.kind = static_cast<FaultKind>(k % kKinds);
    fault.worker = WorkerId{static_cast<int>(random.below(static_cast<std::uint64_t>(workers)))};
    fault.at = Round{static_cast<int>(random.below(static_cast<std::uint64_t>(within)))};
    if (lasts(fault.kind)) fault.rounds = 1 + static_cast<int>(random.below(kLongest));
    faults.push_back(fault);
  }
}

}  // namespace

std::string Fault::text() const {
  std::string text = fmt::format(
      "{}:worker={},at={}", kNames.at(static_cast<std::size_t>(kind)), worker.value, at.value);
  if (lasts(kind)) text += fmt::format(",for={}", rounds);
  if (kind == FaultKind::kSlow) text += fmt::format(",by={:g}", by);
  return text;
}

Expected<std::vector<Fault>> parse_faults(std::span<const std::string> texts,
                                          int workers,
                                          int rounds) {
  std::vector<Fault> faults;
  for (const std::string& one : texts) {
    auto text = ParameterText::parse(one);
    if (!text) return Unexpected(text.error());
    const auto name = std::find(kNames.begin(), kNames.end(), text->name());
    if (name == kNames.end()) return invalid(unknown_name("fault", text->name(), kNames));
    if (*name == "random") {
      add_random(*text, workers, rounds, faults);
    } else {
      Fault fault;
      fault.kind = static_cast<FaultKind>(name - kNames.begin());
      fault.worker = WorkerId{text->integer("worker", 0, workers - 1)};
      fault.at = Round{text->integer("at", 0, kMostRounds)};
      if (fault.kind == FaultKind::kKill) {
        fault.rounds = text->integer("for", 1, kMostRounds, kReplacedAfter);
      } else if (lasts(fault.kind)) {
        fault.rounds = text->integer("for", 1, kMostRounds);
      }
      if (fault.kind == FaultKind::kSlow) fault.by = text->number("by", 1, kMostSlowdown, 2.0);
      faults.push_back(fault);
    }
    if (auto finished = text->finish(); !finished) return Unexpected(finished.error());
  }
  return faults;
}

}  // namespace paceline
