#include "cluster/shard_map.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "paceline/check.hpp"
#include "paceline/cluster.hpp"

namespace paceline {
namespace {

template <class T>
std::vector<T> share(const ShardMap& map, const std::vector<T>& whole, int shard, int pieces) {
  std::vector<T> slice;
  if (!whole.empty()) map.cut(std::span<const T>(whole), shard, pieces, slice);
  return slice;
}

/// The whole array of which `slice_of(shard)` are the shares; empty where they are.
template <class T, class SliceOf>
std::vector<T> assemble(const ShardMap& map,
                        std::size_t length,
                        int pieces,
                        const SliceOf& slice_of) {
  if (slice_of(0).empty()) return {};
  std::vector<T> whole(length);
  for (int shard = 0; shard < map.shards(); ++shard) {
    map.place(std::span<const T>(slice_of(shard)), shard, pieces, std::span<T>(whole));
  }
  return whole;
}

}  // namespace

Expected<void> check_servers_fit(std::size_t length, const MessageShape& shape, int shards) {
  const std::size_t most = ShardMap(length, shape, 1).piece();
  if (shards >= 1 && static_cast<std::size_t>(shards) <= most) return {};
  return invalid(fmt::format(
      "servers={} is not allowed for {} parameters{}; 1 ... {}",
      shards,
      length,
      shape.parts > 1 ? fmt::format(" that the code cuts into {} parts", shape.parts) : "",
      most));
}

BankState cut(const ShardMap& map, const BankState& whole, int shard) {
  const int parts = map.shape().parts;
  BankState slice;
  for (const BankState::Model& model : whole.models) {
    OptimizerState optimizer{model.optimizer.steps, {}};
    for (const auto& array : model.optimizer.arrays) {
      optimizer.arrays.push_back(share(map, array, shard, parts));
    }
    slice.models.push_back(
        {model.version,
         std::make_shared<const std::vector<float>>(share(map, *model.parameters, shard, parts)),
         std::move(optimizer)});
  }
  for (const BankState::Message& message : whole.messages) {
    slice.messages.push_back({message.id,
                              share(map, message.values, shard, map.shape().pieces()),
                              message.loss,
                              message.samples});
  }
  for (const BankState::OpenJob& job : whole.open) {
    slice.open.push_back(
        {job.job, share(map, job.sum, shard, parts), job.counted, job.loss, job.samples});
  }
  return slice;
}

BankState join(const ShardMap& map, const std::vector<BankState>& slices) {
  const BankState& first = slices.at(0);
  for (const BankState& slice : slices) {
    PACELINE_CHECK(slice.models.size() == first.models.size());
    PACELINE_CHECK(slice.messages.size() == first.messages.size());
    PACELINE_CHECK(slice.open.size() == first.open.size());
  }
  const auto slice = [&](int shard) -> const BankState& {
    return slices[static_cast<std::size_t>(shard)];
  };
  const int parts = map.shape().parts;
  const int pieces = map.shape().pieces();
  BankState whole;
  for (std::size_t m = 0; m < first.models.size(); ++m) {
    OptimizerState optimizer{first.models[m].optimizer.steps, {}};
    for (std::size_t a = 0; a < first.models[m].optimizer.arrays.size(); ++a) {
      optimizer.arrays.push_back(assemble<float>(
          map, map.length(), parts, [&](int shard) -> const auto& {
            return slice(shard).models[m].optimizer.arrays.at(a);
          }));
    }
    auto parameters = assemble<float>(
        map, map.length(), parts, [&](int shard) -> const auto& {
          PACELINE_CHECK(slice(shard).models[m].version == first.models[m].version);
          return *slice(shard).models[m].parameters;
        });
    whole.models.push_back({first.models[m].version,
                            std::make_shared<const std::vector<float>>(std::move(parameters)),
                            std::move(optimizer)});
  }
  for (std::size_t i = 0; i < first.messages.size(); ++i) {
    const BankState::Message& message = first.messages[i];
    whole.messages.push_back({message.id,
                              assemble<float>(
                                  map,
                                  map.piece() * static_cast<std::size_t>(pieces),
                                  pieces,
                                  [&](int shard) -> const auto& {
                                    PACELINE_CHECK(slice(shard).messages[i].id == message.id);
                                    return slice(shard).messages[i].values;
                                  }),
                              message.loss,
                              message.samples});
  }
  for (std::size_t i = 0; i < first.open.size(); ++i) {
    const BankState::OpenJob& job = first.open[i];
    whole.open.push_back({job.job,
                          assemble<double>(
                              map,
                              map.piece() * static_cast<std::size_t>(parts),
                              parts,
                              [&](int shard) -> const auto& {
                                PACELINE_CHECK(slice(shard).open[i].job == job.job);
                                return slice(shard).open[i].sum;
                              }),
                          job.counted,
                          job.loss,
                          job.samples});
  }
  return whole;
}

}  // namespace paceline
