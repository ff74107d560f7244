// Graph code: chunks are the vertices of a regular graph and workers its edges; worker (u, v) sends
// g_u + g_v. What a set of answers can decode at best then depends on the components of the graph
// of answered edges alone, and is found in linear time. Random stragglers leave about p^r, close to
// repetition, while an adversary gains about half of what it gains there.
//
// Source: glasgow2020approximate. Differs: random regular and other graphs beside expanders.
#include "codes/graph_code.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "codes/random_columns.hpp"
#include "codes/sparse_decoders.hpp"
#include "paceline/check.hpp"

namespace paceline {
namespace {

/// Each vertex's edges with their other ends: those of v are [first[v], first[v+1]).
struct Adjacency {
  struct End {
    int edge;
    int vertex;
  };

  std::vector<int> first;
  std::vector<End> ends;
};

Adjacency adjacency_of(int vertices, const std::vector<std::pair<int, int>>& edges) {
  Adjacency adjacency;
  adjacency.first.assign(static_cast<std::size_t>(vertices) + 1, 0);
  for (const auto& [u, v] : edges) {
    ++adjacency.first[static_cast<std::size_t>(u) + 1];
    ++adjacency.first[static_cast<std::size_t>(v) + 1];
  }
  for (std::size_t v = 1; v < adjacency.first.size(); ++v) {
    adjacency.first[v] += adjacency.first[v - 1];
  }
  std::vector<int> next(adjacency.first.begin(), adjacency.first.end() - 1);
  adjacency.ends.resize(2 * edges.size());
  for (int e = 0; e < static_cast<int>(edges.size()); ++e) {
    const auto [u, v] = edges[static_cast<std::size_t>(e)];
    adjacency.ends[static_cast<std::size_t>(next[static_cast<std::size_t>(u)]++)] = {e, v};
    adjacency.ends[static_cast<std::size_t>(next[static_cast<std::size_t>(v)]++)] = {e, u};
  }
  return adjacency;
}

/// The vertices in breadth-first order, shape (vertices): where each one comes.
std::vector<int> places_in_search(const Adjacency& adjacency) {
  const std::size_t vertices = adjacency.first.size() - 1;
  std::vector<int> place(vertices, -1);
  std::vector<int> order;
  order.reserve(vertices);
  for (std::size_t root = 0; root < vertices; ++root) {
    std::size_t next = order.size();
    if (place[root] < 0) {
      place[root] = static_cast<int>(order.size());
      order.push_back(static_cast<int>(root));
    }
    for (; next < order.size(); ++next) {
      const auto v = static_cast<std::size_t>(order[next]);
      for (int e = adjacency.first[v]; e < adjacency.first[v + 1]; ++e) {
        const int other = adjacency.ends[static_cast<std::size_t>(e)].vertex;
        int& its_place = place[static_cast<std::size_t>(other)];
        if (its_place >= 0) continue;
        its_place = static_cast<int>(order.size());
        order.push_back(other);
      }
    }
  }
  return place;
}

/// The graph with its vertices renamed in the order of a search, which the decoder's searches will
/// nearly follow: they then walk through memory instead of jumping. Edges keep their names.
Adjacency in_search_order(const Graph& graph) {
  const std::vector<int> place = places_in_search(adjacency_of(graph.vertices, graph.edges));
  std::vector<std::pair<int, int>> edges = graph.edges;
  for (auto& [u, v] : edges) {
    u = place[static_cast<std::size_t>(u)];
    v = place[static_cast<std::size_t>(v)];
  }
  return adjacency_of(graph.vertices, edges);
}

/// One decoding. `order` lists the vertices of all components found so far, each component from its
/// root outwards. An array per property: what the search asks most often, who has been seen, then
/// stays in the fastest cache.
class ComponentDecoding {
 public:
  ComponentDecoding(const Adjacency& adjacency, const WorkerSet& answered, std::vector<double>& a)
      : adjacency_(adjacency),
        answered_(answered.words()),
        a_(a),
        sign_(adjacency.first.size() - 1, 0),
        parent_(sign_.size()),
        target_(sign_.size()) {
    order_.reserve(sign_.size());
    for (std::size_t root = 0; root < sign_.size(); ++root) {
      if (sign_[root] == 0) decode_component(static_cast<int>(root));
    }
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  void decode_component(int root) {
    const std::size_t begin = order_.size();
    odd_ = {-1, -1};
    int sides = 0;  // a - b
    sign_[at(root)] = 1;
    order_.push_back(root);
    for (std::size_t next = begin; next < order_.size(); ++next) {
      sides += sign_[at(order_[next])];
      visit(order_[next]);
    }
    const auto size = static_cast<double>(order_.size() - begin);
    const double spread = odd_.edge >= 0 ? 0 : sides / size;  // over all, where no edge takes it
    for (std::size_t i = begin; i < order_.size(); ++i) {
      target_[at(order_[i])] = 1 - sign_[at(order_[i])] * spread;
    }
    if (odd_.edge >= 0) close_odd_cycle(sides);
    for (std::size_t i = order_.size() - 1; i > begin; --i) {
      const Adjacency::End parent = parent_[at(order_[i])];
      const double weight = target_[at(order_[i])];
      a_[at(parent.edge)] = weight;
      target_[at(parent.vertex)] -= weight;
    }
    PACELINE_DCHECK(order_.size() == begin + 1 || std::abs(target_[at(root)]) <= 1e-9 * size);
  }

  void visit(int v) {
    const std::int8_t sign = sign_[at(v)];
    for (int e = adjacency_.first[at(v)]; e < adjacency_.first[at(v) + 1]; ++e) {
      const auto [edge, other] = adjacency_.ends[at(e)];
      if ((answered_[at(edge) / 64] >> (at(edge) % 64) & 1U) == 0) continue;
      if (sign_[at(other)] == 0) {
        sign_[at(other)] = static_cast<std::int8_t>(-sign);
        parent_[at(other)] = {edge, v};
        order_.push_back(other);
      } else if (sign_[at(other)] == sign && odd_.edge < 0) {
        odd_ = {edge, other};
        odd_from_ = v;
      }
    }
  }

  /// An edge inside one side takes what the sides differ by.
  void close_odd_cycle(int sides) {
    const double weight = sign_[at(odd_from_)] * sides / 2.0;
    a_[at(odd_.edge)] = weight;
    target_[at(odd_from_)] -= weight;
    target_[at(odd_.vertex)] -= weight;
  }

  const Adjacency& adjacency_;
  std::span<const std::uint64_t> answered_;  ///< as WorkerSet::words
  std::vector<double>& a_;
  std::vector<std::int8_t> sign_;  ///< alternates from the root's 1; 0: not seen
  std::vector<Adjacency::End>
      parent_;                  ///< of all seen but roots: the edge and the vertex it leads to
  std::vector<double> target_;  ///< what the edges not weighted yet shall add up to
  std::vector<int> order_;
  Adjacency::End odd_{-1, -1};  ///< the first edge found inside one side, seen from odd_from_
  int odd_from_ = -1;
};

/// The degree r >= 3 nearest to 3 for which n edges make an r-regular graph; 0: there is none.
int default_degree(int workers) {
  for (int r = 3; 2 * workers / r > r; ++r) {
    if (2 * workers % r == 0) return r;
  }
  return 0;
}

bool graph_code_exists(int workers, int /*stragglers*/) { return default_degree(workers) > 0; }

std::vector<std::string> graph_code_settings(int workers, int most_holders) {
  std::vector<std::string> settings;
  for (int r = 1; r <= most_holders; ++r) {
    if (2 * workers % r == 0) add_graph_settings(graph_names(), 2 * workers / r, r, settings);
  }
  return settings;
}

/// Whether a graph of this name and degree has so many edges.
bool has_graph(const std::string& name, int edges, int degree) {
  return 2 * edges % degree == 0 && graph_exists(name, 2 * edges / degree, degree);
}

Expected<GradientCode> make_graph_code(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const Tolerance tolerance = read_tolerance(parameters, n);
  const std::string name = parameters.word("graph", graph_names(), "random");
  const bool spare = read_yes_or_no(parameters, "spare", false);
  const bool given = parameters.has("r");
  if (!given && !spare && default_degree(n) == 0) {
    return invalid(fmt::format(
        "graph: no regular graph of degree 3 or more has {} edges; the nearest numbers of workers "
        "are {}; or spare=yes",
        n,
        nearest_that_fit(n, 3 * n + 9, [](int m) { return graph_code_exists(m, 0); })));
  }
  const int usual = default_degree(n);
  const int r =
      parameters.integer("r", 1, n, usual > 0 || !spare ? std::max(usual, 1) : std::min(3, n));
  int edges = n;
  while (spare && edges > 0 && !has_graph(name, edges, r)) --edges;
  if (edges == 0 || !has_graph(name, edges, r)) {
    std::string near;  // what fits this graph and degree, near n
    for (int distance = 1; distance < 20000 && near.empty(); ++distance) {
      for (const int m : {n - distance, n + distance}) {
        if (m < 1 || !has_graph(name, m, r)) continue;
        near += fmt::format("{}{}", near.empty() ? "" : " and ", m);
      }
    }
    return invalid(fmt::format(
        "graph: there is no {} graph of degree {} with {} edges (one per worker); {}",
        name,
        r,
        n,
        near.empty() ? std::string("with this degree there is none") : "the nearest: " + near));
  }
  Graph graph = make_graph(name, 2 * edges / r, r, context.seed);
  for (std::int64_t i = edges; i < n; ++i) {  // workers to spare repeat edges, evenly spread
    graph.edges.push_back(graph.edges[static_cast<std::size_t>((i - edges) * edges / (n - edges))]);
  }
  const SharedMatrix G = edge_sums(graph);
  const DecoderChoice choice =
      read_decoder(parameters, G, 2, {"components", {component_decoder(graph), true}});
  return finish_approximate({"graph", G, choice.decoder, tolerance});
}

}  // namespace

SharedMatrix edge_sums(const Graph& graph) {
  std::vector<std::vector<int>> holders(static_cast<std::size_t>(graph.vertices));
  for (int e = 0; e < static_cast<int>(graph.edges.size()); ++e) {
    const auto [u, v] = graph.edges[static_cast<std::size_t>(e)];
    holders[static_cast<std::size_t>(u)].push_back(e);
    holders[static_cast<std::size_t>(v)].push_back(e);
  }
  return plain_sums(static_cast<int>(graph.edges.size()), holders);
}

WeightDecoder component_decoder(const Graph& graph) {
  return [adjacency = in_search_order(graph)](const WorkerSet& answered, std::vector<double>& a) {
    ComponentDecoding(adjacency, answered, a);
  };
}

CodeEntry graph_entry() {
  std::vector<CodeParameter> own = {
      {"r", "r divides 2n", "degree: workers that hold a chunk (3, or the next)"},
      {"graph",
       "random|circulant|complete|complete-bipartite|paley|petersen|heawood|cube|ramanujan",
       "the graph on 2n/r chunks"},
      {"spare", "yes|no", "the next smaller graph, and workers to spare repeat edges (no)"}};
  for (CodeParameter& parameter : decoder_parameters("components", "linear time")) {
    own.push_back(std::move(parameter));
  }
  return {{.name = "graph",
           .summary = "workers are the edges of a regular graph of chunks; optimal decoding in "
                      "linear time",
           .exact = false,
           .parameters = with_tolerance(std::move(own)),
           .load = "r/n",
           .source = "Glasgow, Wootters, Approximate Gradient Coding with Optimal Decoding (2020)"},
          make_graph_code,
          graph_code_exists,
          graph_code_settings};
}

}  // namespace paceline
