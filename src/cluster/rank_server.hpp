// A rank that hosts workers: a local transport behind the link.
//
// What happens to an order here is what happens to it in one process: its worker does its orders
// one after the other, the compute pool makes the messages, the answer is held until its injected
// time, a stop takes it out wherever it is. This class only reads orders out of frames and writes
// answers into frames. It is the one thread of the rank that uses the link; computing has threads
// of its own, so a rank answers the master's looks even in the middle of a long gradient.
//
// In a run with parameter servers the first ranks host no workers but a slice of all parameters
// (shard_server.hpp). The others get parameters from them, in slices (shard_inbox.hpp), and cut
// their messages for them.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "cluster/buffer_ring.hpp"
#include "cluster/pause.hpp"
#include "cluster/records.hpp"
#include "cluster/shard_inbox.hpp"
#include "cluster/shard_map.hpp"
#include "cluster/shard_server.hpp"
#include "paceline/cluster.hpp"
#include "paceline/link.hpp"
#include "runtime/compute_pool.hpp"
#include "runtime/local_transport.hpp"

namespace paceline {

class RankServer {
 public:
  RankServer(Link& link, const ServeOptions& options);

  /// Until the master ends it. @return the exit code the master asked for, or an error of a rank
  /// that has lost its master or was told to stop and heard nothing more
  Expected<int> serve(const Hello& me);

 private:
  struct Model {
    Version version{-1};
    Parameters values;
  };

  /// Answers that are being written to a server.
  struct ToServer {
    std::shared_ptr<Bytes> frame;  ///< nullptr: none
    std::optional<FrameWriter> writer;
  };

  /// Everything of one scheme's run.
  struct Run {
    explicit Run(std::uint32_t of) : number(of) {}

    std::uint32_t number;
    int workers = 0;
    MessageType message_type = MessageType::kFloat32;
    std::vector<Model> models;  ///< the newest parameters of each
    std::optional<ComputePool> pool;
    std::optional<LocalTransport> transport;  ///< after the pool: destroyed first
    std::uint32_t received = 0;               ///< sequence of the newest frame
    int overruns = 0;                         ///< as last told

    // With parameter servers.
    std::optional<ShardMap> map;
    std::optional<ShardServer> shard;  ///< on a server
    std::optional<ShardInbox> inbox;   ///< on a rank that hosts workers
    std::vector<ToServer> to_servers;  ///< there, too: by server
  };

  struct Early {
    int from = 0;
    Bytes frame;
  };

  bool poll(SteadyTime now);
  void take_frame(SteadyTime now);
  void take_record(RecordKind kind, FrameReader& in, const FrameHeader& header);
  void begin(std::uint32_t number, Begin begin);
  void begin_shard(Begin begin);
  void take_frame_of_peer(int from, const Bytes& bytes);
  void take_record_of_peer(int from, RecordKind kind, FrameReader& in);
  void take_shard_record(RecordKind kind, FrameReader& in);
  void take_parameters(ReadParameters read);
  void start_orders();
  void take_order(Order order);
  bool deliver(SteadyTime deadline);
  void answer();
  void answer_to_servers();
  bool holds_answers() const;
  void fail(const std::string& why);
  FrameWriter& outgoing();
  FrameWriter& next_record();
  void send_outgoing(SteadyTime now);
  void send_to_servers();
  bool gathers(SteadyTime now) const;
  void rest(SteadyTime now);
  std::optional<Expected<int>> ended(SteadyTime now);

  Link& link_;
  const ServeOptions& options_;
  std::optional<Run> run_;
  std::uint32_t newest_run_ = 0;
  Bytes incoming_;
  std::vector<Early> early_;  ///< frames of a run that has not begun here yet
  MadeMessage slice_;         ///< scratch
  BufferRing ring_;
  std::shared_ptr<Bytes> frame_;       ///< being written; nullptr: none
  std::optional<FrameWriter> writer_;  ///< writes it
  SteadyTime answers_since_;           ///< when the first answer that waits was written
  Delivery delivery_;
  Pause pause_;
  std::optional<Hello> master_;
  std::optional<int> code_;               ///< the master has asked to leave with it
  std::optional<bool> go_;                ///< leave now; whether with all others
  SteadyTime heard_;                      ///< the master, last
  Seconds longest_silence_{0};            ///< of the master
  SteadyTime looked_;                     ///< for the master's process, last
  SteadyTime spoken_;                     ///< to the master, last
  std::optional<SteadyTime> owes_since_;  ///< a frame came that is not acknowledged yet
  std::optional<SteadyTime> told_;        ///< when a signal told this rank to stop
  std::optional<SteadyTime> left_;        ///< when the master asked to leave
};

}  // namespace paceline
