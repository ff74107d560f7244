#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "paceline/parameters.hpp"
#include "paceline/straggler_model.hpp"
#include "paceline/suggest.hpp"

namespace paceline {
namespace {

StragglerModel per_round(ParameterText& text, int workers) {
  return StragglerModel::per_round(workers, text.integer("s", 0, workers));
}

StragglerModel bursty(ParameterText& text, int workers) {
  const int W = text.integer("W", 1, kLongestWindow);
  const int B = text.integer("B", 1, W);
  const int lambda = text.integer("lambda", 0, workers);
  return StragglerModel::bursty(workers, B, W, lambda);
}

StragglerModel arbitrary(ParameterText& text, int workers) {
  const int W = text.integer("W", 1, kLongestWindow);
  const int N = text.integer("N", 0, W);
  const int lambda = text.integer("lambda", 0, workers);
  return StragglerModel::arbitrary(workers, N, W, lambda);
}

struct Entry {
  std::string name;
  StragglerModel (*read)(ParameterText&, int workers);
};

const std::array<Entry, 3> kEntries = {
    {{"per-round", per_round}, {"bursty", bursty}, {"arbitrary", arbitrary}}};

}  // namespace

Expected<StragglerModel> make_straggler_model(std::string_view text, int workers) {
  if (workers < 1) return invalid(fmt::format("workers={} is not allowed; workers >= 1", workers));
  auto parsed = ParameterText::parse(text);
  if (!parsed) return Unexpected(parsed.error());
  std::vector<std::string> known;
  for (const Entry& entry : kEntries) {
    if (entry.name == parsed->name()) {
      StragglerModel model = entry.read(*parsed, workers);
      if (auto ok = parsed->finish(); !ok) return Unexpected(ok.error());
      return model;
    }
    known.push_back(entry.name);
  }
  return invalid(unknown_name("straggler model", parsed->name(), known));
}

}  // namespace paceline
