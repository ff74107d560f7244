// What a scheme's run tells TensorBoard: a folder per scheme, "2-relay:T=3", with the scalars of
// its rounds, and in it one per model, "model-0", with those of its updates.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paceline/coordinator.hpp"
#include "paceline/event_file.hpp"
#include "paceline/metrics.hpp"

namespace paceline::app {

class SchemeEvents {
 public:
  /// Nothing is made yet. @param models  M
  /// @param jobs    decoded before the first round that will come
  /// @param rounds  played before it, where rounds are counted anew
  SchemeEvents(std::string folder, int models, int jobs, int rounds);

  /// Step: the round. Tags "seconds per job" (time so far over decoded jobs), "round seconds",
  /// "stragglers". Of every decoded job, at the step of the model's update, "loss" and "residual".
  Expected<void> on_round(const RoundRecord& record, std::span<const JobLoss> losses);

  /// "accuracy" on the test set, at the model's last step. @param accuracy  shape (M), 0 ... 1
  Expected<void> end(std::span<const double> accuracy);

 private:
  struct Part {
    std::optional<EventFile> file;
    std::int64_t step = 0;  ///< the last one
  };

  Expected<void> add(
      Part& part, const std::string& folder, std::int64_t step, std::string_view tag, double value);
  std::string model_folder(std::size_t model) const;

  std::string folder_;
  int jobs_;
  int rounds_;
  Part scheme_;
  std::vector<Part> models_;
};

}  // namespace paceline::app
