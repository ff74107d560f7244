// The master's transport to ranks that host workers: worker i lives on rank 1 + i / workers per
// rank (behind the parameter servers, if there are any), so neighbours share a machine.
//
//   send, stop ──► backlog of the rank ──► frames, while its window is open ──► link
//   link ──► frame ──► answers that are still wanted ──► ready, in the order they came
//
// Nothing waits for a slow rank. What it has not acknowledged yet is bounded by a window; beyond
// that orders stay in its backlog, where a stop takes them out again at no cost. Parameters are
// encoded once per version, in a buffer that all ranks share. An answer is looked up by (worker,
// round, dispatch) among the orders outstanding, and its numbers are copied into buffers of that
// order's messages; what is not found there is late or of another run, and dropped. An order that
// may have been in a damaged frame is not waited for longer than for a silent rank.
//
// With parameter servers (shard_master.hpp) no payload passes here: servers are told to ship
// parameters to the rank whose order reads them, and an answer has come when all servers have
// reported their slices of it. What is delivered is an outline (runtime/remote_bank.hpp).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "cluster/buffer_ring.hpp"
#include "cluster/pause.hpp"
#include "cluster/peers.hpp"
#include "cluster/records.hpp"
#include "cluster/shard_master.hpp"
#include "paceline/delays.hpp"
#include "paceline/link.hpp"
#include "runtime/transport.hpp"

namespace paceline {

/// What a run put on the wire, and what went wrong there.
struct Traffic {
  double bytes_sent = 0;  ///< frames with their headers
  double bytes_received = 0;
  long long late = 0;     ///< answers that nobody waited for any more
  long long damaged = 0;  ///< frames that were dropped: cut short, or with a wrong checksum
};

struct RankTransportOptions {
  std::uint32_t run = 1;
  int workers = 0;
  int workers_per_rank = 0;
  std::size_t message_length = 0;  ///< numbers of a message
  MessageLayout layout;
  const DelaySource* delays =
      nullptr;                      ///< injected at the ranks; here it only tells what never comes
  Notice notice;                    ///< may be empty
  ShardMasterOptions servers = {};  ///< count 0: parameters are with the master
};

class RankTransport final : public Transport {
 public:
  /// Begins the run on every rank. Link and peers must outlive the transport.
  RankTransport(Link& link, Peers& peers, RankTransportOptions options);
  /// Ends the run on every rank, without waiting for any.
  ~RankTransport() override;

  void send(Order order, std::vector<Parameters> parameters) override;
  void flush() override;
  void stop(WorkerId worker, Round round) override;
  Expected<bool> receive(SteadyTime deadline, Delivery& out) override;

  void discard(const Delivery& delivery) override;

  int outstanding() const override { return outstanding_; }

  bool awaits_answer() override;
  std::string losses() const override;

  void recycle(std::vector<float> buffer) override { buffers_.push_back(std::move(buffer)); }

  const Traffic& traffic() const { return traffic_; }

  /// The servers' part of RemoteBank. @pre there are servers
  void apply(const Apply& apply) { shards_->apply(apply); }

  void drop(std::span<const MessageId> messages) { shards_->drop(messages); }

  /// Waits for all that the servers hold.
  Expected<BankState> collect();

  /// As LocalTransport::overruns(), over all ranks.
  int overruns() const;

 private:
  struct PendingOrder {
    Order order;
    std::vector<Parameters> parameters;
  };

  /// An answer of which some servers have their slices.
  struct Gathering {
    std::vector<std::uint32_t> serials;  ///< by server; 0: not reported
    int missing = 0;
    std::vector<MadeMessage> messages;  ///< outlines
  };

  struct Sent {
    Round round;
    int dispatch = 0;
    std::vector<MessageId> messages;  ///< of its tasks with a row
    bool never = false;               ///< its injected time is kNever
    bool on_wire = false;
    std::uint32_t sequence = 0;  ///< of its frame
    SteadyTime at;
    std::unique_ptr<Gathering> gathering;  ///< nullptr: no server has reported
  };

  struct Rank {
    std::deque<std::variant<PendingOrder, Stop>> backlog;
    std::vector<Version> known;  ///< by model: parameters the rank has been sent
    std::uint32_t sequence = 0;
    std::uint32_t acknowledged = 0;
    std::deque<std::size_t> unacknowledged;  ///< bytes of each frame since `acknowledged`
    std::size_t unacknowledged_bytes = 0;
    std::size_t ahead_bytes = 0;  ///< of parameters that went ahead of the frame being built
    SteadyTime spoken_to;
    bool heard_since = true;               ///< since the last heartbeat to it
    std::optional<SteadyTime> damaged_at;  ///< when a frame to or from it was last found damaged
    int overruns = 0;
  };

  struct Encoded {
    Version version{-1};
    std::shared_ptr<const Bytes> frame;
  };

  struct Ready {
    SteadyTime at;
    Delivery delivery;
    std::vector<std::uint32_t> serials = {};  ///< by server, where there are any
  };

  int first_host() const { return 1 + options_.servers.servers; }

  int rank_of(WorkerId worker) const {
    return first_host() + worker.value / options_.workers_per_rank;
  }

  bool is_server(int rank) const { return rank < first_host(); }

  Rank& rank(int number) { return ranks_[static_cast<std::size_t>(number - 1)]; }

  bool window_open(const Rank& rank) const;
  void flush(int number);
  void send_parameters(int number, const PendingOrder& pending);
  const std::shared_ptr<const Bytes>& encode(ModelId model,
                                             Version version,
                                             const std::vector<float>& values);
  void post(int number, std::shared_ptr<Bytes> frame);
  void hand_over(int number, std::shared_ptr<const Bytes> frame);
  void speak_to_quiet_ranks(SteadyTime now);

  void poll(SteadyTime now);
  void take_frame(int from, SteadyTime now);
  void acknowledge(Rank& rank, std::uint32_t sequence);
  void take_answer(int from, FrameReader& in, SteadyTime now);
  void take_messages(const Sent& sent, const AnswerHead& head, FrameReader& in, SteadyTime now);
  void drop_messages(const AnswerHead& head, FrameReader& in);
  Sent* outstanding_order(int host, const Result& result);
  Sent forget(WorkerId worker, Sent* sent);
  Delivery new_delivery(const Result& result);
  void take_report(int server, const Report& report, SteadyTime now);
  void settle(const std::vector<std::uint32_t>& serials, bool take);
  bool take_server_record(int server, RecordKind kind, FrameReader& in, SteadyTime now);
  void look_at_servers();
  void lose_server(const std::string& why);
  void damaged(int from, const std::string& how);
  void damaged_between(int rank, int other, const std::string& how);
  bool went_astray(int number, const Sent& sent) const;

  Link& link_;
  Peers& peers_;
  RankTransportOptions options_;
  std::vector<Rank> ranks_;                ///< shape (ranks - 1)
  std::vector<std::deque<Sent>> workers_;  ///< by worker: orders outstanding, oldest first
  std::vector<Encoded> encoded_;           ///< by model: its newest parameters as a frame
  BufferRing ring_;
  Bytes incoming_;
  std::deque<Ready> ready_;
  std::vector<Delivery> spare_;
  std::vector<std::vector<float>> buffers_;
  std::optional<ShardMaster> shards_;
  bool servers_fine_ = true;  ///< no slice is lost
  std::optional<Error> failure_;
  int outstanding_ = 0;
  Traffic traffic_;
};

}  // namespace paceline
