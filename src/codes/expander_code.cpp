// Expander code: the vertices of a regular graph are both workers and chunks, and worker i sends
// the mean of its neighbours' chunks. Common weights n/m then leave at most (rho/r)^2 s/(n-s)
// whatever straggles, where rho is the largest magnitude of a nontrivial eigenvalue.
//
// Source: raviv2018cyclic, section 4. Differs: least squares by default.
#include <fmt/format.h>

#include <utility>

#include "codes/graphs.hpp"
#include "codes/sparse_code.hpp"
#include "codes/sparse_decoders.hpp"

namespace paceline {
namespace {

int default_degree(int workers) { return workers % 2 == 0 ? 3 : 4; }

bool expander_exists(int workers, int /*stragglers*/) {
  return graph_exists("random", workers, default_degree(workers));
}

std::vector<std::string> expander_settings(int workers, int most_holders) {
  std::vector<std::string> settings;
  for (int r = 1; r <= most_holders; ++r) add_graph_settings(workers, r, settings);
  return settings;
}

Expected<GradientCode> make_expander(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const Tolerance tolerance = read_tolerance(parameters, n);
  const std::string name = parameters.word("graph", graph_names(), "random");
  const int r = parameters.integer("r", 1, n, std::min(default_degree(n), n));
  if (!graph_exists(name, n, r)) {
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
  const Graph graph = make_graph(name, n, r, context.seed);
  auto G = std::make_shared<SparseMatrix>(n, n);
  std::vector<Eigen::Triplet<double>> entries;
  for (const auto& [u, v] : graph.edges) {
    entries.emplace_back(u, v, 1.0 / r);
    entries.emplace_back(v, u, 1.0 / r);
  }
  G->setFromTriplets(entries.begin(), entries.end());
  const DecoderChoice choice = read_decoder(parameters, G, 1);
  return finish_approximate({"expander", G, choice.decoder, tolerance});
}

}  // namespace

CodeEntry expander_entry() {
  std::vector<CodeParameter> own = {
      {"r", "1 <= r <= n-1, n r even", "degree: workers that hold a chunk (3; n odd: 4)"},
      {"graph",
       "random|circulant|complete|paley|petersen|heawood|cube|ramanujan",
       "the graph on n workers and chunks"}};
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
