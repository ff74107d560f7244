#include "paceline/table_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace paceline {
namespace {

constexpr const char* kFlowers =
    "height,colour,kind\n"
    "1,red,rose\n"
    "2,blue,violet\n"
    "3,red,rose\n"
    "6,\"blue\",violet\n";

const TableOptions kByKind{.label = "kind"};

/// The message of the error that the table meets, all of it for training and for testing.
std::string refusal(const std::string& text, const TableOptions& options = kByKind) {
  const auto table = parse_table(text, "t.csv", options, text, "t.csv");
  return table ? "no error" : table.error().message;
}

TEST(TableData, NumbersAreScaledAndTextsBecomeOneFeatureEach) {
  const auto table = parse_table(kFlowers, "t.csv", kByKind, kFlowers, "t.csv");
  ASSERT_TRUE(table) << table.error().message;
  const DataSet& train = table->data.train;
  EXPECT_EQ(train.samples, 4);
  EXPECT_EQ(train.features, 3);
  EXPECT_EQ(train.classes, 2);
  EXPECT_EQ(table->layout.classes, (std::vector<std::string>{"rose", "violet"}));
  EXPECT_EQ(train.labels, (std::vector<std::int32_t>{0, 1, 0, 1}));
  const double deviation = std::sqrt(14.0 / 4);  // of 1, 2, 3, 6, whose mean is 3
  const std::vector<float> expected{static_cast<float>(-2 / deviation),
                                    0,
                                    1,
                                    static_cast<float>(-1 / deviation),
                                    1,
                                    0,
                                    0,
                                    0,
                                    1,
                                    static_cast<float>(3 / deviation),
                                    1,
                                    0};
  EXPECT_EQ(train.inputs, expected);
  EXPECT_EQ(table->data.test.inputs, expected);
}

TEST(TableData, EveryRowIsHeldOutOrTrainedOnAndTheScaleIsThatOfTheTrainingRows) {
  std::string text = "x,kind\n";
  for (int i = 0; i < 50; ++i) text += std::to_string(i) + (i % 2 == 0 ? ",even\n" : ",odd\n");
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto table =
        parse_table(text, "t.csv", {.label = "kind", .test_share = 0.3, .seed = seed});
    ASSERT_TRUE(table);
    EXPECT_EQ(table->data.train.samples, 35);
    EXPECT_EQ(table->data.test.samples, 15);
    const TableLayout::Column& column = table->layout.columns.front();
    std::vector<int> values;
    double sum = 0;
    for (const DataSet* part : {&table->data.train, &table->data.test}) {
      for (int i = 0; i < part->samples; ++i) {
        const double value = part->input(i)[0] * column.deviation + column.mean;
        values.push_back(static_cast<int>(std::lround(value)));
        EXPECT_EQ(part->labels[static_cast<std::size_t>(i)], values.back() % 2);
        if (part == &table->data.train) sum += value;
      }
    }
    EXPECT_NEAR(sum / 35, column.mean, 1e-4);
    std::sort(values.begin(), values.end());
    for (int i = 0; i < 50; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
  }
}

TEST(TableData, TheSplitDependsOnTheSeedAlone) {
  std::string text = "x,kind\n";
  for (int i = 0; i < 40; ++i) text += std::to_string(i * i) + (i % 3 == 0 ? ",a\n" : ",b\n");
  const auto inputs = [&](std::uint64_t seed) {
    return parse_table(text, "t.csv", {.label = "kind", .seed = seed})->data.test.inputs;
  };
  EXPECT_EQ(inputs(1), inputs(1));
  EXPECT_NE(inputs(1), inputs(2));
}

TEST(TableData, ClassesThatAreNumbersAreInOrderOfSize) {
  const std::string text = "x,y\n1,10\n2,9\n3,-1\n";
  const auto table = parse_table(text, "t.csv", {.label = "y"}, text, "t.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->layout.classes, (std::vector<std::string>{"-1", "9", "10"}));
}

TEST(TableData, ReadsQuotesSemicolonsTabsByteOrderMarksAndWindowsLineEnds) {
  for (const std::string text : {"a,y\n\"1\",\"x, \"\"really\"\"\"\n2,z\n",
                                 "a;y\n\"1\";\"x, \"\"really\"\"\"\n2;z\n",
                                 "a\ty\n1\t\"x, \"\"really\"\"\"\n2\tz\n",
                                 "\xEF\xBB\xBF"
                                 "a,y\r\n1,\"x, \"\"really\"\"\"\r\n2,z\r\n"}) {
    const auto table = parse_table(text, "t.csv", {.label = "y"}, text, "t.csv");
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_EQ(table->layout.classes, (std::vector<std::string>{"x, \"really\"", "z"})) << text;
    EXPECT_EQ(table->layout.columns.front().name, "a");
  }
}

TEST(TableData, AColumnWithOneNumberOnlyTeachesNothingAndBreaksNothing) {
  const std::string text = "a,y\n7,u\n7,v\n";
  const auto table = parse_table(text, "t.csv", {.label = "y"}, text, "t.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->data.train.inputs, (std::vector<float>{0, 0}));
}

TEST(TableData, MissingNumbersAreAnErrorOrTheMean) {
  const std::string text = "a,b,y\n1,5,u\n,6,v\n3,NA,v\n";
  EXPECT_EQ(refusal(text, {.label = "y"}),
            "t.csv: row 2 under the header has no number in column 'a'; fill it in, or say "
            "--missing mean, or --ignore a");
  const auto table =
      parse_table(text, "t.csv", {.label = "y", .fills_missing = true}, text, "t.csv");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->data.train.inputs, (std::vector<float>{-1, -1, 0, 1, 1, 0}));
}

TEST(TableData, IgnoredColumnsAreNoFeatures) {
  const auto table =
      parse_table(kFlowers, "t.csv", {.label = "kind", .ignored = {"colour"}}, kFlowers, "t.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->data.train.features, 1);
}

TEST(TableData, LaterRowsAreReadAsInTrainingByTheNamesOfTheirColumns) {
  const auto table = parse_table(kFlowers, "t.csv", kByKind, kFlowers, "t.csv");
  ASSERT_TRUE(table);
  const auto rows =
      parse_rows("other,colour,height\nx,blue,6\ny,green,3\n", "u.csv", table->layout);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_TRUE(rows->labels.empty());
  const std::span<const float> violet = table->data.train.input(3);
  EXPECT_TRUE(std::equal(violet.begin(), violet.end(), rows->input(0).begin()));
  EXPECT_EQ(rows->input(1)[1] + rows->input(1)[2], 0);  // a colour that training never saw
}

TEST(TableData, RefusesWhatItCannotReadInOneClearLine) {
  EXPECT_EQ(refusal("", kByKind), "t.csv: it is empty; a header and a row per sample are needed");
  EXPECT_EQ(refusal("a,kind\n"),
            "t.csv: no row follows the header; a header and a row per sample are needed");
  EXPECT_EQ(refusal("a,kind\n1,x\n1,2,y\n"),
            "t.csv: row 2 under the header has 3 cells; the header has 2");
  EXPECT_EQ(refusal("a,,kind\n1,2,x\n"), "t.csv: column 2 has no name in the header");
  EXPECT_EQ(refusal("a,a,kind\n1,2,x\n"), "t.csv: two columns are named 'a'");
  EXPECT_EQ(refusal(kFlowers, {}),
            "t.csv: which column is the class? --label NAME; its columns: height, colour, kind");
  EXPECT_EQ(refusal(kFlowers, {.label = "knd"}),
            "t.csv: unknown column 'knd'; did you mean 'kind'?");
  EXPECT_EQ(refusal(kFlowers, {.label = "kind", .ignored = {"hight"}}),
            "t.csv: unknown column 'hight'; did you mean 'height'?");
  EXPECT_EQ(refusal(kFlowers, {.label = "kind", .ignored = {"height", "colour"}}),
            "t.csv: no column is left to be a feature");
  EXPECT_EQ(refusal("a,kind\n1,x\n2,x\n"),
            "t.csv: column 'kind' has 1 different values; a class has 2 to 1000");
  EXPECT_EQ(refusal("a,kind\n1,x\n2,\n"), "t.csv: some rows have no class in column 'kind'");
  EXPECT_NE(refusal("a,kind\n\"1,x\n").find("t.csv: after row 0:"), std::string::npos);
  EXPECT_EQ(refusal("a,kind\n1,ros\xE9\n2,x\n"),  // é in Latin-1
            "t.csv: line 2 is not UTF-8; iconv -f latin1 -t utf-8 converts most older files");
  EXPECT_EQ(refusal("a,kind\n1,ros\xC3\xA9\n2,x\n"), "no error");
}

TEST(TableData, RefusesColumnsOfNamesAndRowsThatTrainingCouldNotKnow) {
  std::string names = "name,kind\n";
  for (int i = 0; i < 101; ++i) names += "n" + std::to_string(i) + (i < 50 ? ",x\n" : ",y\n");
  EXPECT_EQ(refusal(names),
            "t.csv: column 'name' has 101 different texts, at most 100 can become features; leave "
            "it out: --ignore name");
  const auto table = parse_table(kFlowers, "t.csv", kByKind, kFlowers, "t.csv");
  ASSERT_TRUE(table);
  const auto why = [&](const std::string& text) {
    const auto rows = parse_rows(text, "u.csv", table->layout);
    return rows ? "no error" : rows.error().message;
  };
  EXPECT_EQ(why("height,colour\ntall,red\n"),
            "u.csv: row 1 under the header has 'tall' in column 'height', which held numbers in "
            "training");
  EXPECT_EQ(why("height,colour,kind\n1,red,tulip\n"),
            "u.csv: row 1 under the header has class 'tulip', which training did not have; it had "
            "rose, violet");
  EXPECT_EQ(why("height\n1\n"), "u.csv: unknown column 'colour'; known: height");
}

TEST(TableData, TheSameTableWithoutAClassCannotTest) {
  const auto table = parse_table(kFlowers, "t.csv", kByKind, "height,colour\n1,red\n", "u.csv");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().message, "u.csv: no column 'kind', so nothing can be tested with it");
}

}  // namespace
}  // namespace paceline
