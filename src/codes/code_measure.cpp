#include "paceline/code_measure.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "codes/code_quality.hpp"
#include "codes/complex_matrix.hpp"
#include "codes/straggler_sets.hpp"
#include "core/pieces.hpp"
#include "paceline/check.hpp"
#include "paceline/random.hpp"

namespace paceline {
namespace {

constexpr std::size_t kLeastNumbers = 8;  // of a chunk gradient

double to_float64(double value) { return value; }

template <MessageType type>
double to_type(double value) {
  auto number = static_cast<float>(value);
  round_message(type, {&number, 1});
  return static_cast<double>(number);
}

constexpr auto to_float32 = to_type<MessageType::kFloat32>;

using Vector = std::vector<double>;  // shape (d)
using View = std::span<const double>;

/// d: so many numbers that all parts have equally many.
std::size_t numbers_of(const GradientCode& code) {
  return MessageShape{code.shape.parts}.message_length(kLeastNumbers);
}

void add(double weight, std::span<const double> from, std::span<double> to) {
  PACELINE_CHECK(from.size() == to.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += weight * from[i];
}

/// Encodes chunk gradients and decodes answers in one number format.
class Format {
 public:
  Format(const GradientCode& code,
         const std::vector<Vector>& chunks,
         double (*round)(double),
         double (*round_weight)(double))
      : shape_(code.shape), length_(numbers_of(code)) {
    for (const Row& row : code.rows) {
      Vector message(shape_.message_length(length_), 0.0);
      for (const Term& term : row.terms()) {
        for (int j = term.chunk.value; j < term.chunk.value + term.count; ++j) {
          add(round_weight(term.weight),
              piece(View(chunks[static_cast<std::size_t>(j)]), term.part, shape_.parts),
              piece(std::span(message), term.segment, shape_.pieces()));
        }
      }
      for (double& value : message) value = round(value);
      messages_.push_back(std::move(message));
    }
  }

  Vector decode(const Combination& combination) const {
    Vector sum(length_, 0.0);
    for (const WorkerWeight& term : combination.terms) {
      add(term.weight,
          piece(View(messages_[term.worker.index()]), term.segment, shape_.pieces()),
          piece(std::span(sum), term.part, shape_.parts));
    }
    return sum;
  }

 private:
  MessageShape shape_;
  std::size_t length_;            // d
  std::vector<Vector> messages_;  // shape (n)
};

double distance(const Vector& a, const Vector& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

/// What the combination decodes in exact arithmetic: the chunks an exact code sums, or those that
/// the weights of an approximate one give.
Vector exact_sum(const GradientCode& code,
                 const std::vector<Vector>& chunks,
                 const Combination& combination) {
  std::vector<long double> sum(numbers_of(code), 0.0L);
  std::vector<long double> x(chunks.size(), code.exact ? 1.0L : 0.0L);
  if (!code.exact) {
    for (const WorkerWeight& term : combination.terms) {
      for (const Term& inner : code.rows[term.worker.index()].terms()) {
        x[inner.chunk.index()] += static_cast<long double>(term.weight) * inner.weight;
      }
    }
  }
  for (std::size_t j = 0; j < x.size(); ++j) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += x[j] * chunks[j][i];
  }
  Vector rounded;
  for (const long double value : sum) rounded.push_back(static_cast<double>(value));
  return rounded;
}

std::vector<Vector> normal_chunks(const GradientCode& code, std::uint64_t seed) {
  RandomStream random(seed, "chunk gradients");
  std::vector<Vector> chunks(static_cast<std::size_t>(code.chunks), Vector(numbers_of(code)));
  for (Vector& chunk : chunks) {
    for (double& value : chunk) value = random.normal();
  }
  return chunks;
}

double residual_of(const GradientCode& code, const WorkerSet& answered) {
  const auto combination = code.decode(answered);
  return combination ? combination->residual : 0;
}

/// Kills all holders of the chunk that has fewest left, again and again, from a random chunk on.
WorkerSet isolate_chunks(const SparseComplexMatrix& G, int stragglers, RandomStream& random) {
  const auto n = static_cast<int>(G.rows());
  const auto k = static_cast<int>(G.cols());
  WorkerSet answered = WorkerSet::all(n);
  int left = stragglers;
  auto chunk = static_cast<int>(random.below(static_cast<std::uint64_t>(k)));
  while (left > 0) {
    for (SparseComplexMatrix::InnerIterator entry(G, chunk); entry && left > 0; ++entry) {
      const WorkerId holder{static_cast<int>(entry.row())};
      if (!answered.contains(holder)) continue;
      answered.erase(holder);
      --left;
    }
    int fewest = n + 1;
    const int start = chunk;
    for (int step = 1; step <= k; ++step) {
      const int j = (start + step) % k;
      int holders = 0;
      for (SparseComplexMatrix::InnerIterator entry(G, j); entry; ++entry) {
        holders += answered.contains(WorkerId{static_cast<int>(entry.row())}) ? 1 : 0;
      }
      if (holders == 0 || holders >= fewest) continue;
      fewest = holders;
      chunk = j;
    }
    if (fewest > n) break;  // every chunk is lost
  }
  for (int i = 0; i < n && left > 0; ++i) {
    if (!answered.contains(WorkerId{i})) continue;
    answered.erase(WorkerId{i});
    --left;
  }
  return answered;
}

/// The most that an adversary finds to be left.
double attack(const GradientCode& code,
              const SparseComplexMatrix& G,
              int stragglers,
              RandomStream& random) {
  constexpr int kStarts = 5;
  constexpr int kSwaps = 100;
  const int n = code.workers();
  if (stragglers == 0 || stragglers >= n) return 0;
  double worst = 0;
  for (int start = 0; start < kStarts; ++start) {
    WorkerSet answered = isolate_chunks(G, stragglers, random);
    double here = residual_of(code, answered);
    for (int swap = 0; swap < kSwaps; ++swap) {
      WorkerId dead{static_cast<int>(random.below(static_cast<std::uint64_t>(n)))};
      while (answered.contains(dead)) dead.value = (dead.value + 1) % n;
      WorkerId live{static_cast<int>(random.below(static_cast<std::uint64_t>(n)))};
      while (!answered.contains(live)) live.value = (live.value + 1) % n;
      answered.insert(dead);
      answered.erase(live);
      const double there = residual_of(code, answered);
      if (there >= here) {
        here = there;
        continue;
      }
      answered.erase(dead);
      answered.insert(live);
    }
    worst = std::max(worst, here);
  }
  return worst;
}

/// The singular values of A, shape (m, k), largest first: with their negatives and zeros they are
/// the eigenvalues of [0 A; A* 0]. Absolute error: some units of rounding of the largest.
/// (Eigen's BDCSVD takes the compiler ten times as long.)
Eigen::VectorXd singular_values(const Eigen::MatrixXcd& A) {
  const Eigen::Index m = A.rows();
  const Eigen::Index k = A.cols();
  Eigen::MatrixXcd both = Eigen::MatrixXcd::Zero(m + k, m + k);
  both.topRightCorner(m, k) = A;
  both.bottomLeftCorner(k, m) = A.adjoint();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXcd> solver(both, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().reverse().head(std::min(m, k));
}

double median_condition(const SparseComplexMatrix& G, const std::vector<WorkerSet>& sets) {
  constexpr Eigen::Index kLargest = 300;
  constexpr std::size_t kSets = 5;
  constexpr double kZero = 1e-12;
  if (G.rows() > kLargest || G.cols() > kLargest) return std::numeric_limits<double>::quiet_NaN();
  const Eigen::MatrixXcd dense = G;
  std::vector<double> conditions;
  for (std::size_t s = 0; s < std::min(kSets, sets.size()); ++s) {
    Eigen::MatrixXcd rows(sets[s].size(), G.cols());
    Eigen::Index row = 0;
    sets[s].for_each([&](WorkerId worker) { rows.row(row++) = dense.row(worker.value); });
    const Eigen::VectorXd values = singular_values(rows);
    double least = values[0];
    for (const double value : values) {
      if (value > kZero * values[0]) least = value;
    }
    conditions.push_back(values[0] / least);
  }
  return percentile(conditions, 0.5);
}

}  // namespace

CodeMeasurement measure_code(const GradientCode& code,
                             int stragglers,
                             std::uint64_t seed,
                             const Clock& clock) {
  constexpr int kRandomSets = 300;
  PACELINE_CHECK(stragglers >= 0 && stragglers <= code.tolerance);
  const int n = code.workers();
  StragglerSample sample = sample_survivors(n, stragglers, kRandomSets);
  const std::vector<Vector> chunks = normal_chunks(code, seed);
  const SparseComplexMatrix G = complex_matrix(code);
  const Format float64(code, chunks, to_float64, to_float64);
  const Format float32(code, chunks, to_float32, to_float32);
  const Format float16(code, chunks, to_type<MessageType::kFloat16>, to_float32);
  const Format bfloat16(code, chunks, to_type<MessageType::kBfloat16>, to_float32);

  CodeMeasurement measured;
  measured.stragglers = stragglers;
  measured.sets = static_cast<int>(sample.typical.size());
  measured.all_sets = sample.together.empty();
  std::vector<double> amplifications;
  std::vector<double> times;
  for (const WorkerSet& answered : sample.typical) {
    const Seconds begin = clock ? clock() : Seconds{0};
    const auto combination = code.decode(answered);
    if (clock) times.push_back((clock() - begin).count());
    if (!combination) continue;
    amplifications.push_back(combination->amplification);
    measured.mean_residual += combination->residual;
    measured.worst_residual = std::max(measured.worst_residual, combination->residual);
    const Vector exact = exact_sum(code, chunks, *combination);
    const double norm = distance(exact, Vector(exact.size(), 0.0));
    if (norm == 0) continue;
    const auto worse = [&](double& worst, const Format& format) {
      worst = std::max(worst, distance(format.decode(*combination), exact) / norm);
    };
    worse(measured.error.float64, float64);
    worse(measured.error.float32, float32);
    worse(measured.error.float16, float16);
    worse(measured.error.bfloat16, bfloat16);
  }
  const auto decoded = static_cast<double>(amplifications.size());
  measured.decoded = decoded / measured.sets;
  if (decoded > 0) {
    measured.mean_residual /= decoded;
    measured.median_amplification = percentile(amplifications, 0.5);
    measured.worst_amplification = *std::ranges::max_element(amplifications);
  }
  RandomStream random(seed, "adversary");
  measured.attacked_residual =
      std::max(measured.worst_residual, code.exact ? 0 : attack(code, G, stragglers, random));
  measured.condition = median_condition(G, sample.typical);
  if (clock) measured.decode_time = Seconds(percentile(times, 0.5));
  return measured;
}

}  // namespace paceline
