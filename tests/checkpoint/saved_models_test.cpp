#include "paceline/saved_models.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace paceline {
namespace {

SavedModels two_models() {
  TableLayout table;
  table.label = "kind";
  table.classes = {"rose", "violet, \"really\""};
  table.columns = {{.name = "height", .texts = {}, .mean = 1.0 / 3, .deviation = 0.1},
                   {.name = "colour", .texts = {"blue", "red"}}};
  table.fills_missing = true;
  return {.model = "mlp",
          .scheme = "relay:T=1",
          .names = {"mlp 0", "mlp 1"},
          .features = 3,
          .classes = 2,
          .table = table,
          .parameters = {{1.5F, -2.0F}, {0.1F, 3.0F}}};
}

class SavedModelsTest : public testing::Test {
 protected:
  SavedModelsTest() : path_(testing::TempDir() + "paceline_models_test.safetensors") {}

  ~SavedModelsTest() override { std::filesystem::remove(path_); }

  std::string refusal() const {
    const auto read = read_models(path_);
    return read ? "no error" : read.error().message;
  }

  std::string path_;
};

TEST_F(SavedModelsTest, AreReadAsTheyWereWritten) {
  const SavedModels models = two_models();
  ASSERT_TRUE(write_models(path_, models));
  const auto read = read_models(path_);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->model, models.model);
  EXPECT_EQ(read->scheme, models.scheme);
  EXPECT_EQ(read->names, models.names);
  EXPECT_EQ(read->features, 3);
  EXPECT_EQ(read->classes, 2);
  EXPECT_EQ(read->parameters, models.parameters);
  ASSERT_TRUE(read->table);
  EXPECT_EQ(read->table->label, "kind");
  EXPECT_EQ(read->table->classes, models.table->classes);
  EXPECT_TRUE(read->table->fills_missing);
  ASSERT_EQ(read->table->columns.size(), 2);
  EXPECT_EQ(read->table->columns[0].mean, 1.0 / 3);
  EXPECT_EQ(read->table->columns[0].deviation, 0.1);
  EXPECT_EQ(read->table->columns[1].texts, models.table->columns[1].texts);
}

TEST_F(SavedModelsTest, WithoutATableAreReadWithoutOne) {
  SavedModels models = two_models();
  models.table.reset();
  models.height = models.width = 28;
  ASSERT_TRUE(write_models(path_, models));
  const auto read = read_models(path_);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->table);
  EXPECT_EQ(read->height, 28);
}

TEST_F(SavedModelsTest, ThatAreNoneAreRefused) {
  EXPECT_EQ(refusal(), "cannot read '" + path_ + "'");
  std::ofstream(path_) << "something else";
  EXPECT_NE(refusal().find("not a safetensors file"), std::string::npos);
  const std::string header = R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  std::ofstream(path_) << length << header;
  EXPECT_NE(refusal().find("no models of `paceline train`"), std::string::npos);
}

TEST_F(SavedModelsTest, WhoseTableDoesNotFitThemAreRefused) {
  SavedModels models = two_models();
  models.features = 7;
  ASSERT_TRUE(write_models(path_, models));
  EXPECT_NE(refusal().find("its table does not fit its models"), std::string::npos);
}

TEST_F(SavedModelsTest, WithoutAModelAreRefused) {
  SavedModels models = two_models();
  models.names.clear();
  models.parameters.clear();
  ASSERT_TRUE(write_models(path_, models));
  EXPECT_NE(refusal().find("0 models of 3 features and 2 classes"), std::string::npos);
}

TEST_F(SavedModelsTest, ThatWereCutShortAreRefused) {
  ASSERT_TRUE(write_models(path_, two_models()));
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 3);
  EXPECT_NE(refusal().find("not a safetensors file"), std::string::npos);
}

}  // namespace
}  // namespace paceline
