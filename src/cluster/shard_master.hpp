// The master's side of parameter servers: what they shall do goes into a frame for each, what they
// say of decoded gradients and of all they hold is put together again.
//
// All servers are told the same in the same order, so each of them has, after so many records, its
// slices of the same bank. Nothing here waits; RankTransport sends and receives.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cluster/buffer_ring.hpp"
#include "cluster/shard_map.hpp"
#include "cluster/shard_records.hpp"
#include "paceline/coordinator.hpp"

namespace paceline {

struct ShardMasterOptions {
  int servers = 0;         ///< K; they are ranks 1 ... K
  std::size_t length = 0;  ///< d
  MessageShape shape = {};
  int batch_size = 1;
  double skip_above = 0;            ///< as in ModelBankOptions
  const BankState* seed = nullptr;  ///< what the run begins with; used in the constructor alone
  /// Gets every decoded gradient, whole. Empty: the servers send none.
  std::function<Expected<void>(DecodedGradient)> on_decoded;
};

class ShardMaster {
 public:
  /// Sends a frame that the rank shall acknowledge.
  using Post = std::function<void(int rank, std::shared_ptr<Bytes> frame)>;

  /// Writes the seed, to be sent after the record that begins the run.
  ShardMaster(const ShardMasterOptions& options, Post post);

  int servers() const { return map_.shards(); }

  bool is_server(int rank) const { return rank >= 1 && rank <= servers(); }

  std::size_t bytes_of_parameters() const { return map_.length() * sizeof(float); }

  void apply(const Apply& apply);
  void drop(std::span<const MessageId> messages);
  void ship(const Ship& ship);

  /// What to do with a reported answer. @param server  1 ... servers()
  void settle(int server, std::uint32_t serial, bool take);

  /// Sends what has been written.
  void flush();

  /// Asks for all that the servers hold, and forgets what came of it before.
  void collect();

  /// Whether all of it has come.
  bool collected() const { return missing_ == 0; }

  BankState state() const { return join(map_, collected_); }

  /// Reads a record that is no report. @return whether it is one of a server; an error of who gets
  /// decoded gradients
  Expected<bool> read(int server, RecordKind kind, FrameReader& in);

 private:
  struct Outbox {
    std::shared_ptr<Bytes> frame;  ///< nullptr: nothing to send
    std::optional<FrameWriter> writer;
  };

  struct Assembly {
    DecodedGradient whole;
    int missing = 0;
  };

  FrameWriter& to(int server);
  void send(int server);
  void seed(const BankState& state);
  Expected<void> take_decoded(int server, DecodedGradient slice);

  ShardMap map_;
  std::function<Expected<void>(DecodedGradient)> on_decoded_;
  Post post_;
  BufferRing ring_;
  std::vector<Outbox> outboxes_;  ///< shape (servers)
  std::vector<BankState> collected_;
  int missing_ = 0;  ///< servers that have not sent all of it
  std::map<JobId, Assembly> decoded_;
};

}  // namespace paceline
