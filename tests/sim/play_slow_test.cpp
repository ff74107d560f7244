// Thousands of games of relay, by whole rounds and event by event.
#include <gtest/gtest.h>

#include "sim/random_games.hpp"

namespace paceline {
namespace {

TEST(PlaySlow, RelayAtOnceEqualsEvents) { test::expect_relay_the_same(81, 10'000); }

}  // namespace
}  // namespace paceline
