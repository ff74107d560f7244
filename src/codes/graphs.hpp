// Regular graphs, and the eigenvalues that say how well one mixes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "paceline/expected.hpp"

namespace paceline {

/// Undirected; all vertices have the same degree. Without loops or double edges, but for
/// margulis_graph, where a loop counts twice.
struct Graph {
  int vertices = 0;
  int degree = 0;
  std::vector<std::pair<int, int>> edges;  ///< each once, first <= second
};

Graph complete_graph(int vertices);
/// Vertex i beside i +- g for every generator g. @pre 1 <= g < vertices/2, all different
Graph circulant_graph(int vertices, const std::vector<int>& generators);
/// Vertices are the residues mod q, neighbours differ by a square. @pre q prime, q = 1 (mod 4)
Graph paley_graph(int q);
Graph petersen_graph();
Graph heawood_graph();
/// Every vertex of one half beside every one of the other.
Graph complete_bipartite_graph(int half);
/// Vertices are the numbers below 2^dimension, neighbours differ in one bit.
Graph cube_graph(int dimension);
/// The Ramanujan graph X^{a,b} of Lubotzky, Phillips and Sarnak. @pre different primes = 1 (mod 4)
Graph ramanujan_graph(int a, int b);
/// Vertex (x, y) of Z_u x Z_u beside (x+2y, y), (x+2y+1, y), (x, y+2x) and (x, y+2x+1); degree 8,
/// with loops and double edges. All eigenvalues but 8 are at most 5 sqrt(2).
/// Source: the expanders of Margulis, Gabber and Galil.
Graph margulis_graph(int u);

bool is_connected(const Graph& graph);

/// The largest magnitude of an eigenvalue of the adjacency matrix other than the trivial one, by
/// power iteration without the all-ones vector: from below, and near. Small is good.
double second_eigenvalue(const Graph& graph);

/// The graphs that codes can ask for by name: those without loops or double edges, and, where a
/// code can do with them, all.
std::vector<std::string> graph_names();
std::vector<std::string> multigraph_names();

/// Whether there is a graph of this name with so many vertices of this degree.
bool graph_exists(const std::string& name, int vertices, int degree);

/// Appends "graph=petersen,r=3" for every graph of these that has so many vertices of this degree;
/// "r=3" for the random one, which codes take by default.
void add_graph_settings(const std::vector<std::string>& names,
                        int vertices,
                        int degree,
                        std::vector<std::string>& settings);

/// Builds it; random and circulant ones of at most 4096 vertices are the best of
/// 20 draws by second_eigenvalue.
/// @pre graph_exists(name, vertices, degree)
Graph make_graph(const std::string& name, int vertices, int degree, std::uint64_t seed);

}  // namespace paceline
