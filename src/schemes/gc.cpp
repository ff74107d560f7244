// Gradient coding: every round is one job, every worker sends its coded message, and the round
// closes on a set of answers that decodes. No memory of earlier rounds, decode delay 0. Uncoded is
// the same with a code that tolerates nobody.
//
// Source: Tandon, Lei, Dimakis, Karampatziakis, "Gradient Coding" (ICML 2017). The published test
// of Krishnan, Ebrahimi, Khisti (ICLR 2023, program) is strict: fewer than s stragglers, although s
// would decode.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/code_catalog.hpp"
#include "schemes/code_choice.hpp"
#include "schemes/relay.hpp"
#include "schemes/scheme_catalog.hpp"

namespace paceline {
namespace {

class GradientCoding final : public Scheme {
 public:
  GradientCoding(SchemeInfo info, SharedCode code, CloseRule rule)
      : info_(std::move(info)),
        code_(std::move(code)),
        costs_(message_costs(*code_)),
        fewest_answers_(fewest_answers(*code_)),
        rule_(rule) {
    info_.workers = code_->workers();
    info_.chunk_size = code_->chunk_size;
    info_.load = *std::ranges::max_element(costs_);
    info_.storage = code_->load;
  }

  const SchemeInfo& info() const override { return info_; }

  RoundPlan plan(Round round) const override {
    PACELINE_CHECK(round == next_);
    RoundPlan plan;
    plan.per_worker.resize(costs_.size());
    for (std::size_t i = 0; i < costs_.size(); ++i) {
      plan.per_worker[i].push_back({JobId{round.value}, code_->rows[i], costs_[i]});
    }
    return plan;
  }

  bool may_close(Round round, const Answers& answers) const override {
    PACELINE_CHECK(round == next_);
    const int missing = static_cast<int>(std::ranges::count(answers.done, 0));
    return enough(missing) && (missing == 0 || code_->decodable(answered(answers)));
  }

  std::vector<Decoding> close(Round round, const Answers& answers) override {
    PACELINE_CHECK(round == next_);
    const std::optional<Combination> combination = code_->decode(answered(answers));
    PACELINE_CHECK(combination.has_value());
    Decoding decoding;
    decoding.job = JobId{round.value};
    decoding.residual = combination->residual;
    decoding.amplification = combination->amplification;
    add_terms(
        *combination,
        [&](WorkerId i) {
          return MessageId{i, round, 0};
        },
        decoding);
    ++next_.value;
    return {decoding};
  }

  /// Approximate codes play with messages, so that what they leave is counted.
  bool timeless() const override { return code_->exact; }

  bool answers_decide() const override { return true; }

  int loads(Round round, int jobs, std::span<double> loads) const override {
    PACELINE_CHECK(round == next_);
    if (round.value >= jobs) {
      std::ranges::fill(loads, kNoWork);
      return 0;
    }
    std::copy(costs_.begin(), costs_.end(), loads.data());  // as a block of memory
    return info_.workers;
  }

  bool may_pass(Round round, const WorkerSet& missing) const override {
    PACELINE_CHECK(round == next_);
    const int count = missing.size();
    if (count == 0 || !enough(count)) return count == 0;
    answered_ = everybody_;
    answered_ -= missing;
    return code_->decodable(answered_);
  }

  Moment first_pass(Round round, Arrivals& arrivals) const override {
    PACELINE_CHECK(round == next_);
    if (!code_->first_decodable || arrivals.busy_count() < info_.workers) {
      return Scheme::first_pass(round, arrivals);
    }
    const Moment decodable = code_->first_decodable(arrivals);
    if (rule_ == CloseRule::kDecodable) return decodable;
    return std::max(decodable, arrivals.nth(info_.workers - most_missing()));
  }

  int pass(Round round, [[maybe_unused]] const WorkerSet& missing, int jobs) override {
    PACELINE_DCHECK(may_pass(round, missing));
    ++next_.value;
    return round.value < jobs ? 1 : 0;
  }

  std::unique_ptr<Scheme> clone() const override { return std::make_unique<GradientCoding>(*this); }

 private:
  /// The most stragglers that the rule allows, whatever the code can do with the rest.
  int most_missing() const {
    if (rule_ == CloseRule::kDecodable) return info_.workers - fewest_answers_;
    if (rule_ == CloseRule::kModel) return code_->tolerance;
    return std::max(0, code_->tolerance - 1);
  }

  bool enough(int missing) const {
    return missing <= most_missing() && info_.workers - missing >= fewest_answers_;
  }

  WorkerSet answered(const Answers& answers) const {
    WorkerSet set(info_.workers);
    for (int i = 0; i < info_.workers; ++i) {
      if (answers.done[static_cast<std::size_t>(i)] > 0) set.insert(WorkerId{i});
    }
    return set;
  }

  SchemeInfo info_;
  SharedCode code_;
  std::vector<double> costs_;
  int fewest_answers_;
  CloseRule rule_;
  Round next_{0};
  WorkerSet everybody_ = WorkerSet::all(code_->workers());
  mutable WorkerSet answered_ = everybody_;  // kept so that asking allocates nothing
};

Expected<std::unique_ptr<Scheme>> build(SchemeInfo info,
                                        Expected<SharedCode> code,
                                        const SchemeContext& context) {
  if (!code) return Unexpected(code.error());
  describe_code(code->get(), context, (*code)->chunks, info);
  return std::unique_ptr<Scheme>(
      std::make_unique<GradientCoding>(std::move(info), *std::move(code), context.rule));
}

Expected<std::unique_ptr<Scheme>> make_uncoded(ParameterText& parameters,
                                               const SchemeContext& context) {
  if (auto fine = parameters.finish(); !fine) return Unexpected(fine.error());
  SchemeInfo info;
  info.name = "uncoded";
  return build(std::move(info), build_code("repetition", 0, context), context);
}

/// The codes of the catalogue that are not among those that every scheme can use.
std::vector<std::string> other_codes() {
  const std::vector<std::string> common = code_names();
  std::vector<std::string> names;
  for (const CodeDescription& code : code_catalog()) {
    if (std::ranges::find(common, code.name) == common.end()) names.push_back(code.name);
  }
  return names;
}

/// "s=3,code=graph,r=4": what was given of the code's own parameters, s first.
std::string code_text(const std::string& name, ParameterText& parameters) {
  std::string text = fmt::format("code={}", name);
  for (const CodeDescription& code : code_catalog()) {
    if (code.name != name) continue;
    for (const CodeParameter& parameter : code.parameters) {
      if (!parameters.has(parameter.name)) continue;
      const std::string given =
          fmt::format("{}={}", parameter.name, parameters.text(parameter.name, ""));
      text = parameter.name == "s" ? given + "," + text : text + "," + given;
    }
  }
  return text;
}

Expected<std::unique_ptr<Scheme>> make_gc_with(const std::string& name,
                                               ParameterText& parameters,
                                               const SchemeContext& context) {
  SchemeInfo info;
  info.name = "gc";
  info.parameters = code_text(name, parameters);
  const auto make = [&]() -> Expected<GradientCode> {
    Expected<GradientCode> made = make_code(name,
                                            parameters,
                                            {.workers = context.workers,
                                             .seed = context.seed,
                                             .keep_promise = context.keep_promise,
                                             .weights = context.messages,
                                             .message_type = context.message_type});
    if (!parameters.ok()) return invalid(name + ": wrong parameters");  // finish() names them
    return made;
  };
  Expected<SharedCode> code = build_code(info.parameters, context, make);
  if (!code && parameters.ok()) return Unexpected(code.error());  // perhaps before reading the rest
  if (auto fine = parameters.finish(); !fine) return Unexpected(fine.error());
  return build(std::move(info), std::move(code), context);
}

Expected<std::unique_ptr<Scheme>> make_gc(ParameterText& parameters, const SchemeContext& context) {
  if (parameters.text("s", "") == "auto") {
    if (auto fine = parameters.finish(); !fine) return Unexpected(fine.error());
    return make_automatic_repetition(context);
  }
  const int n = context.workers;
  const std::vector<std::string> others = other_codes();
  const std::string wanted = parameters.text("code", "");
  if (std::ranges::find(others, wanted) != others.end()) {
    return make_gc_with(wanted, parameters, context);
  }
  const bool by_groups = parameters.has("groups");
  const int groups = parameters.integer("groups", 1, n, 1);
  const int s = parameters.integer("s", 0, n - 1, 0);
  const std::string name = read_code_name(parameters, context, others);
  if (by_groups && parameters.has("s")) parameters.fail("give s= or groups=, not both");
  if (!by_groups && !parameters.has("s")) {
    parameters.fail(
        fmt::format("needs s= (0 <= s <= {}) or groups= (1 <= groups <= {})", n - 1, n));
  }
  if (by_groups && parameters.has("code") && name != "repetition" && name != "auto") {
    parameters.fail(fmt::format("groups= goes with code=repetition, not with code={}", name));
  }
  if (auto fine = parameters.finish(); !fine) return Unexpected(fine.error());

  SchemeInfo info;
  info.name = "gc";
  if (by_groups) {
    Expected<GradientCode> code = make_fractional_repetition({.workers = n, .groups = groups});
    if (!code) return Unexpected(code.error());
    info.parameters = fmt::format("groups={}", groups);
    return build(std::move(info),
                 SharedCode(std::make_shared<const GradientCode>(std::move(code).value())),
                 context);
  }
  Expected<SharedCode> code = build_code(name, s, context);
  if (code) info.parameters = fmt::format("s={},code={}", s, (*code)->name);
  return build(std::move(info), std::move(code), context);
}

std::vector<SearchFamily> search_uncoded(const SearchLimits& /*limits*/) {
  SearchFamily family{.name = "uncoded", .lines = {}, .only_eager = true, .knows_rules = false};
  family.lines.push_back({0, 0, [](int) { return std::string("uncoded"); }});
  return {std::move(family)};
}

/// Every approximate code that decodes, with the settings there are for so many workers; each round
/// then ends with a gradient that lacks no more than allowed.
SearchFamily approximate_family(const SearchLimits& limits) {
  const int most = static_cast<int>(limits.storage * limits.workers + 1e-9);
  SearchFamily family{.name = "gc-approximate", .lines = {}, .only_eager = true};
  family.knows_rules = false;
  const std::string residual = fmt::format("residual={:g}", limits.max_residual);
  for (const CodeDescription& code : code_catalog()) {
    if (code.exact) continue;
    std::vector<std::string> texts;
    for (const std::string& setting : code_settings(code.name, limits.workers, most)) {
      const std::string own = setting.empty() ? "" : setting + ",";
      texts.push_back(fmt::format("gc:code={},{}{}", code.name, own, residual));
    }
    const int last = static_cast<int>(texts.size()) - 1;
    family.lines.push_back({0, last, [texts = std::move(texts)](int i) {
                              return texts[static_cast<std::size_t>(i)];
                            }});
  }
  return family;
}

/// Repetition by its number of groups, which no number of stragglers names one by one.
std::vector<SearchFamily> search_gc(const SearchLimits& limits) {
  const int n = limits.workers;
  SearchFamily family{.name = "gc", .lines = {}, .only_eager = true};
  for (const std::string& code : searched_codes()) {
    const int most = most_stragglers(code, n, limits.storage);
    if (code == "repetition") {
      const int fewest_groups = static_cast<int>(std::ceil(1 / limits.storage - 1e-9));
      family.lines.push_back(
          {fewest_groups, n, [](int groups) { return fmt::format("gc:groups={}", groups); }});
    } else {
      family.lines.push_back({1, std::min(most, n - 2), [code](int s) {
                                return fmt::format("gc:s={},code={}", s, code);
                              }});
    }
  }
  std::vector<SearchFamily> families = {std::move(family)};
  if (limits.max_residual > 0) families.push_back(approximate_family(limits));
  if (limits.storage < 1) return families;
  SearchFamily automatic{.name = "gc-auto", .lines = {}, .only_eager = true, .knows_rules = false};
  automatic.lines.push_back({0, 0, [](int) { return std::string("gc:s=auto"); }});
  families.push_back(std::move(automatic));
  return families;
}

}  // namespace

SchemeEntry uncoded_entry() {
  return {{.name = "uncoded",
           .summary = "every worker computes its own n-th of the data; waits for all",
           .parameters = {},
           .load = "1/n",
           .decode_delay = "0",
           .source = "baseline",
           .example = "uncoded"},
          make_uncoded,
          true,
          search_uncoded};
}

SchemeEntry gc_entry() {
  return {
      {.name = "gc",
       .summary = "gradient coding: each round decodes from any set of answers the code can use",
       .parameters = {{"s",
                       "0 <= s <= n-1, or auto",
                       "stragglers tolerated in every round; auto: found on line"},
                      {"groups",
                       "1 <= groups <= n",
                       "instead of s: so many repetition groups, one answer each decodes"},
                      code_parameter(other_codes())},
       .load = "(s+1)/n; repetition: 1/floor(n/(s+1))",
       .decode_delay = "0",
       .source = "Tandon et al., Gradient Coding (ICML 2017)",
       .example = "gc:s=3,code=repetition"},
      make_gc,
      true,
      search_gc};
}

}  // namespace paceline
