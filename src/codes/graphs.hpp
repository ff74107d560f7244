// Regular graphs, and the eigenvalues that say how well one mixes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "paceline/expected.hpp"

namespace paceline {

/// Undirected, without loops or double edges; all vertices have the same degree.
struct Graph {
  int vertices = 0;
  int degree = 0;
  std::vector<std::pair<int, int>> edges;  ///< each once, first < second
};

Graph complete_graph(int vertices);
/// Vertex i beside i +- g for every generator g. @pre 1 <= g < vertices/2, all different
Graph circulant_graph(int vertices, const std::vector<int>& generators);
/// Vertices are the residues mod q, neighbours differ by a square. @pre q prime, q = 1 (mod 4)
Graph paley_graph(int q);
Graph petersen_graph();
Graph heawood_graph();
/// Vertices are the numbers below 2^dimension, neighbours differ in one bit.
Graph cube_graph(int dimension);
/// The Ramanujan graph X^{a,b} of Lubotzky, Phillips and Sarnak. @pre different primes = 1 (mod 4)
Graph ramanujan_graph(int a, int b);

bool is_connected(const Graph& graph);

/// The largest magnitude of an eigenvalue of the adjacency matrix other than the trivial one, by
/// power iteration without the all-ones vector: from below, and near. Small is good.
double second_eigenvalue(const Graph& graph);

/// The graphs that codes can ask for by name.
std::vector<std::string> graph_names();

/// Whether there is a graph of this name with so many vertices of this degree.
bool graph_exists(const std::string& name, int vertices, int degree);

/// Appends "graph=petersen,r=3" for every graph of so many vertices of this degree; "r=3" for the
/// random one, which codes take by default.
void add_graph_settings(int vertices, int degree, std::vector<std::string>& settings);

/// Builds it; random and circulant ones of at most 4096 vertices are the best of
/// 20 draws by second_eigenvalue.
/// @pre graph_exists(name, vertices, degree)
Graph make_graph(const std::string& name, int vertices, int degree, std::uint64_t seed);

}  // namespace paceline
