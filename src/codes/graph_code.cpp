// Graph code: chunks are the vertices of a regular graph and workers its edges; worker (u, v) sends
// g_u + g_v. What a set of answers can decode at best then depends on the components of the graph
// of answered edges alone, and is found in linear time. Random stragglers leave about p^r, close to
// repetition, while an adversary gains about half of what it gains there.
//
// Source: glasgow2020approximate. Differs: random regular and other graphs beside expanders.
#include "codes/graph_code.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

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

Adjacency adjacency_of(const Graph& graph) {
  Adjacency adjacency;
  adjacency.first.assign(static_cast<std::size_t>(graph.vertices) + 1, 0);
  for (const auto& [u, v] : graph.edges) {
    ++adjacency.first[static_cast<std::size_t>(u) + 1];
    ++adjacency.first[static_cast<std::size_t>(v) + 1];
  }
  for (std::size_t v = 1; v < adjacency.first.size(); ++v) {
    adjacency.first[v] += adjacency.first[v - 1];
  }
  std::vector<int> next(adjacency.first.begin(), adjacency.first.end() - 1);
  adjacency.ends.resize(2 * graph.edges.size());
  for (int e = 0; e < static_cast<int>(graph.edges.size()); ++e) {
    const auto [u, v] = graph.edges[static_cast<std::size_t>(e)];
    adjacency.ends[static_cast<std::size_t>(next[static_cast<std::size_t>(u)]++)] = {e, v};
    adjacency.ends[static_cast<std::size_t>(next[static_cast<std::size_t>(v)]++)] = {e, u};
  }
  return adjacency;
}

/// One decoding. `order` lists the vertices of all components found so far, each component from its
/// root outwards.
class ComponentDecoding {
 public:
  ComponentDecoding(const Adjacency& adjacency, const WorkerSet& answered, std::vector<double>& a)
      : adjacency_(adjacency), answered_(answered), a_(a), vertices_(adjacency.first.size() - 1) {
    order_.reserve(vertices_.size());
    for (int root = 0; root < static_cast<int>(vertices_.size()); ++root) {
      if (at(root).sign == 0) decode_component(root);
    }
  }

 private:
  struct Vertex {
    int sign = 0;  ///< alternates from the root's 1; 0: not seen
    int parent_edge = -1;
    int parent = -1;
    double target = 1;  ///< what the edges not weighted yet shall add up to
  };

  Vertex& at(int v) { return vertices_[static_cast<std::size_t>(v)]; }

  void decode_component(int root) {
    const std::size_t begin = order_.size();
    odd_edge_ = -1;
    int sides = 0;  // a - b
    at(root).sign = 1;
    order_.push_back(root);
    for (std::size_t next = begin; next < order_.size(); ++next) {
      sides += at(order_[next]).sign;
      visit(order_[next]);
    }
    const auto size = static_cast<double>(order_.size() - begin);
    if (odd_edge_ >= 0) {
      close_odd_cycle(sides);
    } else {
      for (std::size_t i = begin; i < order_.size(); ++i) {
        at(order_[i]).target = 1 - at(order_[i]).sign * sides / size;
      }
    }
    for (std::size_t i = order_.size() - 1; i > begin; --i) {
      const Vertex& vertex = at(order_[i]);
      a_[static_cast<std::size_t>(vertex.parent_edge)] = vertex.target;
      at(vertex.parent).target -= vertex.target;
    }
    PACELINE_DCHECK(order_.size() == begin + 1 || std::abs(at(root).target) <= 1e-9 * size);
  }

  void visit(int v) {
    const auto from = static_cast<std::size_t>(adjacency_.first[static_cast<std::size_t>(v)]);
    const auto to = static_cast<std::size_t>(adjacency_.first[static_cast<std::size_t>(v) + 1]);
    for (std::size_t e = from; e < to; ++e) {
      const auto [edge, other] = adjacency_.ends[e];
      if (!answered_.contains(WorkerId{edge})) continue;
      if (at(other).sign == 0) {
        at(other).sign = -at(v).sign;
        at(other).parent_edge = edge;
        at(other).parent = v;
        order_.push_back(other);
      } else if (at(other).sign == at(v).sign && odd_edge_ < 0) {
        odd_edge_ = edge;
        odd_ends_ = {v, other};
      }
    }
  }

  /// An edge inside one side takes what the sides differ by.
  void close_odd_cycle(int sides) {
    const double weight = at(odd_ends_.first).sign * sides / 2.0;
    a_[static_cast<std::size_t>(odd_edge_)] = weight;
    at(odd_ends_.first).target -= weight;
    at(odd_ends_.second).target -= weight;
  }

  const Adjacency& adjacency_;
  const WorkerSet& answered_;
  std::vector<double>& a_;
  std::vector<Vertex> vertices_;
  std::vector<int> order_;
  int odd_edge_ = -1;
  std::pair<int, int> odd_ends_;
};

/// The degree r >= 3 nearest to 3 for which n edges make an r-regular graph; 0: there is none.
int default_degree(int workers) {
  for (int r = 3; 2 * workers / r > r; ++r) {
    if (2 * workers % r == 0) return r;
  }
  return 0;
}

bool graph_code_exists(int workers, int /*stragglers*/) { return default_degree(workers) > 0; }

Expected<GradientCode> make_graph_code(ParameterText& parameters, const CodeContext& context) {
  static const std::vector<std::string> kDecoders = {"components", "optimal"};
  const int n = context.workers;
  const Tolerance tolerance = read_tolerance(parameters, n);
  const std::string name = parameters.word("graph", graph_names(), "random");
  const std::string decoder = parameters.word("decoder", kDecoders, "components");
  const bool given = parameters.has("r");
  if (!given && default_degree(n) == 0) {
    return invalid(fmt::format(
        "graph: no regular graph of degree 3 or more has {} edges; the nearest numbers of workers "
        "are {}",
        n,
        nearest_that_fit(n, 3 * n + 9, [](int m) { return graph_code_exists(m, 0); })));
  }
  const int r = parameters.integer("r", 1, n, std::max(default_degree(n), 1));
  const int k = 2 * n / r;
  if (2 * n % r != 0 || !graph_exists(name, k, r)) {
    std::string near;  // what fits this graph and degree, near n
    for (int distance = 1; distance < 20000 && near.empty(); ++distance) {
      for (const int m : {n - distance, n + distance}) {
        if (m < 1 || 2 * m % r != 0 || !graph_exists(name, 2 * m / r, r)) continue;
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
  const Graph graph = make_graph(name, k, r, context.seed);
  const SharedMatrix G = edge_sums(graph);
  return finish_approximate({"graph",
                             G,
                             decoder == "components" ? component_decoder(graph) : least_squares(G),
                             tolerance});
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
  return [adjacency = adjacency_of(graph)](const WorkerSet& answered, std::vector<double>& a) {
    ComponentDecoding(adjacency, answered, a);
  };
}

CodeEntry graph_entry() {
  return {{.name = "graph",
           .summary = "workers are the edges of a regular graph of chunks; optimal decoding in "
                      "linear time",
           .exact = false,
           .parameters = with_tolerance(
               {{"r", "r divides 2n", "degree: workers that hold a chunk (3, or the next)"},
                {"graph",
                 "random|circulant|complete|paley|petersen|heawood|cube|ramanujan",
                 "the graph on 2n/r chunks"},
                {"decoder",
                 "components|optimal",
                 "linear time; or the shortest weights, kinder to float messages"}}),
           .load = "r/n",
           .source = "Glasgow, Wootters, Approximate Gradient Coding with Optimal Decoding (2020)"},
          make_graph_code,
          graph_code_exists};
}

}  // namespace paceline
