// A parameter server: a model bank of one slice of every parameter vector, gradient and message.
//
//   worker rank ── Answer (slices) ──► waiting ── Report ──► master
//   master ── Take ──► bank ── Apply ──► decoded, updated ── Ship ──► worker ranks
//
// It decides nothing. Slices of an answer wait until the master says whether the answer counts: it
// does when all servers have their slices, and nobody has stopped it. What the master says comes in
// one order, so the bank always holds the slices of what the master believes it does.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "cluster/buffer_ring.hpp"
#include "cluster/shard_map.hpp"
#include "cluster/shard_records.hpp"
#include "paceline/link.hpp"
#include "paceline/model_bank.hpp"

namespace paceline {

struct ShardServerOptions {
  std::uint32_t run = 0;
  int server = 1;          ///< its rank; 1 ... begin.servers.count
  std::size_t length = 0;  ///< d
  Begin begin;
  std::function<FrameWriter&()> to_master;  ///< where the next record for the master goes
};

class ShardServer {
 public:
  /// @param optimizers  one per model, coordinatewise; cloned
  /// @pre check_servers_fit() found nothing wrong
  ShardServer(Link& link,
              ShardServerOptions options,
              const std::vector<std::unique_ptr<Optimizer>>& optimizers);

  /// Carries out a record of the master. @return an error after which the bank is not what the
  /// master believes it is: the run cannot go on
  Expected<void> carry_out(RecordKind kind, FrameReader& in);

  /// Reads an answer of a worker rank and reports it. @return an error if it cannot be one of this
  /// run
  Expected<void> take_answer(FrameReader& in);

 private:
  struct Waiting {
    struct Message {
      MessageId id;
      std::vector<float> values;
      double loss = 0;
      int samples = 0;
    };

    std::vector<Message> messages;
  };

  struct Encoded {
    Version version{-1};
    std::shared_ptr<const Bytes> frame;
  };

  Expected<void> begin_with_seed();
  Expected<void> take(std::uint32_t serial);
  void discard(std::uint32_t serial);
  Expected<void> apply(const Apply& apply);
  void drop(std::span<const MessageId> messages);
  Expected<void> ship(const Ship& ship);
  void send_state();
  std::vector<float> buffer();

  Link& link_;
  ShardServerOptions options_;
  ShardMap map_;
  ModelBank bank_;
  std::optional<BankState> seed_ = BankState{};  ///< until the bank has it
  std::map<std::uint32_t, Waiting> waiting_;     ///< by serial
  std::uint32_t serial_ = 0;                     ///< of the newest report
  std::vector<Encoded> encoded_;                 ///< by model: its newest parameters as a frame
  BufferRing ring_;
  std::vector<std::vector<float>> buffers_;
};

}  // namespace paceline
