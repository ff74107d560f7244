// CodedReduce: a gradient code at every parent of a regular tree. The master has b children, every
// inner worker b of its own, down to depth H, and each parent can go without s of its children. A
// parent cuts its data as the code of b workers says and hands every child the coded part of it;
// the child keeps the share that is its own to compute, and hands on the rest in the same way. So a
// worker's weights are products of the code's weights along its path, and all workers compute the
// same share of the data, 1 / sum_{l=1}^{H} (b/(s+1))^l, the least there is.
//
// A worker's value is its own message plus what decodes from its children's values; it is lost if
// the worker straggles, or if too many of its children's values are lost. In the paper's tree every
// parent forms its value and sends it on. Here workers answer the master alone, which forms the
// values of all of them: the weight of a message is the product of the decode weights along its
// path. What is computed, which sets of answers decode, and when a round can end are those of a
// tree whose messages take no time. Its traffic is not: the master receives n messages, where every
// parent of the tree receives b.
//
// Source: reisizadeh2019tree, journal version. Differs: the star; any code inside; chunks of the
// least number that makes all shares whole.
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "codes/code_entry.hpp"
#include "codes/promise.hpp"
#include "paceline/check.hpp"

namespace paceline {
namespace {

using Complex = std::complex<double>;

struct WeightedChunk {
  int chunk = 0;
  Complex weight;
};

/// Workers are numbered level by level: child c of worker i is b (i+1) + c, that of the master
/// (number -1) is c.
struct Tree {
  static constexpr int kMaster = -1;

  int children = 0;    // b
  GradientCode inner;  // of the children of one parent
  int chunks = 0;
  std::vector<std::vector<WeightedChunk>> own;  // shape (n): what each worker computes

  int workers() const { return static_cast<int>(own.size()); }

  int child(int parent, int c) const { return children * (parent + 1) + c; }

  bool is_leaf(int worker) const { return child(worker, 0) >= workers(); }
};

/// b + b^2 + ... + b^H, or more than any number of workers.
std::int64_t tree_size(int children, int depth) {
  constexpr std::int64_t kTooMany = std::numeric_limits<int>::max();
  std::int64_t size = 0;
  for (int level = 0; level < depth && size < kTooMany; ++level) size = children * (size + 1);
  return size;
}

/// The largest b whose tree has at most n workers; 0: not even a path.
int most_children(int workers, int depth) {
  int children = 0;
  while (tree_size(children + 1, depth) <= workers) ++children;
  return children;
}

/// b of the tree of this depth with n workers; 0: there is none.
int children_of(int workers, int depth) {
  const int children = most_children(workers, depth);
  return children > 0 && tree_size(children, depth) == workers ? children : 0;
}

/// The least depth from 2 on for which n workers make a tree of at least two children each; 0:
/// there is none.
int default_depth(int workers) {
  for (int depth = 2; tree_size(2, depth) <= workers; ++depth) {
    if (children_of(workers, depth) > 0) return depth;
  }
  return 0;
}

bool tree_exists(int workers, int stragglers) {
  const int depth = default_depth(workers);
  return depth > 0 && stragglers < children_of(workers, depth);
}

/// What worker c of the inner code holds, by chunk in the order of its row.
std::vector<WeightedChunk> held_chunks(const Row& row) {
  std::vector<WeightedChunk> held;
  for (const Term& term : row.terms()) {
    auto found = std::ranges::find(held, term.chunk.value, &WeightedChunk::chunk);
    if (found == held.end()) {
      held.push_back({term.chunk.value, 0.0});
      found = std::prev(held.end());
    }
    if (term.part == kWhole || (term.part == 0 && term.segment == 0)) found->weight += term.weight;
    if (term.part == 0 && term.segment == 1) found->weight += Complex(0, term.weight);
  }
  return held;
}

/// The complex weight of a worker, of which each of its terms is a part.
Complex part_of_weight(const WorkerWeight& term) {
  if (term.part == kWhole || (term.part == 0 && term.segment == 0)) return term.weight;
  if (term.part == 1 && term.segment == 0) return {0, term.weight};
  return 0;
}

/// @param data  the parent's, less what it computes itself
/// @param kept  so many chunks of what it is handed a worker computes
void hand_out(Tree& tree, int parent, const std::vector<WeightedChunk>& data, std::size_t kept) {
  const std::size_t size = data.size() / static_cast<std::size_t>(tree.inner.chunks);
  for (int c = 0; c < tree.children; ++c) {
    std::vector<WeightedChunk> list;
    for (const WeightedChunk& part : held_chunks(tree.inner.rows[WorkerId{c}.index()])) {
      const std::size_t first = static_cast<std::size_t>(part.chunk) * size;
      for (std::size_t at = first; at < first + size; ++at) {
        list.push_back({data[at].chunk, data[at].weight * part.weight});
      }
    }
    const int child = tree.child(parent, c);
    const auto rest = list.begin() + static_cast<std::ptrdiff_t>(kept);
    tree.own[static_cast<std::size_t>(child)].assign(list.begin(), rest);
    list.erase(list.begin(), rest);
    PACELINE_CHECK(tree.is_leaf(child) == list.empty());
    if (!list.empty()) hand_out(tree, child, list, kept);
  }
}

/// With k chunks of the inner code, of which a worker holds w, the least number of chunks for which
/// everything comes out whole: sum_l k^l w^(H-l), w^H of them a worker's own, and a level's parents
/// cut theirs k ways; all that without the divisor they have in common.
Tree make_tree_of(int children, int depth, GradientCode inner) {
  const std::int64_t k = inner.chunks;
  const auto w = static_cast<std::int64_t>(held_chunks(inner.rows.front()).size());
  std::int64_t own = 1;
  for (int level = 0; level < depth; ++level) own *= w;
  std::int64_t handed = own;  // to each worker of the level, from the leaves up
  std::int64_t divisor = own;
  for (int level = depth; level >= 1; --level) {
    divisor = std::gcd(divisor, handed / w);  // the parts it is made of
    handed = handed / w * k + (level > 1 ? own : 0);
  }
  Tree tree;
  tree.children = children;
  tree.inner = std::move(inner);
  tree.chunks = static_cast<int>(handed / divisor);
  tree.own.resize(static_cast<std::size_t>(tree_size(children, depth)));
  std::vector<WeightedChunk> all;
  for (int j = 0; j < tree.chunks; ++j) all.push_back({j, 1.0});
  hand_out(tree, Tree::kMaster, all, static_cast<std::size_t>(own / divisor));
  return tree;
}

/// Those of a parent's children whose values are there.
WorkerSet children_there(const Tree& tree, int parent, const std::vector<bool>& there) {
  WorkerSet set(tree.children);
  for (int c = 0; c < tree.children; ++c) {
    if (there[static_cast<std::size_t>(tree.child(parent, c))]) set.insert(WorkerId{c});
  }
  return set;
}

/// Whose values are there, shape (n).
std::vector<bool> values_there(const Tree& tree, const WorkerSet& answered) {
  PACELINE_CHECK(answered.workers() == tree.workers());
  std::vector<bool> there(tree.own.size());
  for (int i = tree.workers() - 1; i >= 0; --i) {
    there[static_cast<std::size_t>(i)] =
        answered.contains(WorkerId{i}) &&
        (tree.is_leaf(i) || tree.inner.decodable(children_there(tree, i, there)));
  }
  return there;
}

bool tree_decodes(const Tree& tree, const WorkerSet& answered) {
  return tree.inner.decodable(children_there(tree, Tree::kMaster, values_there(tree, answered)));
}

/// What the weights leave, and their amplification, read off the chunks.
void check_tree(const Tree& tree, const std::vector<Complex>& a, Combination& combination) {
  std::vector<Complex> arrived(static_cast<std::size_t>(tree.chunks), -1.0);
  std::vector<double> magnitude(arrived.size(), 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == 0.0) continue;
    for (const WeightedChunk& own : tree.own[i]) {
      arrived[static_cast<std::size_t>(own.chunk)] += a[i] * own.weight;
      magnitude[static_cast<std::size_t>(own.chunk)] += std::abs(a[i] * own.weight);
    }
  }
  for (const Complex off : arrived) combination.residual += std::norm(off) / tree.chunks;
  combination.amplification = *std::ranges::max_element(magnitude);
}

std::optional<Combination> combine_tree(const Tree& tree, const WorkerSet& answered, double limit) {
  const std::vector<bool> there = values_there(tree, answered);
  std::vector<Complex> a(there.size(), 0.0);
  for (int parent = Tree::kMaster; !tree.is_leaf(parent); ++parent) {
    const Complex weight = parent == Tree::kMaster ? 1.0 : a[static_cast<std::size_t>(parent)];
    if (weight == 0.0) continue;
    const auto decoded = tree.inner.decode(children_there(tree, parent, there));
    if (!decoded) return std::nullopt;
    for (const WorkerWeight& term : decoded->terms) {
      const auto child = static_cast<std::size_t>(tree.child(parent, term.worker.value));
      a[child] += weight * part_of_weight(term);
    }
  }
  Combination combination;
  check_tree(tree, a, combination);
  if (combination.amplification > limit) return std::nullopt;
  const bool real = tree.inner.shape.parts == 1;
  for (int i = 0; i < tree.workers(); ++i) {
    const double x = a[static_cast<std::size_t>(i)].real();
    const double y = a[static_cast<std::size_t>(i)].imag();
    if (real) {
      if (x != 0) combination.terms.push_back({WorkerId{i}, x});
      continue;
    }
    // (x + iy) (segment 0 + i segment 1) = part 0 + i part 1
    if (x != 0) combination.terms.push_back({WorkerId{i}, x, 0, 0});
    if (y != 0) combination.terms.push_back({WorkerId{i}, -y, 1, 0});
    if (y != 0) combination.terms.push_back({WorkerId{i}, y, 0, 1});
    if (x != 0) combination.terms.push_back({WorkerId{i}, x, 1, 1});
  }
  return combination;
}

Row row_of(const std::vector<WeightedChunk>& own, bool real) {
  std::vector<Term> terms;
  for (const auto& [chunk, weight] : own) {
    const double x = weight.real();
    const double y = weight.imag();
    if (real) {
      terms.push_back({ChunkId{chunk}, x});
      continue;
    }
    if (x != 0) terms.push_back({ChunkId{chunk}, x, 0, 0});
    if (y != 0) terms.push_back({ChunkId{chunk}, -y, 1, 0});
    if (y != 0) terms.push_back({ChunkId{chunk}, y, 0, 1});
    if (x != 0) terms.push_back({ChunkId{chunk}, x, 1, 1});
  }
  return Row(std::move(terms));
}

GradientCode code_of_tree(const std::shared_ptr<const Tree>& tree) {
  const bool real = tree->inner.shape.parts == 1;
  GradientCode code;
  code.name = "tree";
  code.chunks = tree->chunks;
  code.shape = tree->inner.shape;
  code.tolerance = tree->inner.tolerance;  // no parent then lacks more
  code.load = static_cast<double>(tree->own.front().size()) / tree->chunks;
  code.backward_passes = tree->inner.backward_passes;
  code.chunk_size.assign(static_cast<std::size_t>(tree->chunks), 1.0 / tree->chunks);
  for (const auto& own : tree->own) code.rows.push_back(row_of(own, real));
  code.decodable = [tree](const WorkerSet& answered) { return tree_decodes(*tree, answered); };
  code.decode = [tree](const WorkerSet& answered) {
    return combine_tree(*tree, answered, std::numeric_limits<double>::infinity());
  };
  return code;
}

Expected<GradientCode> make_tree(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const int fitting = default_depth(n);
  const int depth = parameters.integer("depth", 1, 30, fitting > 0 ? fitting : 2);
  const int b = children_of(n, depth);
  const int s = parameters.integer("s", 0, b > 0 ? b - 1 : n - 1);
  const std::string inner = parameters.word("inner", code_names(), "auto");
  if (!parameters.ok()) return invalid("tree: wrong parameters");
  if (b == 0) {
    const int below = most_children(n, depth);
    const auto size = [&](int children) {
      return fmt::format("{} with b = {}", tree_size(children, depth), children);
    };
    return invalid(
        fmt::format("tree: {} workers make no tree of depth {}, b + ... + b^{}; the nearest: {}{}",
                    n,
                    depth,
                    depth,
                    below > 0 ? size(below) + ", " : "",
                    size(below + 1)));
  }
  Expected<GradientCode> children = make_code(CodeRequest{.name = inner,
                                                          .workers = b,
                                                          .stragglers = s,
                                                          .seed = context.seed,
                                                          .keep_promise = context.keep_promise,
                                                          .message_type = context.message_type});
  if (!children) return Unexpected(children.error());
  const bool unscaled = children->chunks < b || s == 0;  // repetition
  const auto tree =
      std::make_shared<const Tree>(make_tree_of(b, depth, std::move(children).value()));
  GradientCode code = code_of_tree(tree);
  if (unscaled || !context.keep_promise) {
    code.decode = cached_decoder(std::move(code.decode));
    return code;
  }
  Expected<GradientCode> promised = promise(std::move(code), true, context.message_type);
  if (!promised) return promised;
  promised->decode = cached_decoder(
      [tree, limit = promised_amplification(context.message_type)](const WorkerSet& answered) {
        return combine_tree(*tree, answered, limit);
      });
  promised->decodable = [decode = promised->decode](const WorkerSet& answered) {
    return decode(answered).has_value();
  };
  return promised;
}

}  // namespace

CodeEntry tree_entry() {
  return {
      {.name = "tree",
       .summary = "a code at every parent of a regular tree of workers, decoded level by level; "
                  "all answer the master",
       .exact = true,
       .parameters = {{"s", "0 <= s <= b-1", "stragglers among the b children of each parent"},
                      {"depth",
                       "n = b + b^2 + ... + b^depth",
                       "levels of workers (the least from 2 on that fits)"},
                      {"inner", "repetition|cyclic|mds|auto", "the code of b workers (auto)"}},
       .load = "1 / sum_l (b/(s+1))^l",
       .source = "Reisizadeh, Prakash, Pedarsani, Avestimehr, CodedReduce (2019; 2021)"},
      make_tree,
      tree_exists};
}

}  // namespace paceline
