// A user's function as a gradient source.

#include <utility>

#include "paceline/check.hpp"
#include "paceline/training.hpp"

namespace paceline {
namespace {

class CallbackSource final : public GradientSource {
 public:
  CallbackSource(std::size_t length, int samples, GradientCallback callback)
      : length_(length), samples_(samples), callback_(std::move(callback)) {}

  std::size_t length() const override { return length_; }

  int samples() const override { return samples_; }

  double add_gradient(std::span<const float> parameters,
                      std::span<const int> samples,
                      std::span<const float> weights,
                      std::span<float> out) override {
    PACELINE_CHECK(parameters.size() == length_ && out.size() == length_);
    PACELINE_CHECK(samples.size() == weights.size());
    return callback_(parameters, samples, weights, out);
  }

  std::unique_ptr<GradientSource> clone() const override {
    return std::make_unique<CallbackSource>(*this);
  }

 private:
  std::size_t length_;
  int samples_;
  GradientCallback callback_;
};

}  // namespace

std::unique_ptr<GradientSource> make_callback_source(std::size_t length,
                                                     int samples,
                                                     GradientCallback callback) {
  PACELINE_CHECK(length >= 1 && samples >= 1 && callback != nullptr);
  return std::make_unique<CallbackSource>(length, samples, std::move(callback));
}

}  // namespace paceline
