// Expander code: the vertices of a regular graph are both workers and chunks, and worker i sends
// the mean of its neighbours' chunks. Common weights n/m then leave at most (rho/r)^2 s/(n-s)
// whatever straggles, where rho is the largest magnitude of a nontrivial eigenvalue.
//
// Source: raviv2018cyclic, section 4. Differs: least squares by default.
#include <fmt/format.h>

#include <set>
#include <utility>

#include "codes/graphs.hpp"
#include "codes/sparse_code.hpp"
#include "codes/sparse_decoders.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

constexpr char kTwoSided[] = "two-sided";

/// n workers with r chunks each and n chunks with r workers each, {worker, chunk}, otherwise at
/// random: neighbours on a ring, of which pairs change partners many times.
std::vector<std::pair<int, int>> two_sided_pairs(int n, int r, RandomStream& random) {
  constexpr int kChanges = 20;  // per pair
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < n; ++i) {
    for (int t = 0; t < r; ++t) pairs.emplace_back(i, (i + t) % n);
  }
  std::set<std::pair<int, int>> joined(pairs.begin(), pairs.end());
  for (std::size_t change = 0; change < kChanges * pairs.size(); ++change) {
    auto& [worker, chunk] = pairs[static_cast<std::size_t>(random.below(pairs.size()))];
    auto& [other_worker, other_chunk] = pairs[static_cast<std::size_t>(random.below(pairs.size()))];
    if (joined.contains({worker, other_chunk}) || joined.contains({other_worker, chunk})) continue;
    joined.erase({worker, chunk});
    joined.erase({other_worker, other_chunk});
    std::swap(chunk, other_chunk);
    joined.insert({worker, chunk});
    joined.insert({other_worker, other_chunk});
  }
  return pairs;
}

int usual_degree(int workers) { return workers % 2 == 0 ? 3 : 4; }

bool expander_exists(int workers, int /*stragglers*/) {
  return graph_exists("random", workers, usual_degree(workers));
}

std::vector<std::string> expander_settings(int workers, int most_holders) {
  std::vector<std::string> settings;
  for (int r = 1; r <= most_holders; ++r) {
    add_graph_settings(multigraph_names(), workers, r, settings);
    if (!graph_exists("random", workers, r))
      settings.push_back(fmt::format("graph=two-sided,r={}", r));
  }
  return settings;
}

Expected<GradientCode> make_expander(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const Tolerance tolerance = read_tolerance(parameters, n);
  std::vector<std::string> names = multigraph_names();
  names.emplace_back(kTwoSided);
  const std::string name = parameters.word("graph", names, "random");
  const int usual = name == "margulis" ? 8 : usual_degree(n);
  const int r = parameters.integer("r", 1, n, std::min(usual, n));
  if (name != kTwoSided && !graph_exists(name, n, r)) {
    std::string near;
    for (int distance = 1; distance < 20000 && near.empty(); ++distance) {
      for (const int m : {n - distance, n + distance}) {
        if (m < 1 || !graph_exists(name, m, r)) continue;
        near += fmt::format("{}{}", near.empty() ? "" : " and ", m);
      }
    }
    return invalid(fmt::format(
        "expander: there is no {} graph of degree {} with {} vertices (one per worker); {}",
        name,
        r,
        n,
        near.empty() ? std::string("with this degree there is none") : "the nearest: " + near));
  }
  std::vector<Eigen::Triplet<double>> entries;
  if (name == kTwoSided) {
    RandomStream random(context.seed, kTwoSided);
    for (const auto& [worker, chunk] : two_sided_pairs(n, r, random)) {
      entries.emplace_back(worker, chunk, 1.0 / r);
    }
  } else {
    for (const auto& [u, v] : make_graph(name, n, r, context.seed).edges) {
      entries.emplace_back(u, v, 1.0 / r);
      entries.emplace_back(v, u, 1.0 / r);
    }
  }
  auto G = std::make_shared<SparseMatrix>(n, n);
  G->setFromTriplets(entries.begin(), entries.end());
  const DecoderChoice choice = read_decoder(parameters, G, 1);
  return finish_approximate({"expander", G, choice.decoder, tolerance});
}

}  // namespace

CodeEntry expander_entry() {
  std::vector<CodeParameter> own = {
      {"r", "1 <= r <= n", "degree: workers that hold a chunk (3; n odd: 4; margulis: 8)"},
      {"graph",
       "random|circulant|complete|complete-bipartite|paley|petersen|heawood|cube|ramanujan|"
       "margulis|two-sided",
       "the graph on n workers and chunks; two-sided: between them, any r"}};
  for (CodeParameter& parameter : decoder_parameters()) own.push_back(std::move(parameter));
  return {{.name = "expander",
           .summary = "worker i sends the mean of its neighbours in a regular graph",
           .exact = false,
           .parameters = with_tolerance(std::move(own)),
           .load = "r/n",
           .source = "Raviv, Tamo, Tandon, Dimakis, Gradient Coding from Cyclic MDS Codes and "
                     "Expander Graphs (2018), section 4"},
          make_expander,
          expander_exists,
          expander_settings};
}

}  // namespace paceline
