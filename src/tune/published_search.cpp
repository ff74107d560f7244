// Thousands of replays of one profile, so everything that does not depend on the candidate is made
// once. More load makes all workers of a round slower by the same time. It thus moves the cutoff
// among the base times but never changes their order, and who is missing is one of n+1 sets per
// round: all but the k fastest. These sets are packed bits, made beforehand; a candidate finds its
// k and then only combines sets, 64 workers at a time.
//
// The rules are those of CloseRule::kPublished. For M-SGC the straggler model decides alone: by the
// theorem a history that conforms never makes a job undecodable.
#include "paceline/published_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/simd.hpp"

namespace paceline {
namespace {

using Word = std::uint64_t;

/// A round at one load: who answers by the cutoff, and what that costs.
struct Cut {
  int answered = 0;         ///< by the cutoff
  const Word* missing;      ///< the others
  double until_cutoff = 0;  ///< seconds the round lasts if it may close then
  double until_last = 0;    ///< and if it waits for all
};

/// One round of the profile.
class SortedRound {
 public:
  SortedRound(const DelaySource& delays, Round round, std::size_t words) : words_(words) {
    const int n = delays.workers();
    std::vector<std::pair<double, int>> order;
    for (int i = 0; i < n; ++i) {
      order.emplace_back(delays.delay(round, WorkerId{i}).base.count(), i);
    }
    std::ranges::sort(order);
    late_.assign(static_cast<std::size_t>(n + 1) * words, 0);
    for (std::size_t k = order.size(); k-- > 0;) {
      base_.push_back(order[k].first);
      const auto after = late_.begin() + static_cast<std::ptrdiff_t>((k + 1) * words);
      std::copy_n(after, words, after - static_cast<std::ptrdiff_t>(words));
      const auto worker = static_cast<std::size_t>(order[k].second);
      late_[k * words + worker / 64] |= Word{1} << (worker % 64);
    }
    std::ranges::reverse(base_);
  }

  /// @param shift  what the load adds to every time
  Cut cut(double mu, double shift) const {
    const double cutoff = (1 + mu) * (base_.front() + shift);
    const auto in_time = [&](double base) { return base + shift <= cutoff; };
    const auto first_late = std::partition_point(base_.begin(), base_.end(), in_time);
    const auto answered = first_late - base_.begin();
    const double last = base_.back() + shift;
    return {static_cast<int>(answered),
            late_.data() + static_cast<std::size_t>(answered) * words_,
            std::min(cutoff, last),
            last};
  }

 private:
  std::size_t words_;
  std::vector<double> base_;  ///< seconds at zero load, ascending
  std::vector<Word> late_;    ///< shape (n+1, words): entry k holds all but the k fastest
};

/// The stragglers of the last rounds, and what they forbid. As StragglerModel::bursty, with the
/// sets of the past taken together only when asked.
class History {
 public:
  /// @pre 1 <= B < W
  void clear(int B, int W, std::size_t words) {
    B_ = static_cast<std::size_t>(B);
    length_ = static_cast<std::size_t>(W - 1);
    words_ = words;
    next_ = 0;
    past_.assign(length_ * words, 0);
    blocked_.resize(words);
    recent_.resize(words);
  }

  bool accepts(const Word* missing, int lambda) {
    std::ranges::fill(recent_, Word{0});
    for (std::size_t ago = 1; ago < B_; ++ago) add(ago, recent_.data());
    std::ranges::fill(blocked_, Word{0});
    for (std::size_t ago = B_; ago <= length_; ++ago) add(ago, blocked_.data());
    Word common = 0;
    int distinct = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      common |= missing[w] & blocked_[w];
      distinct += std::popcount(missing[w] | blocked_[w] | recent_[w]);
    }
    return common == 0 && distinct <= lambda;
  }

  /// @param missing  null: nobody
  void push(const Word* missing) {
    const auto place = past_.begin() + static_cast<std::ptrdiff_t>(next_ * words_);
    if (missing == nullptr) {
      std::fill_n(place, words_, Word{0});
    } else {
      std::copy_n(missing, words_, place);
    }
    next_ = next_ + 1 == length_ ? 0 : next_ + 1;
  }

 private:
  void add(std::size_t ago, Word* sum) const {
    const std::size_t place = next_ >= ago ? next_ - ago : next_ + length_ - ago;
    for (std::size_t w = 0; w < words_; ++w) sum[w] |= past_[place * words_ + w];
  }

  std::size_t B_ = 1;
  std::size_t length_ = 1;  ///< W-1 rounds
  std::size_t words_ = 1;
  std::size_t next_ = 0;    ///< where the next round goes in the ring
  std::vector<Word> past_;  ///< shape (W-1, words)
  std::vector<Word> blocked_;
  std::vector<Word> recent_;
};

int size_of(const Word* set, std::size_t words) {
  int size = 0;
  for (std::size_t w = 0; w < words; ++w) size += std::popcount(set[w]);
  return size;
}

/// Everybody's totals on one profile.
class Search {
 public:
  Search(const DelaySource& delays, int profile_rounds, const PublishedSearchOptions& options)
      : options_(options),
        n_(delays.workers()),
        words_((static_cast<std::size_t>(n_) + 63) / 64),
        slope_(delays.delay(Round{0}, WorkerId{0}).per_load.count()) {
    const int rounds = std::min(profile_rounds, options.jobs + options.most_slots);
    for (int r = 0; r < rounds; ++r) rounds_.emplace_back(delays, Round{r}, words_);
    repeats_.resize(words_);
    for (int s = 0; s < n_; ++s) cuts_of_code_.push_back(cuts_at(load_of_code(s)));
  }

  PublishedSearch run() {
    PublishedSearch search;
    auto& all = search.candidates;
    const auto add = [&](const PublishedCandidate& candidate) { all.push_back(played(candidate)); };
    std::vector<std::size_t> first = {0};  // of each scheme
    add({.scheme = "uncoded", .load = load_of_code(0)});
    first.push_back(all.size());
    for (int s = 1; s < n_; ++s) add({.scheme = "gc", .s = s, .load = load_of_code(s)});
    first.push_back(all.size());
    for (int B = 1; B <= options_.most_slots; ++B) {
      for (int W = B + 1; W <= options_.longest_window; W += B) {
        for (int lambda = 1; lambda <= n_; ++lambda) {
          const int attempts = (W - 1) / B + 1;
          const int s = (lambda + attempts - 1) / attempts;
          if (s >= n_) continue;
          add({"sr-sgc", B, W, lambda, s, load_of_code(s)});
        }
      }
    }
    first.push_back(all.size());
    for (int W = 2; W <= options_.longest_window; ++W) {
      for (int B = 1; B < W && W - 1 + B <= options_.most_slots; ++B) {
        for (int lambda = 1; lambda <= n_; ++lambda) {
          add({"m-sgc", B, W, lambda, 0, load_of_m_sgc(B, W, lambda)});
        }
      }
    }
    first.push_back(all.size());
    for (std::size_t scheme = 0; scheme + 1 < first.size(); ++scheme) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first[scheme]);
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(first[scheme + 1]);
      if (begin == end) continue;
      search.best.push_back(*std::min_element(begin, end, [](const auto& a, const auto& b) {
        return std::pair(a.total, a.load) < std::pair(b.total, b.load);
      }));
    }
    return search;
  }

 private:
  double load_of_code(int s) const { return (s + 1.0) / n_; }

  double load_of_m_sgc(int B, int W, int lambda) const {
    const double slots = W - 1 + B;
    if (lambda == n_) return slots / (double{W - 1.0} * n_);
    return (lambda + 1) * slots / (n_ * (B + (W - 1) * (lambda + 1.0)));
  }

  /// Every round of the profile at this load.
  std::vector<Cut> cuts_at(double load) const {
    std::vector<Cut> cuts;
    cuts.reserve(rounds_.size());
    for (const SortedRound& round : rounds_) cuts.push_back(round.cut(options_.mu, slope_ * load));
    return cuts;
  }

  PublishedCandidate played(PublishedCandidate candidate) {
    total_ = 0;
    wait_outs_ = 0;
    if (candidate.scheme == "m-sgc") {
      play_m_sgc(candidate, cuts_at(candidate.load));
    } else if (candidate.scheme == "sr-sgc") {
      play_sr_sgc(candidate, cuts_of_code_[static_cast<std::size_t>(candidate.s)]);
    } else {
      play_gc(candidate, cuts_of_code_[static_cast<std::size_t>(candidate.s)]);
    }
    candidate.total = Seconds{total_};
    candidate.wait_outs = wait_outs_;
    return candidate;
  }

  /// Adds the round's time. @return the stragglers, null if there are none
  const Word* take_round(const Cut& cut, bool accepted) {
    total_ += accepted ? cut.until_cutoff : cut.until_last;
    wait_outs_ += accepted ? 0 : 1;
    return accepted && cut.answered < n_ ? cut.missing : nullptr;
  }

  /// A round is accepted with fewer than s stragglers, or none.
  void play_gc(const PublishedCandidate& candidate, const std::vector<Cut>& cuts) {
    for (int r = 0; r < options_.jobs; ++r) {
      const Cut& cut = cuts[static_cast<std::size_t>(r) % cuts.size()];
      const int missing = n_ - cut.answered;
      take_round(cut, missing == 0 || missing < candidate.s);
    }
  }

  /// Tail rounds are played in full, and charged like all others.
  PACELINE_SIMD void play_m_sgc(const PublishedCandidate& candidate, const std::vector<Cut>& cuts) {
    const auto [scheme, B, W, lambda, s, load, total, waits] = candidate;
    history_.clear(B, W, words_);
    for (int r = 0; r < options_.jobs + W - 2 + B; ++r) {
      const Cut& cut = cuts[static_cast<std::size_t>(r) % cuts.size()];
      history_.push(take_round(cut, cut.answered == n_ || history_.accepts(cut.missing, lambda)));
    }
  }

  /// Job t is due in round t+B; if more than s did not contribute in round t, the lowest-numbered
  /// of them repeat then, as many as it takes. A tail round in which nobody repeats is left out.
  /// The stragglers of clean rounds are forgotten.
  PACELINE_SIMD void play_sr_sgc(const PublishedCandidate& candidate,
                                 const std::vector<Cut>& cuts) {
    const int B = candidate.B;
    history_.clear(B, candidate.W, words_);
    absent_.assign(static_cast<std::size_t>(B) * words_, 0);
    std::ranges::fill(repeats_, Word{0});
    bool anyone_repeats = false;
    int decoded = 0;
    for (int r = 0; decoded < options_.jobs; ++r) {
      const Cut& cut = cuts[static_cast<std::size_t>(r) % cuts.size()];
      const Word* missing = nullptr;
      if (r < options_.jobs || anyone_repeats) {
        missing = take_round(
            cut,
            cut.answered == n_ ||
                (!repeats_among(cut.missing) && history_.accepts(cut.missing, candidate.lambda)));
      }
      decoded += anyone_repeats ? 1 : 0;
      const int stragglers = missing == nullptr ? 0 : n_ - cut.answered;
      const bool clean = !anyone_repeats && stragglers <= candidate.s;
      history_.push(clean ? nullptr : missing);
      Word* absent = absent_.data() + static_cast<std::size_t>(r % B) * words_;
      for (std::size_t w = 0; w < words_; ++w) {
        absent[w] = repeats_[w] | (missing == nullptr ? 0 : missing[w]);
      }
      decoded += r < options_.jobs && size_of(absent, words_) <= candidate.s ? 1 : 0;
      const Word* due = absent_.data() + static_cast<std::size_t>((r + 1) % B) * words_;
      anyone_repeats = choose_repeats(due, size_of(due, words_) - candidate.s);
    }
  }

  bool repeats_among(const Word* missing) const {
    Word common = 0;
    for (std::size_t w = 0; w < words_; ++w) common |= repeats_[w] & missing[w];
    return common != 0;
  }

  /// The first `count` workers of the set repeat in the next round. @return whether anyone does
  bool choose_repeats(const Word* absent, int count) {
    for (std::size_t w = 0; w < words_; ++w) {
      repeats_[w] = 0;
      for (Word rest = absent[w]; rest != 0 && count > 0; rest &= rest - 1, --count) {
        repeats_[w] |= rest & -rest;
      }
    }
    return std::ranges::any_of(repeats_, [](Word word) { return word != 0; });
  }

  const PublishedSearchOptions& options_;
  int n_;
  std::size_t words_;
  double slope_;  ///< seconds per unit of load
  std::vector<SortedRound> rounds_;
  std::vector<std::vector<Cut>> cuts_of_code_;  ///< [s][round]

  // the game that is played
  double total_ = 0;
  int wait_outs_ = 0;
  History history_;
  std::vector<Word> absent_;   ///< shape (B, words): who did not contribute to job t in round t
  std::vector<Word> repeats_;  ///< who repeats in the next round
};

}  // namespace

std::string PublishedCandidate::text() const {
  if (scheme == "uncoded") return "uncoded";
  if (scheme == "gc") return fmt::format("gc:s={}", s);
  return fmt::format("{}:B={},W={},lambda={}", scheme, B, W, lambda);
}

Expected<PublishedSearch> published_search(const DelayProfile& profile,
                                           const PublishedSearchOptions& options) {
  if (options.jobs < 1)
    return invalid(fmt::format("jobs={} is not allowed; jobs >= 1", options.jobs));
  if (!std::isfinite(options.mu) || options.mu < 0)
    return invalid(fmt::format("mu={} is not allowed; a number >= 0", options.mu));
  if (options.longest_window < 1 || options.most_slots < 0) {
    return invalid(fmt::format("longest_window={}, most_slots={}: at least 1 and 0",
                               options.longest_window,
                               options.most_slots));
  }
  if (options.replay.proportional) {
    return invalid("the published search needs times that all grow alike with the load");
  }
  const auto delays = make_replay(profile, options.replay);
  if (!delays) return Unexpected(delays.error());
  return Search(**delays, profile.rounds, options).run();
}

}  // namespace paceline
