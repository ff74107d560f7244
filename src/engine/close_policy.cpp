// The close policies. Each sees the round only through a RoundView and keeps at most a flag per
// round.
#include "paceline/close_policy.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>

#include "paceline/parameters.hpp"
#include "paceline/suggest.hpp"

namespace paceline {
namespace {

constexpr double kMostTolerance = 1000;

/// Waits (1+mu) times the fastest answer; what happens when the round cannot close then is the
/// difference between the published rule (wait for all) and the paper's (wait until the pattern
/// conforms).
class ToleranceClose final : public ClosePolicy {
 public:
  ToleranceClose(double mu, bool wait_for_all, CloseRule rule)
      : patience_{.tolerance = mu, .then_wait_for_all = wait_for_all}, rule_(rule) {}

  void open() override { waited_out_ = false; }

  Seconds close_at(const RoundView& view) override {
    if (view.complete == view.busy) return view.now;
    if (waited_out_ && patience_.then_wait_for_all) return kNever;
    if (view.complete == 0) return kNever;
    const Seconds cutoff = view.opened + (1 + patience_.tolerance) * view.fastest;
    if (view.now < cutoff) return cutoff;
    if (view.may_close()) return view.now;
    waited_out_ = true;
    return kNever;
  }

  bool waited_out() const override { return waited_out_; }

  std::optional<Patience> patience() const override { return patience_; }

  CloseRule rule() const override { return rule_; }

  std::unique_ptr<ClosePolicy> clone() const override {
    return std::make_unique<ToleranceClose>(*this);
  }

 private:
  Patience patience_;
  CloseRule rule_;
  bool waited_out_ = false;
};

/// Closes at the first moment when the round may close, but not before a fraction q of the busy
/// workers answered.
class QuantileClose final : public ClosePolicy {
 public:
  QuantileClose(double q, CloseRule rule) : patience_{.quantile = q}, rule_(rule) {}

  Seconds close_at(const RoundView& view) override {
    if (view.complete == view.busy) return view.now;
    if (view.complete < patience_.answers_needed(view.busy)) return kNever;
    return view.may_close() ? view.now : kNever;
  }

  std::optional<Patience> patience() const override { return patience_; }

  CloseRule rule() const override { return rule_; }

  std::unique_ptr<ClosePolicy> clone() const override {
    return std::make_unique<QuantileClose>(*this);
  }

 private:
  Patience patience_;
  CloseRule rule_;
};

const std::array<std::string, 4> kPolicies = {"published", "conforming", "eager", "quantile"};
const std::array<std::string, 3> kRules = {"decodable", "model", "published"};

CloseRule to_rule(const std::string& name) {
  if (name == kRules[0]) return CloseRule::kDecodable;
  return name == kRules[1] ? CloseRule::kModel : CloseRule::kPublished;
}

}  // namespace

int Patience::answers_needed(int busy) const {
  return static_cast<int>(std::ceil(quantile * busy - 1e-9));
}

Expected<std::unique_ptr<ClosePolicy>> make_close_policy(std::string_view text) {
  auto parsed = ParameterText::parse(text);
  if (!parsed) return Unexpected(parsed.error());
  const std::string& name = parsed->name();
  std::unique_ptr<ClosePolicy> policy;
  if (name == "published" || name == "conforming") {
    const bool published = name == "published";
    const double mu = parsed->number("mu", 0, kMostTolerance, 1.0);
    const CloseRule rule = to_rule(parsed->word("rule", kRules, published ? "published" : "model"));
    policy = std::make_unique<ToleranceClose>(mu, published, rule);
  } else if (name == "eager" || name == "quantile") {
    const double q = name == "eager" ? 0.0 : parsed->number("q", 0, 1);
    policy = std::make_unique<QuantileClose>(q, to_rule(parsed->word("rule", kRules, "decodable")));
  } else {
    return invalid(unknown_name("close policy", name, kPolicies));
  }
  if (auto finished = parsed->finish(); !finished) return Unexpected(finished.error());
  return policy;
}

}  // namespace paceline
