#include "paceline/arrivals.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/simd.hpp"

namespace paceline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// at[i] = opened + took[i]
PACELINE_SIMD void add_times(double opened, const double* took, double* at, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) at[i] = opened + took[i];
}

PACELINE_SIMD int count_below(const double* at, std::size_t n, double time) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < n; ++i) count += at[i] < time ? 1 : 0;
  return static_cast<int>(count);
}

PACELINE_SIMD int count_up_to(const double* at, std::size_t n, double time) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < n; ++i) count += at[i] <= time ? 1 : 0;
  return static_cast<int>(count);
}

PACELINE_SIMD int count_equal(const double* at, std::size_t n, double time) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < n; ++i) count += at[i] == time ? 1 : 0;
  return static_cast<int>(count);
}

constexpr std::size_t kWord = 64;

/// Bit b of the result: at[b] > time, for 64 entries.
PACELINE_SIMD std::uint64_t later_than(const double* at, double time) {
  std::uint64_t late = 0;
  for (std::size_t b = 0; b < kWord; ++b) late |= std::uint64_t{at[b] > time} << b;
  return late;
}

/// Bit b of the result: at[b] >= time.
PACELINE_SIMD std::uint64_t not_before(const double* at, double time) {
  std::uint64_t late = 0;
  for (std::size_t b = 0; b < kWord; ++b) late |= std::uint64_t{at[b] >= time} << b;
  return late;
}

/// The place of the k-th entry that equals `time`, k >= 1. @pre there are so many
std::size_t find_equal(std::span<const double> at, double time, int k) {
  std::size_t i = 0;
  for (; i + kWord <= at.size(); i += kWord) {
    const int here = count_equal(at.data() + i, kWord, time);
    if (here >= k) break;
    k -= here;
  }
  for (;; ++i) {
    k -= at[i] == time ? 1 : 0;
    if (k == 0) return i;
  }
}

/// Eight running values side by side: one alone would have to wait for itself.
constexpr std::size_t kLanes = 8;

PACELINE_SIMD double least(const double* at, std::size_t n) {
  std::array<double, kLanes> best;
  best.fill(kInfinity);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) best[k] = at[i + k] < best[k] ? at[i + k] : best[k];
  }
  for (; i < n; ++i) best[0] = std::min(best[0], at[i]);
  return *std::ranges::min_element(best);
}

PACELINE_SIMD double greatest(const double* at, std::size_t n) {
  std::array<double, kLanes> best;
  best.fill(-kInfinity);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) best[k] = at[i + k] > best[k] ? at[i + k] : best[k];
  }
  for (; i < n; ++i) best[0] = std::max(best[0], at[i]);
  return *std::ranges::max_element(best);
}

/// So many entries tell roughly where the others lie.
constexpr std::size_t kSample = 32;
constexpr std::size_t kLargeSample = 512;  // of thousands of times

struct Range {
  double least = -kInfinity;
  double most = kInfinity;
};

/// Where the k-th least of many times is likely to be: between the entries of a sorted sample that
/// are two standard deviations before and after its own place there.
Range likely_range(std::span<const double> at, int k) {
  Range range;
  if (at.size() < 8 * kSample) return range;
  std::array<double, kLargeSample> sample;
  const std::size_t count = at.size() < 16 * kLargeSample ? kSample : kLargeSample;
  for (std::size_t j = 0; j < count; ++j) sample[j] = at[j * (at.size() / count)];
  std::sort(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(count));
  const double share = static_cast<double>(k) / static_cast<double>(at.size());
  const double place = share * static_cast<double>(count);
  const double spread = 2 * std::sqrt(place * (1 - share)) + 1;
  if (place - spread >= 0) range.least = sample[static_cast<std::size_t>(place - spread)];
  if (place + spread < static_cast<double>(count)) {
    range.most = sample[static_cast<std::size_t>(place + spread)];
  }
  return range;
}

/// The times within the range, into `out`. @return how many
std::size_t collect(std::span<const double> at, const Range& range, double* out) {
  std::size_t count = 0;
  std::size_t first = 0;
  for (; first + kWord <= at.size(); first += kWord) {
    const double* block = at.data() + first;
    std::uint64_t within = not_before(block, range.least) & ~later_than(block, range.most);
    for (; within != 0; within &= within - 1) out[count++] = block[std::countr_zero(within)];
  }
  for (; first < at.size(); ++first) {
    if (at[first] >= range.least && at[first] <= range.most) out[count++] = at[first];
  }
  return count;
}

}  // namespace

KthLeast kth_least(std::span<const double> times, int k, std::vector<double>& scratch) {
  scratch.resize(times.size());
  // A sample tells between which times the k-th lies, most probably; only those are looked at.
  const Range range = likely_range(times, k);
  int before = count_below(times.data(), times.size(), range.least);
  auto count = static_cast<std::ptrdiff_t>(collect(times, range, scratch.data()));
  if (before >= k || before + count < k) {  // it does not
    std::ranges::copy(times, scratch.begin());
    before = 0;
    count = static_cast<std::ptrdiff_t>(times.size());
  }
  const auto place = scratch.begin() + (k - 1 - before);
  std::nth_element(scratch.begin(), place, scratch.begin() + count);
  const int less = count_below(scratch.data(), static_cast<std::size_t>(count), *place);
  return {*place, before + less};
}

Arrivals::Arrivals(int workers)
    : at_(static_cast<std::size_t>(workers), kInfinity), busy_(workers), missing_(workers) {}

void Arrivals::open(Seconds opened, std::span<const double> loads, std::span<const double> took) {
  const std::size_t n = at_.size();
  PACELINE_CHECK(loads.size() == n && took.size() == n);
  add_times(opened.count(), took.data(), at_.data(), n);
  const int idle = count_below(loads.data(), n, 0);
  const int before = std::exchange(busy_count_, static_cast<int>(n) - idle);
  const int all = workers();
  if (before == all && busy_count_ == all) return;  // as it mostly is
  busy_.clear();
  for (std::size_t i = 0; i < n; ++i) {
    if (loads[i] >= 0) {
      busy_.insert(WorkerId{static_cast<int>(i)});
    } else {
      at_[i] = kInfinity;
    }
  }
}

Moment Arrivals::first() const {
  const double time = least(at_.data(), at_.size());
  if (time == kInfinity) return kAfterAllTime;
  return {Seconds{time}, static_cast<int>(find_equal(at_, time, 1))};
}

Moment Arrivals::last() const {
  if (busy_count_ == 0) return kBeforeAnswers;
  if (busy_count_ == workers()) {
    const double time = greatest(at_.data(), at_.size());
    if (time == kInfinity) return kAfterAllTime;
    const auto after = std::find(at_.rbegin(), at_.rend(), time).base() - at_.begin();
    return {Seconds{time}, static_cast<int>(after) - 1};
  }
  Moment last = kBeforeAnswers;
  busy_.for_each([&](WorkerId worker) { last = std::max(last, moment(worker)); });
  return last.at == kNever ? kAfterAllTime : last;
}

Moment Arrivals::nth(int k) {
  PACELINE_CHECK(k >= 0 && k <= workers());
  if (k == 0) return kBeforeAnswers;
  const KthLeast found = kth_least(at_, k, values_);
  if (found.time == kInfinity) return kAfterAllTime;
  return {Seconds{found.time}, static_cast<int>(find_equal(at_, found.time, k - found.earlier))};
}

int Arrivals::count_by(Moment moment) const {
  // Of the answers at that very time, those of the workers up to the moment's count.
  const double time = moment.at.count();
  if (time == kInfinity) return count_below(at_.data(), at_.size(), kInfinity);
  const std::size_t counted =
      moment.worker == Moment::kTimer ? at_.size() : static_cast<std::size_t>(moment.worker + 1);
  return count_up_to(at_.data(), counted, time) +
         count_below(at_.data() + counted, at_.size() - counted, time);
}

void Arrivals::missing_after(Moment moment, WorkerSet& missing) const {
  const double time = moment.at.count();
  missing = busy_;
  const std::span<std::uint64_t> words = missing.words();
  for (std::size_t word = 0; word < words.size(); ++word) {
    const std::size_t first = word * kWord;
    const std::size_t end = std::min(at_.size(), first + kWord);
    if (end == first + kWord && static_cast<int>(end) - 1 <= moment.worker) {
      words[word] &= later_than(at_.data() + first, time);  // at that very time: answered
      continue;
    }
    if (end == first + kWord && static_cast<int>(first) > moment.worker) {
      words[word] &= not_before(at_.data() + first, time);
      continue;
    }
    std::uint64_t late = 0;
    for (std::size_t i = first; i < end; ++i) {
      const bool is_late = at_[i] > time || (at_[i] == time && static_cast<int>(i) > moment.worker);
      late |= std::uint64_t{is_late} << (i - first);
    }
    words[word] &= late;
  }
}

Moment Arrivals::first_enough(const std::function<bool(const WorkerSet& missing)>& enough) {
  missing_ = busy_;
  if (enough(missing_)) return kBeforeAnswers;
  const std::size_t n = at_.size();

  // Few questions about a sample leave few answers to look at.
  Moment low = kBeforeAnswers;  // not enough
  Moment best = kAfterAllTime;
  std::array<Moment, kSample> sample;
  const std::size_t step = n < 8 * kSample ? n : n / kSample;
  std::size_t from = 0;
  std::size_t to = 0;
  for (std::size_t i = step / 2; i < n && to < kSample; i += step) {
    sample[to++] = moment(WorkerId{static_cast<int>(i)});
  }
  std::sort(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(to));
  while (from < to) {
    const std::size_t middle = (from + to) / 2;
    missing_after(sample[middle], missing_);
    if (sample[middle].at == kNever || enough(missing_)) {
      best = sample[middle];
      to = middle;
    } else {
      low = sample[middle];
      from = middle + 1;
    }
  }
  missing_after(low, missing_);
  if (best.at == kNever) best = kAfterAllTime;

  candidates_.resize(n);
  later_.resize(n);
  std::size_t count = 0;  // of candidates: answers that are neither known to be needed nor spared
  missing_.for_each([&](WorkerId worker) {
    const Moment answer = moment(worker);
    if (answer < best && answer.at < kNever) candidates_[count++] = worker.value;
  });
  const auto candidate = [&](std::size_t place) { return moment(WorkerId{candidates_[place]}); };
  while (count > 0) {
    std::array<Moment, 3> three = {candidate(0), candidate(count / 2), candidate(count - 1)};
    std::ranges::sort(three);
    const Moment pivot = three[1];
    // Both lists get every candidate, and one of them keeps it: no branch to be guessed wrongly.
    std::size_t earlier = 0;
    std::size_t later = 0;
    for (std::size_t place = 0; place < count; ++place) {
      const int worker = candidates_[place];
      const double time = at_[static_cast<std::size_t>(worker)];
      const bool is_later =
          (time > pivot.at.count()) | ((time == pivot.at.count()) & (worker > pivot.worker));
      later_[later] = worker;
      candidates_[earlier] = worker;
      later += is_later ? 1 : 0;
      earlier += is_later ? 0 : 1;
    }
    for (std::size_t place = 0; place < earlier; ++place) {
      missing_.erase(WorkerId{candidates_[place]});
    }
    if (enough(missing_)) {
      best = pivot;
      for (std::size_t place = 0; place < earlier; ++place) {
        missing_.insert(WorkerId{candidates_[place]});
      }
      const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(earlier);
      count = static_cast<std::size_t>(std::remove(candidates_.begin(), end, pivot.worker) -
                                       candidates_.begin());
    } else {
      candidates_.swap(later_);
      count = later;
    }
  }
  return best;
}

Arrivals& Arrivals::part(int u, int m) {
  const int n = workers() / m;
  if (parts_.size() != static_cast<std::size_t>(m)) {
    parts_.assign(static_cast<std::size_t>(m), Arrivals(n));
  }
  Arrivals& part = parts_[static_cast<std::size_t>(u)];
  part.busy_.clear();
  for (int w = 0; w < n; ++w) {
    const WorkerId worker{w * m + u};
    part.at_[static_cast<std::size_t>(w)] = at_[worker.index()];
    if (busy_.contains(worker)) part.busy_.insert(WorkerId{w});
  }
  part.busy_count_ = part.busy_.size();
  return part;
}

Arrivals& Arrivals::without(const WorkerSet& workers) {
  if (without_.empty()) without_.assign(1, Arrivals(this->workers()));
  Arrivals& rest = without_.front();
  rest.at_ = at_;
  rest.busy_ = busy_;
  rest.busy_count_ = busy_count_;
  workers.for_each([&](WorkerId worker) { rest.at_[worker.index()] = kInfinity; });
  return rest;
}

}  // namespace paceline
