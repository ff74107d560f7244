#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <string>

#include "sim/relay_table.hpp"
#include "support/shared_files.hpp"

namespace paceline {
namespace {

class RelayFullTable : public ::testing::TestWithParam<std::size_t> {};

TEST_P(RelayFullTable, FixedSettingsTakeTheTimesOfTheSpecification) {
  const test::TableColumn& column = test::kRelayColumns[GetParam()];
  PACELINE_NEED_SHARED_FILE(path, column.profile);
  const auto profile = read_delay_profile(path);
  ASSERT_TRUE(profile.has_value());
  for (const test::TableRow& row : test::kRelayTable) {
    const double seconds = test::median_relay_total(row.scheme, *profile, column.slope, 20);
    const double expected = row.seconds[GetParam()];
    EXPECT_NEAR(seconds, expected, 0.01 * expected) << row.scheme;
    RecordProperty(row.scheme, std::to_string(seconds));
  }
}

INSTANTIATE_TEST_SUITE_P(Columns,
                         RelayFullTable,
                         ::testing::Range(std::size_t{0}, test::kRelayColumns.size()),
                         [](const auto& each) {
                           const test::TableColumn& column = test::kRelayColumns[each.param];
                           std::string name =
                               fmt::format("{} slope {}", column.profile, column.slope);
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace paceline
