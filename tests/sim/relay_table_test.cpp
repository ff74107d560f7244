// The first column of the table with three seeds; the whole table is a slow test of its own.
#include "sim/relay_table.hpp"

#include <gtest/gtest.h>

#include "support/shared_files.hpp"

namespace paceline {
namespace {

TEST(RelayTable, FixedSettingsTakeTheTimesOfTheSpecificationOnTheLongProfile) {
  const test::TableColumn& column = test::kRelayColumns[0];
  PACELINE_NEED_SHARED_FILE(path, column.profile);
  const auto profile = read_delay_profile(path);
  ASSERT_TRUE(profile.has_value());
  for (const test::TableRow& row : test::kRelayTable) {
    const double seconds = test::median_relay_total(row.scheme, *profile, column.slope, 3);
    EXPECT_NEAR(seconds, row.seconds[0], 0.01 * row.seconds[0]) << row.scheme;
  }
}

}  // namespace
}  // namespace paceline
