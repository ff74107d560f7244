#include "cluster/shard_inbox.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace paceline {

bool ShardInbox::take(int server, const ReadParameters& slice) {
  if (server < 1 || server > map_.shards() || slice.model.value < 0 ||
      slice.model.index() >= models_.size() ||
      slice.values.size() != map_.slice_length(server - 1)) {
    return false;
  }
  Versions& versions = models_[slice.model.index()];
  Assembly& assembly = versions[slice.version];
  if (assembly.have.empty()) {
    assembly.values.resize(map_.length());
    assembly.have.resize(static_cast<std::size_t>(map_.shards()));
    assembly.missing = map_.shards();
  }
  if (assembly.have[static_cast<std::size_t>(server - 1)]) return true;  // sent again
  assembly.have[static_cast<std::size_t>(server - 1)] = true;
  map_.place(std::span<const float>(slice.values),
             server - 1,
             map_.shape().parts,
             std::span<float>(assembly.values));
  if (--assembly.missing == 0) {
    assembly.whole = std::make_shared<const std::vector<float>>(std::move(assembly.values));
  }
  forget_old(slice.model.index());
  return true;
}

bool ShardInbox::hold(Order order) {
  for (const Task& task : order.tasks) {
    if (task.row.terms().empty()) continue;
    if (task.model.value < 0 || task.model.index() >= models_.size()) return false;
  }
  waiting_.push_back(std::move(order));
  return true;
}

void ShardInbox::stop(WorkerId worker, Round round) {
  std::erase_if(waiting_,
                [&](const Order& order) { return order.worker == worker && order.round == round; });
}

std::optional<ShardInbox::Ready> ShardInbox::next() {
  std::set<WorkerId> behind;  // workers with an older order that waits
  for (auto order = waiting_.begin(); order != waiting_.end(); ++order) {
    if (behind.contains(order->worker)) continue;
    if (is_too_late(*order)) {
      waiting_.erase(order);
      return next();
    }
    auto parameters = parameters_of(*order);
    if (!parameters) {
      behind.insert(order->worker);
      continue;
    }
    Ready ready{std::move(*order), std::move(*parameters)};
    waiting_.erase(order);
    for (const Task& task : ready.order.tasks) {
      if (!task.row.terms().empty()) forget_old(task.model.index());
    }
    return ready;
  }
  return std::nullopt;
}

/// What the order's tasks read; nothing if some of it is not here.
std::optional<std::vector<Parameters>> ShardInbox::parameters_of(const Order& order) const {
  std::vector<Parameters> parameters;
  for (const Task& task : order.tasks) {
    if (task.row.terms().empty()) {
      parameters.push_back(nullptr);
      continue;
    }
    const Versions& versions = models_[task.model.index()];
    const auto found = versions.find(task.reads);
    if (found == versions.end() || found->second.whole == nullptr) return std::nullopt;
    parameters.push_back(found->second.whole);
  }
  return parameters;
}

/// Whether the order reads a version that is gone: its job was decoded long ago.
bool ShardInbox::is_too_late(const Order& order) const {
  return std::any_of(order.tasks.begin(), order.tasks.end(), [&](const Task& task) {
    if (task.row.terms().empty()) return false;
    const Versions& versions = models_[task.model.index()];
    return !versions.contains(task.reads) && task.reads.value + 1 < newest_whole(versions).value;
  });
}

Version ShardInbox::newest_whole(const Versions& versions) {
  for (auto entry = versions.rbegin(); entry != versions.rend(); ++entry) {
    if (entry->second.whole != nullptr) return entry->first;
  }
  return Version{-1};
}

/// Lets go of versions that no order waits for, but for the newest whole one and the one before it:
/// an order for that may still be on its way.
void ShardInbox::forget_old(std::size_t model) {
  Versions& versions = models_[model];
  const Version newest = newest_whole(versions);
  std::erase_if(versions, [&](const auto& entry) {
    const Version version = entry.first;
    if (version.value + 1 >= newest.value) return false;
    return std::none_of(waiting_.begin(), waiting_.end(), [&](const Order& order) {
      return std::any_of(order.tasks.begin(), order.tasks.end(), [&](const Task& task) {
        return task.model.index() == model && task.reads == version && !task.row.terms().empty();
      });
    });
  });
}

}  // namespace paceline
