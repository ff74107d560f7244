// What every scheme must do, whatever its idea; a scheme joins with one line in
// tests/schemes/scheme_conformance_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "paceline/random.hpp"
#include "paceline/scheme.hpp"
#include "support/scheme_player.hpp"

namespace paceline::test {

struct ConformanceCase {
  std::string scheme;  ///< text of make_scheme
  int workers = 0;
  CloseRule rule = CloseRule::kDecodable;
  int jobs = 12;
  /// Builds it where it is not in the catalogue; may be empty.
  std::function<std::unique_ptr<Scheme>(const ConformanceCase&)> build = {};

  /// For GoogleTest, which would print bytes.
  inline void PrintTo(const ConformanceCase& test, std::ostream* out) {
    *out << test.scheme << " on " << test.workers << " workers";
  }

  std::unique_ptr<Scheme> make() const;

  SchemePlayer player() const { return {make(), jobs}; }
};

/// Plays one round: workers answer in random order, some of them rarely; once the round may close
/// it closes with some probability after every answer. Now and then an old order is answered late.
/// @return what close() decoded
std::vector<Decoding> play_random_round(SchemePlayer& player, RandomStream& random);

// Each check reports through GoogleTest.
void expect_consistent_info(const ConformanceCase& test);
void expect_all_answers_close(const ConformanceCase& test);
void expect_every_job_exact_and_in_time(const ConformanceCase& test);
void expect_more_answers_never_hurt(const ConformanceCase& test);
void expect_asking_changes_nothing(const ConformanceCase& test);
void expect_copies_go_on_alike(const ConformanceCase& test);
void expect_rounds_without_messages_agree(const ConformanceCase& test);
void expect_runs_repeat(const ConformanceCase& test);

}  // namespace paceline::test
