// The format as it is published: byte for byte for a small file, and every way to break one.
#include "checkpoint/safetensors.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace paceline {
namespace {

/// A file of a header and numbers.
std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string why_not(const std::string& bytes) {
  const auto parsed = Tensors::parse(bytes);
  return parsed ? std::string() : parsed.error().message;
}

TEST(Safetensors, WritesWhatTheFormatSays) {
  const std::vector<float> two = {1.0F, -2.0F};
  const std::vector<TensorView> tensors = {view_of<float>("a", two)};
  // The header is padded with blanks to a multiple of eight bytes.
  const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  )";
  ASSERT_EQ(header.size() % 8, 0U);
  EXPECT_EQ(safetensors_header(tensors), file_of(header, ""));
}

TEST(Safetensors, ReadsBackEveryType) {
  const std::vector<float> floats = {0.1F, -0.0F, 3e38F};
  const std::vector<double> doubles = {0.1, 1e300};
  const std::vector<int> rows = {1, 2, 3, -4, 5, 6};
  const std::vector<TensorView> tensors = {view_of<float>("f", floats),
                                           view_of<double>("d", doubles),
                                           view_of<int>("i", rows, 3),
                                           view_of<float>("none", std::span<const float>())};
  std::string bytes = safetensors_header(tensors);
  for (const TensorView& tensor : tensors) {
    bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  }
  const auto read = Tensors::parse(bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->floats("f").value(), floats);
  EXPECT_EQ(read->doubles("d").value(), doubles);
  EXPECT_EQ(read->integers("i", 3).value(), rows);
  EXPECT_TRUE(read->floats("none").value().empty());
  EXPECT_EQ(read->floats("d").error().message, "tensor 'd' is of type F64, not F32");
  EXPECT_EQ(read->floats("x").error().message, "there is no tensor 'x'");
  EXPECT_EQ(read->integers("i", 2).error().message, "tensor 'i' does not consist of rows of 2");
}

TEST(Safetensors, RefusesWhatIsBroken) {
  const auto entry = [](const std::string& dtype, const std::string& shape, const std::string& at) {
    return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + at + "}}";
  };
  const std::string four(4, 'x');
  EXPECT_EQ(why_not(file_of(entry("\"F32\"", "[1]", "[0,4]"), four)), "");
  const auto refused = [&](const std::string& bytes, const std::string& text) {
    EXPECT_NE(why_not(bytes).find(text), std::string::npos) << why_not(bytes);
  };
  refused("", "0 bytes are too few");
  refused(std::string(8, '\xff'), "a header of 18446744073709551615 bytes in a file of 8");
  refused(file_of("[]", ""), "not a JSON object");
  refused(file_of("{", ""), "not a JSON object");
  refused(file_of(R"({"a":1})", ""), "lacks dtype");
  refused(file_of(entry("\"BF16\"", "[2]", "[0,4]"), four), "has dtype \"BF16\"");
  refused(file_of(entry("7", "[2]", "[0,4]"), four), "has dtype 7");
  refused(file_of(entry("\"F32\"", "[-1]", "[0,4]"), four), "has shape [-1]");
  refused(file_of(entry("\"F32\"", "1", "[0,4]"), four), "has shape 1");
  refused(file_of(entry("\"F32\"", "[1]", "[0]"), four), "has data_offsets [0]");
  refused(file_of(entry("\"F32\"", "[2]", "[0,8]"), four), "lies at 0 ... 8 of 4 bytes");
  refused(file_of(entry("\"F32\"", "[1]", "[4,0]"), four), "lies at 4 ... 0 of 4 bytes");
  refused(file_of(entry("\"F32\"", "[2]", "[0,4]"), four), "of shape [2] takes 4 bytes");
  refused(file_of(entry("\"F32\"", "[4294967296,4294967296,4]", "[0,4]"), four), "takes 4 bytes");
  refused(file_of(entry("\"F32\"", "[1]", "[0,4]"), four + four), "4 bytes after the last tensor");
  refused(file_of(entry("\"F32\"", "[1]", "[4,8]"), four + four), "a gap or an overlap");
}

}  // namespace
}  // namespace paceline
