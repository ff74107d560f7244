#include "paceline/data_set.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>

namespace paceline {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text.push_back(static_cast<char>(value));
  return text;
}

// Two images of 1 x 3 pixels.
const std::string kImages = bytes({0, 0,  8,   3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3,  //
                                   0, 51, 255, 1, 2, 3});
const std::string kLabels = bytes({0, 0, 8, 1, 0, 0, 0, 2, 7, 0});

std::string idx_error(const std::string& images, const std::string& labels) {
  const auto data = parse_idx(images, labels, "img", "lab");
  return data ? "no error" : data.error().message;
}

TEST(Idx, ReadsImagesScaledToOneAndTheirLabels) {
  const auto data = parse_idx(kImages, kLabels, "img", "lab");
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->samples, 2);
  EXPECT_EQ(data->features, 3);
  EXPECT_EQ(data->height, 1);
  EXPECT_EQ(data->width, 3);
  EXPECT_EQ(data->classes, 10);
  EXPECT_EQ(data->labels, (std::vector<std::int32_t>{7, 0}));
  const auto first = data->input(0);
  EXPECT_EQ(std::vector<float>(first.begin(), first.end()), (std::vector<float>{0, 0.2F, 1}));
  EXPECT_FLOAT_EQ(data->input(1)[2], 3.0F / 255.0F);
}

TEST(Idx, NamesFileAndOffsetOfWhatIsWrong) {
  EXPECT_EQ(idx_error("", kLabels), "img: 0 bytes, but an idx header of this kind has 16");
  EXPECT_EQ(idx_error(kImages, kLabels.substr(0, 7)),
            "lab: 7 bytes, but an idx header of this kind has 8");
  EXPECT_EQ(idx_error(kLabels + kLabels, kLabels),
            "img: offset 0: magic number 0x00000801, expected 0x00000803 (idx images)");
  EXPECT_EQ(idx_error(kImages, kImages),
            "lab: offset 0: magic number 0x00000803, expected 0x00000801 (idx labels)");
  EXPECT_EQ(idx_error(kImages.substr(0, 21), kLabels),
            "img: 21 bytes, but its header promises 6 after the first 16");
  EXPECT_EQ(idx_error(kImages, kLabels + "\1"),
            "lab: 11 bytes, but its header promises 2 after the first 8");
  EXPECT_EQ(idx_error(kImages, bytes({0, 0, 8, 1, 0, 0, 0, 1, 7})),
            "lab: offset 4: 1 labels, but there are 2 images");
  EXPECT_EQ(idx_error(kImages, bytes({0, 0, 8, 1, 0, 0, 0, 2, 7, 10})),
            "lab: offset 9: label 10, allowed are 0 to 9");
}

TEST(Idx, RefusesSizesThatWouldOverflowBeforeAllocatingAnything) {
  const std::string huge = bytes({0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 1});
  EXPECT_EQ(idx_error(huge, kLabels),
            "img: offset 4: 4294967295 images, allowed are 1 to 100000000");
  const std::string wide = bytes({0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 16, 1, 0, 0, 0, 1});
  EXPECT_EQ(idx_error(wide, kLabels), "img: offset 8: 4097 rows, allowed are 1 to 4096");
  const std::string none = bytes({0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0});
  EXPECT_EQ(idx_error(none, kLabels), "img: offset 12: 0 columns, allowed are 1 to 4096");
}

class MnistFolder : public testing::Test {
 public:
  MnistFolder() : path_(std::filesystem::path(testing::TempDir()) / "paceline_mnist_test") {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }

  ~MnistFolder() override { std::filesystem::remove_all(path_); }

 protected:
  void write_zeros(const std::string& name, std::uintmax_t size) const {
    std::ofstream(path_ / name).close();
    std::filesystem::resize_file(path_ / name, size);
  }

  std::string error() const {
    const auto mnist = read_mnist(path_.string());
    return mnist ? "no error" : mnist.error().message;
  }

  std::filesystem::path path_;
};

TEST_F(MnistFolder, WithoutAFileIsAnErrorThatNamesItAndTheRemedy) {
  EXPECT_EQ(error(),
            (path_ / "train-images-idx3-ubyte").string() +
                " is missing; tools/fetch_mnist.sh DIRECTORY fetches the right one");
}

TEST_F(MnistFolder, WithATruncatedFileIsAnErrorThatNamesBothSizes) {
  write_zeros("train-images-idx3-ubyte", 1000);
  EXPECT_NE(error().find("train-images-idx3-ubyte has 1000 bytes, MNIST's has 47040016"),
            std::string::npos);
}

TEST_F(MnistFolder, WithADamagedFileIsAnErrorThatNamesBothDigests) {
  write_zeros("train-images-idx3-ubyte", 47'040'016);
  EXPECT_NE(error().find("train-images-idx3-ubyte has SHA-256 "), std::string::npos);
  EXPECT_NE(error().find("MNIST's has ba891046e6505d7a"), std::string::npos);
}

TEST(Mnist, HasItsSixtyThousandAndTenThousandImages) {
  const char* given = std::getenv("PACELINE_MNIST");
  const std::string directory = given != nullptr ? given : PACELINE_SOURCE_DIR "/data/mnist";
  if (!std::filesystem::exists(directory)) {
    GTEST_SKIP() << "no " << directory << "; tools/fetch_mnist.sh fetches it";
  }
  const auto mnist = read_mnist(directory);
  ASSERT_TRUE(mnist) << mnist.error().message;
  EXPECT_EQ(mnist->train.samples, 60'000);
  EXPECT_EQ(mnist->test.samples, 10'000);
  EXPECT_EQ(mnist->train.features, 784);
  EXPECT_EQ(mnist->train.labels[0], 5);
  EXPECT_EQ(mnist->test.labels[0], 7);
}

TEST(SyntheticClasses, RepeatBySeedAndAreBalanced) {
  const DataSet data = make_synthetic_classes(90, 7, 3, 11);
  EXPECT_EQ(data.inputs, make_synthetic_classes(90, 7, 3, 11).inputs);
  EXPECT_NE(data.inputs, make_synthetic_classes(90, 7, 3, 12).inputs);
  EXPECT_EQ(data.inputs.size(), 90U * 7U);
  std::vector<int> count(3, 0);
  for (const std::int32_t label : data.labels) ++count[static_cast<std::size_t>(label)];
  EXPECT_EQ(count, (std::vector<int>{30, 30, 30}));
}

TEST(SyntheticClasses, ScatterWithVarianceOneAroundTheirCentres) {
  const DataSet data = make_synthetic_classes(2000, 5, 2, 3);
  for (int label = 0; label < 2; ++label) {
    for (std::size_t j = 0; j < 5; ++j) {
      double sum = 0;
      double squares = 0;
      for (int i = label; i < data.samples; i += 2) {
        sum += static_cast<double>(data.input(i)[j]);
        squares += std::pow(static_cast<double>(data.input(i)[j]), 2);
      }
      EXPECT_NEAR(squares / 1000 - std::pow(sum / 1000, 2), 1, 0.2);
    }
  }
}

}  // namespace
}  // namespace paceline
