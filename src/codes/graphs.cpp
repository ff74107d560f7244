#include "codes/graphs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>

#include "paceline/check.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

void add_edge(Graph& graph, int u, int v) {
  graph.edges.emplace_back(std::min(u, v), std::max(u, v));
}

bool is_prime(int q) {
  if (q < 2) return false;
  for (int d = 2; d * d <= q; ++d) {
    if (q % d == 0) return false;
  }
  return true;
}

/// u with u^2 = n, or 0.
int side_of_square(int n) {
  const int u = static_cast<int>(std::lround(std::sqrt(n)));
  return u * u == n ? u : 0;
}

/// One try of the pairing model: every vertex is in a pool as often as its degree; two entries are
/// joined unless that makes a loop or a double edge. Nothing if the rest cannot be joined.
std::optional<Graph> draw_regular(int vertices, int degree, RandomStream& random) {
  constexpr int kRefusals = 200;
  Graph graph{vertices, degree, {}};
  std::vector<int> pool;
  for (int v = 0; v < vertices; ++v) pool.insert(pool.end(), static_cast<std::size_t>(degree), v);
  std::set<std::pair<int, int>> joined;
  int refusals = 0;
  while (!pool.empty()) {
    const auto i = static_cast<std::size_t>(random.below(pool.size()));
    const auto j = static_cast<std::size_t>(random.below(pool.size()));
    const std::pair edge = std::minmax(pool[i], pool[j]);
    if (edge.first == edge.second || !joined.insert(edge).second) {
      if (++refusals > kRefusals) return std::nullopt;
      continue;
    }
    refusals = 0;
    graph.edges.emplace_back(edge);
    for (const std::size_t gone : {std::max(i, j), std::min(i, j)}) {
      pool[gone] = pool.back();
      pool.pop_back();
    }
  }
  std::ranges::sort(graph.edges);
  return graph;
}

Graph complement(const Graph& graph) {
  const std::set<std::pair<int, int>> joined(graph.edges.begin(), graph.edges.end());
  Graph rest{graph.vertices, graph.vertices - 1 - graph.degree, {}};
  for (int u = 0; u < graph.vertices; ++u) {
    for (int v = u + 1; v < graph.vertices; ++v) {
      if (!joined.contains({u, v})) rest.edges.emplace_back(u, v);
    }
  }
  return rest;
}

/// Dense graphs are drawn by what they lack, since the pairing model would hardly ever end.
Graph random_graph(int vertices, int degree, RandomStream& random) {
  const bool dense = 2 * degree > vertices - 1;
  for (;;) {
    std::optional<Graph> graph =
        draw_regular(vertices, dense ? vertices - 1 - degree : degree, random);
    if (!graph) continue;
    if (dense) graph = complement(*graph);
    if (is_connected(*graph)) return *std::move(graph);
  }
}

Graph random_circulant(int vertices, int degree, RandomStream& random) {
  const int choices = (vertices - 1) / 2;
  for (;;) {
    std::vector<int> generators = random.permutation(choices);
    generators.resize(static_cast<std::size_t>(degree / 2));
    for (int& g : generators) ++g;
    std::ranges::sort(generators);
    int divisor = vertices;
    for (const int g : generators) divisor = std::gcd(divisor, g);
    if (divisor == 1) return circulant_graph(vertices, generators);  // connected
  }
}

template <class Draw>
Graph best_of_draws(int vertices, const Draw& draw) {
  constexpr int kLarge = 4096;  // here one draw is about as good as another
  const int draws = vertices > kLarge ? 1 : 20;
  std::optional<Graph> best;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < draws; ++i) {
    Graph graph = draw();
    const double eigenvalue = second_eigenvalue(graph);
    if (eigenvalue < least) {
      least = eigenvalue;
      best = std::move(graph);
    }
  }
  return *std::move(best);
}

struct RamanujanSize {
  int a;
  int b;
  int vertices;
};

/// The Ramanujan graphs of less than 20000 vertices and degree at most 18 that are simple.
constexpr std::array<RamanujanSize, 6> kRamanujan = {
    {{5, 13, 2184}, {5, 17, 4896}, {5, 29, 12180}, {13, 5, 120}, {13, 17, 2448}, {17, 13, 1092}}};

const RamanujanSize* find_ramanujan(int vertices, int degree) {
  for (const RamanujanSize& size : kRamanujan) {
    if (size.vertices == vertices && size.a + 1 == degree) return &size;
  }
  return nullptr;
}

using Matrix = std::array<int, 4>;  // 2 x 2 over Z_b, up to a factor

int inverse(int x, int b) {
  int result = 1;
  for (int power = b - 2, base = x % b; power > 0; power /= 2, base = base * base % b) {
    if (power % 2 == 1) result = result * base % b;
  }
  return result;
}

/// Divided by its first entry that is not 0.
Matrix normalized(Matrix m, int b) {
  for (int& entry : m) entry = (entry % b + b) % b;
  const int first = *std::ranges::find_if(m, [](int entry) { return entry != 0; });
  const int factor = inverse(first, b);
  for (int& entry : m) entry = entry * factor % b;
  return m;
}

Matrix product(const Matrix& x, const Matrix& y, int b) {
  return normalized({x[0] * y[0] + x[1] * y[2],
                     x[0] * y[1] + x[1] * y[3],
                     x[2] * y[0] + x[3] * y[2],
                     x[2] * y[1] + x[3] * y[3]},
                    b);
}

/// The a+1 solutions of a0^2 + a1^2 + a2^2 + a3^2 = a, a0 odd and positive, the rest even.
std::vector<Matrix> ramanujan_generators(int a, int b) {
  int root = 1;  // of -1 mod b
  while ((root * root + 1) % b != 0) ++root;
  const int most = static_cast<int>(std::sqrt(a)) / 2 * 2;
  std::vector<Matrix> generators;
  for (int a0 = 1; a0 * a0 <= a; a0 += 2) {
    for (int a1 = -most; a1 <= most; a1 += 2) {
      for (int a2 = -most; a2 <= most; a2 += 2) {
        for (int a3 = -most; a3 <= most; a3 += 2) {
          if (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3 != a) continue;
          generators.push_back(
              normalized({a0 + root * a1, a2 + root * a3, -a2 + root * a3, a0 - root * a1}, b));
        }
      }
    }
  }
  return generators;
}

}  // namespace

Graph complete_graph(int vertices) {
  Graph graph{vertices, vertices - 1, {}};
  for (int u = 0; u < vertices; ++u) {
    for (int v = u + 1; v < vertices; ++v) add_edge(graph, u, v);
  }
  return graph;
}

Graph circulant_graph(int vertices, const std::vector<int>& generators) {
  Graph graph{vertices, 2 * static_cast<int>(generators.size()), {}};
  for (const int g : generators) {
    PACELINE_CHECK(g >= 1 && 2 * g < vertices);
    for (int v = 0; v < vertices; ++v) add_edge(graph, v, (v + g) % vertices);
  }
  return graph;
}

Graph paley_graph(int q) {
  Graph graph{q, (q - 1) / 2, {}};
  std::vector<bool> square(static_cast<std::size_t>(q), false);
  for (int x = 1; x < q; ++x) square[static_cast<std::size_t>(x * x % q)] = true;
  for (int u = 0; u < q; ++u) {
    for (int v = u + 1; v < q; ++v) {
      if (square[static_cast<std::size_t>(v - u)]) add_edge(graph, u, v);
    }
  }
  return graph;
}

Graph petersen_graph() {
  Graph graph{10, 3, {}};
  for (int i = 0; i < 5; ++i) {
    add_edge(graph, i, (i + 1) % 5);          // pentagon
    add_edge(graph, i, i + 5);                // spokes
    add_edge(graph, i + 5, (i + 2) % 5 + 5);  // star
  }
  return graph;
}

Graph heawood_graph() {
  Graph graph{14, 3, {}};
  for (int i = 0; i < 14; ++i) add_edge(graph, i, (i + 1) % 14);
  for (int i = 0; i < 14; i += 2) add_edge(graph, i, (i + 5) % 14);
  return graph;
}

Graph complete_bipartite_graph(int half) {
  Graph graph{2 * half, half, {}};
  for (int u = 0; u < half; ++u) {
    for (int v = half; v < 2 * half; ++v) add_edge(graph, u, v);
  }
  return graph;
}

Graph margulis_graph(int u) {
  Graph graph{u * u, 8, {}};
  const auto vertex = [u](int x, int y) { return x % u * u + y % u; };
  for (int x = 0; x < u; ++x) {
    for (int y = 0; y < u; ++y) {
      add_edge(graph, vertex(x, y), vertex(x + 2 * y, y));
      add_edge(graph, vertex(x, y), vertex(x + 2 * y + 1, y));
      add_edge(graph, vertex(x, y), vertex(x, y + 2 * x));
      add_edge(graph, vertex(x, y), vertex(x, y + 2 * x + 1));
    }
  }
  return graph;
}

Graph cube_graph(int dimension) {
  Graph graph{1 << dimension, dimension, {}};
  for (int v = 0; v < graph.vertices; ++v) {
    for (int bit = 0; bit < dimension; ++bit) {
      if ((v >> bit & 1) == 0) add_edge(graph, v, v | 1 << bit);
    }
  }
  return graph;
}

Graph ramanujan_graph(int a, int b) {
  const std::vector<Matrix> generators = ramanujan_generators(a, b);
  PACELINE_CHECK(static_cast<int>(generators.size()) == a + 1);
  std::map<Matrix, int> numbers = {{Matrix{1, 0, 0, 1}, 0}};
  std::vector<Matrix> order = {{1, 0, 0, 1}};
  Graph graph{0, a + 1, {}};
  for (std::size_t at = 0; at < order.size(); ++at) {
    const Matrix from = order[at];
    for (const Matrix& generator : generators) {
      const Matrix to = product(from, generator, b);
      const auto [found, fresh] = numbers.emplace(to, static_cast<int>(order.size()));
      if (fresh) order.push_back(to);
      if (static_cast<int>(at) < found->second) {  // the other end finds it too
        add_edge(graph, static_cast<int>(at), found->second);
      }
    }
  }
  graph.vertices = static_cast<int>(order.size());
  return graph;
}

bool is_connected(const Graph& graph) {
  std::vector<int> parent(static_cast<std::size_t>(graph.vertices));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int v) {
    while (parent[static_cast<std::size_t>(v)] != v) {
      int& up = parent[static_cast<std::size_t>(v)];
      up = parent[static_cast<std::size_t>(up)];
      v = up;
    }
    return v;
  };
  int components = graph.vertices;
  for (const auto& [u, v] : graph.edges) {
    const int from = root(u);
    const int to = root(v);
    if (from == to) continue;
    parent[static_cast<std::size_t>(from)] = to;
    --components;
  }
  return components == 1;
}

double second_eigenvalue(const Graph& graph) {
  constexpr int kIterations = 300;
  const auto k = static_cast<std::size_t>(graph.vertices);
  RandomStream random(0, "second eigenvalue");
  std::vector<double> v(k);
  for (double& value : v) value = random.normal();
  std::vector<double> next(k);
  double eigenvalue = 0;
  for (int t = 0; t < kIterations; ++t) {
    const double mean = std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(k);
    double norm = 0;
    for (double& value : v) {
      value -= mean;
      norm += value * value;
    }
    if (norm == 0) return 0;
    norm = std::sqrt(norm);
    for (double& value : v) value /= norm;
    std::ranges::fill(next, 0.0);
    for (const auto& [a, b] : graph.edges) {
      next[static_cast<std::size_t>(a)] += v[static_cast<std::size_t>(b)];
      next[static_cast<std::size_t>(b)] += v[static_cast<std::size_t>(a)];
    }
    eigenvalue = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
    std::swap(v, next);
  }
  return eigenvalue;
}

std::vector<std::string> graph_names() {
  return {"random",
          "circulant",
          "complete",
          "complete-bipartite",
          "paley",
          "petersen",
          "heawood",
          "cube",
          "ramanujan"};
}

std::vector<std::string> multigraph_names() {
  std::vector<std::string> names = graph_names();
  names.emplace_back("margulis");
  return names;
}

bool graph_exists(const std::string& name, int vertices, int degree) {
  const auto k = vertices;
  const auto r = degree;
  if (name == "random") return r >= 3 && r < k && k * static_cast<std::int64_t>(r) % 2 == 0;
  if (name == "circulant") return r >= 2 && r % 2 == 0 && r / 2 <= (k - 1) / 2;
  if (name == "complete") return k >= 2 && r == k - 1;
  if (name == "complete-bipartite") return k == 2 * r && r >= 2;
  if (name == "margulis") return r == 8 && side_of_square(k) >= 3;
  if (name == "paley") return is_prime(k) && k % 4 == 1 && r == (k - 1) / 2;
  if (name == "petersen") return k == 10 && r == 3;
  if (name == "heawood") return k == 14 && r == 3;
  if (name == "cube") return r >= 1 && r < 20 && k == 1 << r;
  return name == "ramanujan" && find_ramanujan(k, r) != nullptr;
}

void add_graph_settings(const std::vector<std::string>& names,
                        int vertices,
                        int degree,
                        std::vector<std::string>& settings) {
  for (const std::string& name : names) {
    if (!graph_exists(name, vertices, degree)) continue;
    const std::string graph = name == "random" ? "" : "graph=" + name + ",";
    settings.push_back(graph + "r=" + std::to_string(degree));
  }
}

Graph make_graph(const std::string& name, int vertices, int degree, std::uint64_t seed) {
  PACELINE_CHECK(graph_exists(name, vertices, degree));
  RandomStream random(seed, name);
  if (name == "random") {
    return best_of_draws(vertices, [&] { return random_graph(vertices, degree, random); });
  }
  if (name == "circulant") {
    return best_of_draws(vertices, [&] { return random_circulant(vertices, degree, random); });
  }
  if (name == "complete") return complete_graph(vertices);
  if (name == "complete-bipartite") return complete_bipartite_graph(degree);
  if (name == "margulis") return margulis_graph(side_of_square(vertices));
  if (name == "paley") return paley_graph(vertices);
  if (name == "petersen") return petersen_graph();
  if (name == "heawood") return heawood_graph();
  if (name == "cube") return cube_graph(degree);
  const RamanujanSize& size = *find_ramanujan(vertices, degree);
  return ramanujan_graph(size.a, size.b);
}

}  // namespace paceline
