// Gradient coding in clusters that are formed anew every round. The data are cut among P clusters
// of n/P workers, each with a gradient code of its own that may miss s of them. Worker (c, p), at
// position p, can take that position in the q clusters c, ..., c+q-1 (modulo P), whose data for it
// it holds; a round's assignment is one permutation of the clusters per position. Whoever straggled
// in the last round probably does again, so stragglers are spread evenly: a round then survives
// P s of them, wherever they are, at the load and the number of messages of gradient coding.
// With q = 1 clusters never change. A straggler is who was missing, or took more than 1+mu times as
// long as the fastest: a round that had to wait for slow workers has heard of nearly all of them.
//
// Position by position the cheapest assignment is found exactly (Kuhn, Munkres), where a cluster
// with x stragglers costs 100 max(0, x - s) + x^2; as long as that gains something.
//
// Source: buyukates2020gradient. Differs: aligned positions, and assignments by cost instead of
// greedily with swaps.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "paceline/check.hpp"
#include "schemes/code_choice.hpp"
#include "schemes/scheme_catalog.hpp"

namespace paceline {
namespace {

constexpr int kForbidden = 1'000'000;

/// The cheapest perfect assignment of rows to columns (Kuhn, Munkres; potentials and shortest
/// augmenting paths, O(P^3)). @param cost  shape (P, P)
/// @return the column of each row
std::vector<int> cheapest_assignment(const std::vector<std::vector<int>>& cost) {
  const std::size_t P = cost.size();
  std::vector<int> row_price(P + 1, 0);
  std::vector<int> column_price(P + 1, 0);
  std::vector<std::size_t> row_of(P + 1, P);  // of each column; column P: the row being placed
  for (std::size_t row = 0; row < P; ++row) {
    std::vector<int> slack(P, std::numeric_limits<int>::max());
    std::vector<std::size_t> before(P, P);
    std::vector<bool> reached(P + 1, false);
    row_of[P] = row;
    std::size_t column = P;
    while (row_of[column] != P) {
      reached[column] = true;
      const std::size_t from = row_of[column];
      std::size_t next = P;
      for (std::size_t c = 0; c < P; ++c) {
        if (reached[c]) continue;
        const int reduced = cost[from][c] - row_price[from] - column_price[c];
        if (reduced < slack[c]) {
          slack[c] = reduced;
          before[c] = column;
        }
        if (next == P || slack[c] < slack[next]) next = c;
      }
      const int step = slack[next];
      for (std::size_t c = 0; c <= P; ++c) {
        if (reached[c]) {
          row_price[row_of[c]] += step;
          column_price[c] -= step;
        } else {
          slack[c] -= step;
        }
      }
      column = next;
    }
    for (; column != P; column = before[column]) row_of[column] = row_of[before[column]];
  }
  std::vector<int> column_of(P);
  for (std::size_t c = 0; c < P; ++c) column_of[row_of[c]] = static_cast<int>(c);
  return column_of;
}

class Clusters final : public Scheme {
 public:
  Clusters(SchemeInfo info, SharedCode code, int clusters, int candidates, double mu)
      : info_(std::move(info)),
        code_(std::move(code)),
        costs_(message_costs(*code_)),
        clusters_(clusters),
        candidates_(candidates),
        mu_(mu),
        positions_(code_->workers()) {
    info_.workers = clusters * positions_;
    info_.load = *std::ranges::max_element(costs_) / clusters;
    info_.storage = std::min(1.0, candidates * code_->load / clusters);
    for (int c = 0; c < clusters; ++c) {
      for (const double size : code_->chunk_size) info_.chunk_size.push_back(size / clusters);
      for (const Row& row : code_->rows) {
        std::vector<Term> terms(row.terms().begin(), row.terms().end());
        for (Term& term : terms) term.chunk.value += c * code_->chunks;
        rows_.emplace_back(std::move(terms));
      }
    }
    for (int i = 0; i < info_.workers; ++i) cluster_.push_back(i / positions_);
  }

  const SchemeInfo& info() const override { return info_; }

  RoundPlan plan(Round round) const override {
    PACELINE_CHECK(round == next_);
    RoundPlan plan;
    for (int i = 0; i < info_.workers; ++i) {
      const int p = i % positions_;
      const int role = cluster_[static_cast<std::size_t>(i)] * positions_ + p;
      plan.per_worker.push_back({{JobId{round.value},
                                  rows_[static_cast<std::size_t>(role)],
                                  costs_[static_cast<std::size_t>(p)] / clusters_}});
    }
    return plan;
  }

  bool may_close(Round round, const Answers& answers) const override {
    PACELINE_CHECK(round == next_);
    const std::vector<WorkerSet> answered = by_cluster(answers);
    return std::ranges::all_of(answered,
                               [&](const WorkerSet& set) { return code_->decodable(set); });
  }

  std::vector<Decoding> close(Round round, const Answers& answers) override {
    PACELINE_CHECK(round == next_);
    Decoding decoding;
    decoding.job = JobId{round.value};
    std::vector<int> worker_of(rows_.size());  // of each role
    for (int i = 0; i < info_.workers; ++i) {
      const int c = cluster_[static_cast<std::size_t>(i)];
      worker_of[static_cast<std::size_t>(c * positions_ + i % positions_)] = i;
    }
    const std::vector<WorkerSet> answered = by_cluster(answers);
    for (int c = 0; c < clusters_; ++c) {
      const auto combination = code_->decode(answered[static_cast<std::size_t>(c)]);
      PACELINE_CHECK(combination.has_value());
      decoding.amplification = std::max(decoding.amplification, combination->amplification);
      const auto message_of = [&](WorkerId position) {
        const auto role = static_cast<std::size_t>(c * positions_ + position.value);
        return MessageId{WorkerId{worker_of[role]}, round, 0};
      };
      add_terms(*combination, message_of, decoding);
    }
    spread(answers);
    ++next_.value;
    return {decoding};
  }

  bool answers_decide() const override { return true; }

  std::unique_ptr<Scheme> clone() const override { return std::make_unique<Clusters>(*this); }

 private:
  std::vector<WorkerSet> by_cluster(const Answers& answers) const {
    std::vector<WorkerSet> sets(static_cast<std::size_t>(clusters_), WorkerSet(positions_));
    for (int i = 0; i < info_.workers; ++i) {
      if (answers.done[static_cast<std::size_t>(i)] == 0) continue;
      const auto c = static_cast<std::size_t>(cluster_[static_cast<std::size_t>(i)]);
      sets[c].insert(WorkerId{i % positions_});
    }
    return sets;
  }

  /// What a cluster with x stragglers costs.
  int cost(int x) const { return 100 * std::max(0, x - code_->tolerance) + x * x; }

  std::vector<bool> stragglers_of(const Answers& answers) const {
    const Seconds fastest = *std::ranges::min_element(answers.time);
    std::vector<bool> straggled;
    for (std::size_t i = 0; i < answers.done.size(); ++i) {
      straggled.push_back(answers.done[i] == 0 || answers.time[i] > (1 + mu_) * fastest);
    }
    return straggled;
  }

  /// The next round's clusters, from the home assignment on.
  void spread(const Answers& answers) {
    if (candidates_ == 1) return;
    const std::vector<bool> straggled = stragglers_of(answers);
    std::vector<int> count(static_cast<std::size_t>(clusters_), 0);  // stragglers by cluster
    for (int i = 0; i < info_.workers; ++i) {
      cluster_[static_cast<std::size_t>(i)] = i / positions_;
      count[static_cast<std::size_t>(i / positions_)] +=
          straggled[static_cast<std::size_t>(i)] ? 1 : 0;
    }
    const auto total = [&] {
      return std::accumulate(
          count.begin(), count.end(), 0, [this](int sum, int x) { return sum + cost(x); });
    };
    for (int before = total() + 1; total() < before;) {
      before = total();
      for (int p = 0; p < positions_; ++p) spread_position(p, straggled, count);
    }
  }

  void spread_position(int p, const std::vector<bool>& slow, std::vector<int>& count) {
    const auto worker = [&](int home) { return static_cast<std::size_t>(home * positions_ + p); };
    const auto straggled = [&](int home) { return slow[worker(home)]; };
    const auto moved = [&](int step) {
      for (int home = 0; home < clusters_; ++home) {
        if (straggled(home)) count[static_cast<std::size_t>(cluster_[worker(home)])] += step;
      }
    };
    moved(-1);
    const auto P = static_cast<std::size_t>(clusters_);
    std::vector<std::vector<int>> costs(P, std::vector<int>(P, kForbidden));
    int now = 0;
    for (int home = 0; home < clusters_; ++home) {
      for (int step = 0; step < candidates_; ++step) {
        const auto c = static_cast<std::size_t>((home + step) % clusters_);
        const int more = straggled(home) ? cost(count[c] + 1) - cost(count[c]) : 0;
        costs[static_cast<std::size_t>(home)][c] = more;
        if (cluster_[worker(home)] == static_cast<int>(c)) now += more;
      }
    }
    const std::vector<int> chosen = cheapest_assignment(costs);
    int then = 0;
    for (std::size_t home = 0; home < P; ++home) {
      then += costs[home][static_cast<std::size_t>(chosen[home])];
    }
    if (then < now) {
      for (int home = 0; home < clusters_; ++home) {
        cluster_[worker(home)] = chosen[static_cast<std::size_t>(home)];
      }
    }
    moved(1);
  }

  SchemeInfo info_;
  SharedCode code_;  ///< of one cluster
  std::vector<double> costs_;
  int clusters_;
  int candidates_;
  double mu_;
  int positions_;             ///< workers of a cluster
  std::vector<Row> rows_;     ///< shape (n): role (cluster, position)
  std::vector<int> cluster_;  ///< of each worker, in this round
  Round next_{0};
};

Expected<std::unique_ptr<Scheme>> make_clusters(ParameterText& parameters,
                                                const SchemeContext& context) {
  const int n = context.workers;
  const int clusters = parameters.integer("clusters", 1, n);
  if (parameters.ok() && n % clusters != 0) {
    std::string fitting;
    for (int P = 1; P <= n; ++P) {
      if (n % P == 0) fitting += (fitting.empty() ? "" : ", ") + std::to_string(P);
    }
    parameters.fail(
        fmt::format("clusters={} does not divide {} workers; allowed: {}", clusters, n, fitting));
  }
  const int size = parameters.ok() ? n / clusters : n;
  const int s = parameters.integer("s", 0, size - 1);
  const int candidates =
      parameters.integer("candidates", 1, parameters.ok() ? clusters : n, std::min(clusters, 3));
  const double mu = parameters.number("mu", 0, 1000, 1.0);
  const std::string name = read_code_name(parameters, context);
  if (auto fine = parameters.finish(); !fine) return Unexpected(fine.error());
  SchemeContext inside = context;
  inside.workers = size;
  Expected<SharedCode> code = build_code(name, s, inside);
  if (!code) return Unexpected(code.error());
  SchemeInfo info;
  info.name = "clusters";
  info.parameters = fmt::format(
      "clusters={},s={},candidates={},mu={:g},code={}", clusters, s, candidates, mu, (*code)->name);
  describe_code(code->get(), context, clusters * (*code)->chunks, info);
  return std::unique_ptr<Scheme>(
      std::make_unique<Clusters>(std::move(info), *std::move(code), clusters, candidates, mu));
}

/// For a few s a line along which the clusters get smaller; workers can join as many clusters as
/// they may store the data for. Groups inside where they are as cheap, since they decode more sets.
std::vector<SearchFamily> search_clusters(const SearchLimits& limits) {
  const int n = limits.workers;
  SearchFamily family{.name = "clusters", .lines = {}, .only_eager = true, .knows_rules = false};
  for (const int s : {1, 2, 4}) {
    std::vector<std::string> texts;
    for (int clusters = 2; (s + 2) * clusters <= n; ++clusters) {
      const int joined = std::min(clusters, static_cast<int>(limits.storage * n / (s + 1) + 1e-9));
      if (n % clusters != 0 || joined < 1) continue;
      texts.push_back(fmt::format("clusters:clusters={},s={},candidates={},code={}",
                                  clusters,
                                  s,
                                  joined,
                                  n / clusters % (s + 1) == 0 ? "repetition" : "cyclic"));
    }
    const int last = static_cast<int>(texts.size()) - 1;
    family.lines.push_back({0, last, [texts = std::move(texts)](int i) {
                              return texts[static_cast<std::size_t>(i)];
                            }});
  }
  return {std::move(family)};
}

}  // namespace

SchemeEntry clusters_entry() {
  return {{.name = "clusters",
           .summary = "a gradient code per cluster; clusters change so that last round's "
                      "stragglers are spread",
           .parameters = {{"clusters", "divides n", "P, the data are cut among them"},
                          {"s", "0 <= s <= n/P-1", "stragglers tolerated in each cluster"},
                          {"candidates",
                           "1 <= candidates <= P",
                           "clusters a worker can join, and stores the data for (3); 1: fixed"},
                          {"mu",
                           "0 <= mu <= 1000",
                           "slower than 1+mu times the fastest worker is straggling (1)"},
                          code_parameter()},
           .load = "(s+1)/n",
           .decode_delay = "0",
           .source = "Buyukates, Ozfatura, Ulukus, Gunduz, Gradient Coding with Dynamic Clustering "
                     "(2020)",
           .example = "clusters:clusters=4,s=1"},
          make_clusters,
          true,
          search_clusters};
}

}  // namespace paceline
