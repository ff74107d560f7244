#include "codes/worker_groups.hpp"

#include <algorithm>
#include <map>

namespace paceline {
namespace {

/// A worker's share of the ring: chunks [start, start + length), modulo k.
struct Share {
  int worker;
  int start;
  int length;
};

/// How the first `end` chunks from some start on can be held by shares one after the other.
struct Way {
  int shares = 0;
  const Share* last = nullptr;
  int before = 0;  ///< where the last share starts
};

/// The fewest shares that tile the ring from `start` on; empty if none do.
std::vector<int> shortest_tiling(const std::vector<Share>& shares, int start, int chunks) {
  std::vector<std::pair<int, const Share*>> by_offset;
  for (const Share& share : shares) {
    by_offset.emplace_back((share.start - start + chunks) % chunks, &share);
  }
  std::ranges::sort(by_offset, {}, [](const auto& at) { return at.first; });
  std::map<int, Way> ways = {{0, {}}};
  for (const auto& [offset, share] : by_offset) {
    const auto here = ways.find(offset);
    const int end = offset + share->length;
    if (here == ways.end() || end > chunks) continue;
    const Way way = {here->second.shares + 1, share, offset};
    const auto [there, added] = ways.try_emplace(end, way);
    if (!added && way.shares < there->second.shares) there->second = way;
  }
  std::vector<int> workers;
  for (auto way = ways.find(chunks); way != ways.end() && way->second.last != nullptr;
       way = ways.find(way->second.before)) {
    workers.push_back(way->second.last->worker);
  }
  std::ranges::sort(workers);
  return workers;
}

}  // namespace

std::vector<std::vector<int>> groups_around_the_ring(const std::vector<int>& held, int chunks) {
  std::vector<Share> left;
  int start = 0;
  for (int i = 0; i < static_cast<int>(held.size()); ++i) {
    const int length = held[static_cast<std::size_t>(i)];
    if (length > 0) left.push_back({i, start, length});
    start = (start + length) % chunks;
  }
  std::vector<std::vector<int>> groups;
  for (;;) {
    std::vector<int> smallest;
    for (const Share& share : left) {  // every group has one that holds chunk 0
      if (share.start != 0 && share.start + share.length <= chunks) continue;
      std::vector<int> group = shortest_tiling(left, share.start, chunks);
      if (group.empty() || (!smallest.empty() && group.size() >= smallest.size())) continue;
      smallest = std::move(group);
    }
    if (smallest.empty()) return groups;
    std::erase_if(left, [&](const Share& share) {
      return std::ranges::binary_search(smallest, share.worker);
    });
    groups.push_back(std::move(smallest));
  }
}

const std::vector<int>* complete_group(const std::vector<std::vector<int>>& groups,
                                       const WorkerSet& answered) {
  for (const std::vector<int>& group : groups) {
    if (std::ranges::all_of(group, [&](int i) { return answered.contains(WorkerId{i}); })) {
      return &group;
    }
  }
  return nullptr;
}

}  // namespace paceline
