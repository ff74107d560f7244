// Balanced incomplete block designs: n points and k blocks of r points each, such that every two
// points share the same number h of blocks. Here points are workers and blocks are chunks: the
// members of a block are the holders of the chunk.
#pragma once

#include <vector>

namespace paceline {

struct BlockDesign {
  int points = 0;                        ///< n
  std::vector<std::vector<int>> blocks;  ///< shape (k), each of r ascending points
};

/// {D, D+1, ..., D+n-1} (mod n). @param D  a difference set: its differences hit every residue but
/// 0 equally often
BlockDesign cyclic_design(int points, const std::vector<int>& difference_set);

/// q+1 numbers whose differences hit every residue mod q^2+q+1 but 0 once. @pre q a power of a
/// prime Source: J. Singer, A theorem in finite projective geometry (1938): the powers of a
/// generator of GF(q^3) whose trace in GF(q) is 0.
std::vector<int> singer_difference_set(int q);

/// q^2+q+1 points and as many lines, of q+1 points; h = 1. @pre q a power of a prime
BlockDesign projective_plane(int q);

/// q^2 points and q^2+q lines, of q points; h = 1. @pre q a power of a prime
BlockDesign affine_plane(int q);

/// q points, blocks are the translates of the squares of GF(q); r = (q-1)/2, h = (q-3)/4.
/// @pre q a power of a prime, q = 3 (mod 4)
BlockDesign square_design(int q);

/// 2^u - 1 points and blocks from the Sylvester-Hadamard matrix; r = 2^(u-1) - 1. @pre u >= 3
BlockDesign sylvester_design(int u);

/// r = 6, 9: n = k = 16, 37; h = 2. @pre points is 16 or 37
BlockDesign biplane(int points);

/// n points, n(n-1)/6 triples; h = 1. @pre n = 1 or 3 (mod 6), n >= 7
/// Source: the constructions of Bose (1939) and Skolem (1958).
BlockDesign steiner_triples(int points);

/// All subsets of r points; h = C(n-2, r-2). @pre 2 <= size <= points
BlockDesign all_subsets(int points, int size);

/// Every block by its complement: the chunks a worker does not hold.
BlockDesign complement(const BlockDesign& design);

}  // namespace paceline
