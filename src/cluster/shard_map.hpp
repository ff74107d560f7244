// How K servers share every gradient, message and parameter vector: by coordinates.
//
// The decode coefficients are the same for every number of a gradient, so whoever holds some of the
// numbers of all messages can decode and update these without the rest. Each part of a gradient and
// each segment of a message is cut at the same places, so that a coefficient for (segment, part)
// means on a slice what it means on the whole:
//
//     |-- 0 --|-- 1 --|- 2 -| |-- 0 --|-- 1 --|- 2 -|        K = 3 servers, 2 parts
//
// A slice holds the pieces of its server one after the other. The last part of a gradient is padded
// with zeros; slices hold them, too, and they stay zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "paceline/expected.hpp"
#include "paceline/message.hpp"
#include "paceline/model_bank.hpp"

namespace paceline {

class ShardMap {
 public:
  /// @param length  d
  /// @pre check_servers_fit() found nothing wrong
  ShardMap(std::size_t length, const MessageShape& shape, int shards)
      : length_(length),
        shape_(shape),
        shards_(static_cast<std::size_t>(shards)),
        piece_(MessageShape{shape.parts}.message_length(length) /
               static_cast<std::size_t>(shape.parts)) {}

  int shards() const { return static_cast<int>(shards_); }

  std::size_t length() const { return length_; }

  const MessageShape& shape() const { return shape_; }

  /// Numbers of a whole part or segment.
  std::size_t piece() const { return piece_; }

  /// Numbers of parameters or of a gradient that a shard holds, padding included.
  std::size_t slice_length(int shard) const {
    return width(shard) * static_cast<std::size_t>(shape_.parts);
  }

  std::size_t message_length(int shard) const {
    return width(shard) * static_cast<std::size_t>(shape_.pieces());
  }

  /// The shard's share of parameters (parts() pieces) or of a message (shape.pieces()). What is
  /// beyond the end of `whole` is padding.
  template <class T>
  void cut(std::span<const T> whole, int shard, int pieces, std::vector<T>& slice) const {
    slice.assign(width(shard) * static_cast<std::size_t>(pieces), T{0});
    each(shard, pieces, whole.size(), [&](std::size_t at, std::size_t from, std::size_t count) {
      std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(from),
                  count,
                  slice.begin() + static_cast<std::ptrdiff_t>(at));
    });
  }

  /// Puts a share back to its place. @pre slice as cut() makes it
  template <class T>
  void place(std::span<const T> slice, int shard, int pieces, std::span<T> whole) const {
    each(shard, pieces, whole.size(), [&](std::size_t at, std::size_t to, std::size_t count) {
      std::copy_n(slice.begin() + static_cast<std::ptrdiff_t>(at),
                  count,
                  whole.begin() + static_cast<std::ptrdiff_t>(to));
    });
  }

 private:
  std::size_t first(int shard) const { return piece_ * static_cast<std::size_t>(shard) / shards_; }

  std::size_t width(int shard) const { return first(shard + 1) - first(shard); }

  /// Calls visit(place in the slice, place in the whole, count) for each piece.
  template <class Visit>
  void each(int shard, int pieces, std::size_t size, const Visit& visit) const {
    for (int p = 0; p < pieces; ++p) {
      const auto piece = static_cast<std::size_t>(p);
      const std::size_t begin = std::min(size, piece * piece_ + first(shard));
      visit(piece * width(shard), begin, std::min(width(shard), size - begin));
    }
  }

  std::size_t length_;
  MessageShape shape_;
  std::size_t shards_;
  std::size_t piece_;
};

/// The shard's share of all that a bank holds.
BankState cut(const ShardMap& map, const BankState& whole, int shard);

/// The whole of which these are the shares. @param slices  shape (shards); of one moment
BankState join(const ShardMap& map, const std::vector<BankState>& slices);

}  // namespace paceline
