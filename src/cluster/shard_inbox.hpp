// Where a worker rank puts parameters together that come in slices from several servers, and where
// orders wait for them.
//
// Orders come from the master and slices from the servers, and either may overtake the other: so
// both are held: orders until all slices of the versions they read are here, and of every model the
// newest two versions and those that an order waits for. Both are bounded by the orders that the
// master has outstanding. Orders of one worker keep their order.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "cluster/records.hpp"
#include "cluster/shard_map.hpp"
#include "paceline/model_bank.hpp"

namespace paceline {

class ShardInbox {
 public:
  struct Ready {
    Order order;
    std::vector<Parameters> parameters;  ///< shape (order.tasks.size()), as Transport::send
  };

  ShardInbox(const ShardMap& map, std::size_t models) : map_(map), models_(models) {}

  /// @param server  1 ... servers
  /// @return false if the slice cannot be one of this run
  bool take(int server, const ReadParameters& slice);

  /// @return false if the order names a model that is not there
  bool hold(Order order);

  void stop(WorkerId worker, Round round);

  /// An order that has all it reads, the oldest first; nothing: none has.
  std::optional<Ready> next();

 private:
  struct Assembly {
    std::vector<float> values;
    std::vector<bool> have;  ///< by server
    int missing = 0;
    Parameters whole;  ///< nullptr until nothing is missing
  };

  using Versions = std::map<Version, Assembly>;

  std::optional<std::vector<Parameters>> parameters_of(const Order& order) const;
  static Version newest_whole(const Versions& versions);
  bool is_too_late(const Order& order) const;
  void forget_old(std::size_t model);

  ShardMap map_;
  std::vector<Versions> models_;
  std::deque<Order> waiting_;
};

}  // namespace paceline
