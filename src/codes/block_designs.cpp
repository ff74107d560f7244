#include "codes/block_designs.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "codes/finite_field.hpp"
#include "paceline/check.hpp"

namespace paceline {
namespace {

/// Points (x, i), i mod 3, are numbered 3 x + i.
int triple_point(int x, int i) { return 3 * x + i % 3; }

/// n = 6t + 3: x runs mod 2t+1, where every number has a half.
void add_bose_triples(int t, std::vector<std::vector<int>>& blocks) {
  const int m = 2 * t + 1;
  for (int x = 0; x < m; ++x) {
    blocks.push_back({triple_point(x, 0), triple_point(x, 1), triple_point(x, 2)});
    for (int y = x + 1; y < m; ++y) {
      const int half = (x + y) * (t + 1) % m;
      for (int i = 0; i < 3; ++i) {
        blocks.push_back({triple_point(x, i), triple_point(y, i), triple_point(half, i + 1)});
      }
    }
  }
}

/// n = 6t + 1: x runs mod 2t, where only even numbers have a half, and one more point makes up for
/// it.
void add_skolem_triples(int t, std::vector<std::vector<int>>& blocks) {
  const int m = 2 * t;
  const int extra = 3 * m;
  for (int x = 0; x < t; ++x) {
    blocks.push_back({triple_point(x, 0), triple_point(x, 1), triple_point(x, 2)});
    for (int i = 0; i < 3; ++i) {
      blocks.push_back({extra, triple_point(x + t, i), triple_point(x, i + 1)});
    }
  }
  for (int x = 0; x < m; ++x) {
    for (int y = x + 1; y < m; ++y) {
      const int z = (x + y) % m;
      const int half = z % 2 == 0 ? z / 2 : (z - 1) / 2 + t;
      for (int i = 0; i < 3; ++i) {
        blocks.push_back({triple_point(x, i), triple_point(y, i), triple_point(half, i + 1)});
      }
    }
  }
}

}  // namespace

BlockDesign cyclic_design(int points, const std::vector<int>& difference_set) {
  BlockDesign design{points, {}};
  for (int shift = 0; shift < points; ++shift) {
    std::vector<int> block;
    for (const int d : difference_set) block.push_back((d + shift) % points);
    std::ranges::sort(block);
    design.blocks.push_back(std::move(block));
  }
  return design;
}

std::vector<int> singer_difference_set(int q) {
  const FiniteField field(q * q * q);
  std::vector<int> set;
  for (int i = 0; i < q * q + q + 1; ++i) {
    const int trace =
        field.add(field.add(field.power(i), field.power(i * q)), field.power(i * q * q));
    if (trace == 0) set.push_back(i);
  }
  return set;
}

BlockDesign projective_plane(int q) {
  return cyclic_design(q * q + q + 1, singer_difference_set(q));
}

BlockDesign affine_plane(int q) {
  const FiniteField field(q);
  BlockDesign design{q * q, {}};  // point (x, y) is number q x + y
  for (int slope = 0; slope < q; ++slope) {
    for (int c = 0; c < q; ++c) {
      std::vector<int> line;
      for (int x = 0; x < q; ++x) line.push_back(q * x + field.add(field.multiply(slope, x), c));
      design.blocks.push_back(std::move(line));
    }
  }
  for (int x = 0; x < q; ++x) {
    std::vector<int> line(static_cast<std::size_t>(q));
    std::iota(line.begin(), line.end(), q * x);
    design.blocks.push_back(std::move(line));
  }
  return design;
}

BlockDesign square_design(int q) {
  const FiniteField field(q);
  BlockDesign design{q, {}};
  for (int shift = 0; shift < q; ++shift) {
    std::vector<int> block;
    for (int i = 0; i < q - 1; i += 2) block.push_back(field.add(field.power(i), shift));
    std::ranges::sort(block);
    design.blocks.push_back(std::move(block));
  }
  return design;
}

BlockDesign sylvester_design(int u) {
  BlockDesign design{(1 << u) - 1, {}};
  for (int chunk = 1; chunk < 1 << u; ++chunk) {
    std::vector<int> block;
    for (int worker = 1; worker < 1 << u; ++worker) {
      const auto common = static_cast<unsigned>(chunk & worker);
      if (std::popcount(common) % 2 == 0) block.push_back(worker - 1);
    }
    design.blocks.push_back(std::move(block));
  }
  return design;
}

BlockDesign biplane(int points) {
  if (points == 37) {  // the fourth powers mod 37
    std::set<int> powers;
    for (int x = 1; x < 37; ++x) powers.insert(x * x % 37 * x % 37 * x % 37);
    return cyclic_design(37, {powers.begin(), powers.end()});
  }
  PACELINE_CHECK(points == 16);
  BlockDesign design{16, {}};  // a 4 x 4 grid: the others in one's row and column
  for (int chunk = 0; chunk < 16; ++chunk) {
    std::vector<int> block;
    for (int worker = 0; worker < 16; ++worker) {
      if ((worker / 4 == chunk / 4) != (worker % 4 == chunk % 4)) block.push_back(worker);
    }
    design.blocks.push_back(std::move(block));
  }
  return design;
}

BlockDesign steiner_triples(int points) {
  PACELINE_CHECK(points >= 7 && (points % 6 == 1 || points % 6 == 3));
  BlockDesign design{points, {}};
  if (points % 6 == 3) {
    add_bose_triples(points / 6, design.blocks);
  } else {
    add_skolem_triples(points / 6, design.blocks);
  }
  for (std::vector<int>& block : design.blocks) std::ranges::sort(block);
  return design;
}

BlockDesign all_subsets(int points, int size) {
  PACELINE_CHECK(size >= 2 && size <= points);
  BlockDesign design{points, {}};
  std::vector<int> block(static_cast<std::size_t>(size));
  std::iota(block.begin(), block.end(), 0);
  for (;;) {
    design.blocks.push_back(block);
    int last = size - 1;  // the last point that can move on
    while (last >= 0 && block[static_cast<std::size_t>(last)] == points - size + last) --last;
    if (last < 0) return design;
    const auto from = block.begin() + last;
    std::iota(from, block.end(), *from + 1);
  }
}

BlockDesign complement(const BlockDesign& design) {
  BlockDesign rest{design.points, {}};
  for (const std::vector<int>& block : design.blocks) {
    std::vector<int> others;
    for (int i = 0; i < design.points; ++i) {
      if (!std::ranges::binary_search(block, i)) others.push_back(i);
    }
    rest.blocks.push_back(std::move(others));
  }
  return rest;
}

}  // namespace paceline
