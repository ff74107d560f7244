#include "schemes/code_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <list>
#include <mutex>
#include <tuple>
#include <utility>

namespace paceline {

SchemeParameter code_parameter(const std::vector<std::string>& others) {
  std::string allowed;
  for (const std::string& name : code_names()) allowed += (allowed.empty() ? "" : "|") + name;
  std::string meaning =
      "the gradient code; auto takes the cheapest that keeps its accuracy (rule=published: "
      "cyclic)";
  if (!others.empty()) {
    meaning +=
        fmt::format("; or, with its parameters (paceline codes), {}", fmt::join(others, ", "));
  }
  return {"code", allowed, meaning};
}

std::string read_code_name(ParameterText& parameters,
                           const SchemeContext& context,
                           const std::vector<std::string>& others) {
  std::vector<std::string> names = code_names();
  names.insert(names.end(), others.begin(), others.end());
  return parameters.word("code", names, context.rule == CloseRule::kPublished ? "cyclic" : "auto");
}

namespace {

/// The codes built last: a search plays each one with many close policies on many resamples, and to
/// build a code may take longer than to play it. Codes are values, so sharing them changes nothing.
class RecentCodes {
 public:
  using Key = std::tuple<std::string, int, std::uint64_t, bool, bool, MessageType>;

  SharedCode find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(codes_, key, &std::pair<Key, SharedCode>::first);
    if (found == codes_.end()) return nullptr;
    codes_.splice(codes_.begin(), codes_, found);
    return codes_.front().second;
  }

  void add(const Key& key, const SharedCode& code) {
    constexpr std::size_t kMost = 8;
    const std::lock_guard lock(mutex_);
    codes_.emplace_front(key, code);
    if (codes_.size() > kMost) codes_.pop_back();
  }

 private:
  std::mutex mutex_;
  std::list<std::pair<Key, SharedCode>> codes_;  ///< the one used last in front
};

}  // namespace

Expected<SharedCode> build_code(const std::string& text,
                                const SchemeContext& context,
                                const std::function<Expected<GradientCode>()>& make) {
  static RecentCodes recent;
  const RecentCodes::Key key{text,
                             context.workers,
                             context.seed,
                             context.keep_promise,
                             context.messages,
                             context.message_type};
  if (SharedCode code = recent.find(key)) return code;
  Expected<GradientCode> made = make();
  if (!made) return Unexpected(made.error());
  const auto code = std::make_shared<const GradientCode>(std::move(made).value());
  recent.add(key, code);
  return SharedCode(code);
}

Expected<SharedCode> build_code(const std::string& name,
                                int stragglers,
                                const SchemeContext& context) {
  return build_code(fmt::format("s={},code={}", stragglers, name), context, [&] {
    return make_code({.name = name,
                      .workers = context.workers,
                      .stragglers = stragglers,
                      .seed = context.seed,
                      .keep_promise = context.keep_promise,
                      .weights = context.messages,
                      .message_type = context.message_type});
  });
}

std::vector<double> message_costs(const GradientCode& code) {
  std::vector<double> costs;
  std::vector<bool> seen(code.chunk_size.size());
  for (const Row& row : code.rows) {
    seen.assign(code.chunk_size.size(), false);
    double share = 0;
    for (const Term& term : row.terms()) {  // a code on parts names a chunk several times
      for (int j = term.chunk.value; j < term.chunk.value + term.count; ++j) {
        const auto chunk = static_cast<std::size_t>(j);
        if (!seen[chunk]) share += code.chunk_size[chunk];
        seen[chunk] = true;
      }
    }
    costs.push_back(share * code.backward_passes);
  }
  return costs;
}

int fewest_answers(const GradientCode& code) {
  if (!code.exact) return 1;
  return static_cast<int>(std::ceil(1 / code.load - 1e-9));
}

int most_stragglers(const std::string& code_name, int workers, double storage) {
  constexpr double kRounding = 1e-9;
  if (code_name == "repetition") {
    const int groups = static_cast<int>(std::ceil(1 / storage - kRounding));
    return workers / groups - 1;
  }
  return std::min(workers, static_cast<int>(std::floor(storage * workers + kRounding))) - 1;
}

std::vector<std::string> searched_codes() {
  std::vector<std::string> names = code_names();
  std::erase_if(names, [](const std::string& name) { return name == "auto" || name == "mds"; });
  return names;
}

void describe_code(const GradientCode* code,
                   const SchemeContext& context,
                   int chunks,
                   SchemeInfo& info) {
  if (code != nullptr) {
    info.shape = code->shape;
  }
  if (code != nullptr && !code->exact) {
    info.amplification_limit = std::numeric_limits<double>::infinity();
    info.error_bound = std::numeric_limits<double>::infinity();
    return;
  }
  if (code == nullptr || code->name == "repetition") {
    info.amplification_limit = 1;
  } else if (context.keep_promise) {
    info.amplification_limit = promised_amplification(context.message_type);
  } else {
    info.amplification_limit = std::numeric_limits<double>::infinity();
  }
  info.error_bound = decode_error_bound(info.amplification_limit, 0, chunks, context.message_type);
}

}  // namespace paceline
