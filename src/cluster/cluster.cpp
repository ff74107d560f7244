// Joins ranks to one run: handshake, a transport per run, and an end that waits for nobody for
// long.
#include "paceline/cluster.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <utility>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cluster/pause.hpp"
#include "cluster/peers.hpp"
#include "cluster/rank_server.hpp"
#include "cluster/rank_transport.hpp"
#include "cluster/records.hpp"
#include "cluster/served_bank.hpp"
#include "paceline/check.hpp"
#include "runtime/interruption.hpp"
#include "runtime/run_parts.hpp"

namespace paceline {
namespace {

constexpr Seconds kLeastJoinLimit{30};
constexpr double kJoinTimesOwn = 5;  // of what the master itself took to prepare
// How long ranks may take to say good-bye: a good deal more than any response so far.
constexpr Seconds kLeastEndLimit{2};
constexpr double kEndTimesSlowest = 5;
constexpr Seconds kHurriedEnd{0.5};

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown host";
  return name.data();
}

Hello hello_of(const Member& member) {
  Hello hello;
  hello.version = member.version;
  hello.options = member.options;
  hello.data = member.data;
  hello.host = host_name();
  hello.machine = machine_of_this_process();
  hello.pid = static_cast<int>(getpid());
  hello.refusal = member.refusal;
  return hello;
}

/// A frame of its own with what `write` puts in.
template <class Write>
void send_one(Link& link, int to, const Write& write) {
  auto frame = std::make_shared<Bytes>();
  FrameWriter out(*frame);
  write(out);
  seal(*frame, {});
  link.send(to, std::move(frame));
}

/// Why this rank cannot work with the master; empty: it can.
std::string disagreement(const Hello& mine, const Hello& theirs) {
  if (theirs.protocol != mine.protocol || theirs.version != mine.version) {
    return fmt::format(
        "runs paceline {} (protocol {}) and the master {} (protocol {}); install the same version "
        "everywhere",
        theirs.version,
        theirs.protocol,
        mine.version,
        mine.protocol);
  }
  if (!theirs.refusal.empty()) return theirs.refusal;
  if (theirs.options != mine.options) {
    return fmt::format(
        "was started with other options than the master (digests {:016x} and {:016x}); give all "
        "ranks the same command line",
        theirs.options,
        mine.options);
  }
  if (theirs.data != mine.data) {
    return fmt::format(
        "has other training data than the master (digests {:016x} and {:016x}); give all ranks the "
        "same files",
        theirs.data,
        mine.data);
  }
  return {};
}

/// What the transport must know of parameter servers. @param served  nullptr: there are none
ShardMasterOptions shard_options(const ServedBank* served,
                                 const ModelBank& bank,
                                 std::optional<Verifier>& verifier,
                                 int servers) {
  if (served == nullptr) return {};
  ShardMasterOptions options;
  options.servers = servers;
  options.length = bank.options().length;
  options.shape = bank.options().shape;
  options.batch_size = bank.options().batch_size;
  options.skip_above = bank.options().skip_above;
  options.seed = &served->seed();
  if (verifier) {
    options.on_decoded = [&verifier](DecodedGradient decoded) {
      return verifier->submit(
          decoded.job,
          decoded.model,
          decoded.read,
          std::make_shared<const std::vector<float>>(std::move(decoded.parameters)),
          std::move(decoded.gradient));
    };
  }
  return options;
}

Expected<LocalRunResult> play_served(Coordinator& coordinator,
                                     ServedBank& served,
                                     RankTransport& transport,
                                     std::optional<Verifier>& verifier) {
  served.connect(transport);
  return play(coordinator, served.outline(), transport, verifier, served.options(), &served);
}

}  // namespace

std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Expected<int> workers_per_rank(int workers, int ranks, int asked, int servers) {
  if (servers < 0 || (servers > 0 && servers >= ranks - 1)) {
    return invalid(fmt::format(
        "servers={} is not allowed for {} ranks: rank 0 is the master, and at least one more hosts "
        "workers; {}",
        servers,
        ranks,
        ranks > 2 ? fmt::format("0 ... {}", ranks - 2) : std::string("0")));
  }
  const int hosts = ranks - 1 - servers;
  if (hosts < 1) {
    return invalid(fmt::format(
        "{} rank is not enough: rank 0 is the master, and at least one more hosts workers", ranks));
  }
  if (workers < 1) return invalid(fmt::format("workers={} is not allowed; workers >= 1", workers));
  const int needed = (workers + hosts - 1) / hosts;
  if (asked == 0) return needed;
  if (asked >= needed) return asked;
  return invalid(
      fmt::format("{} workers per rank are too few for {} workers on {} ranks; at least {}",
                  asked,
                  workers,
                  hosts,
                  needed));
}

namespace detail {

class ClusterState {
 public:
  ClusterState(Link& l, ClusterOptions o)
      : link(l), options(std::move(o)), peers(l.ranks(), options.rank_limit, options.notice) {
    peers.set_servers(options.servers);
  }

  Seconds join_limit() const {
    if (options.join_limit > Seconds{0}) return options.join_limit;
    return std::max(kLeastJoinLimit, kJoinTimesOwn * prepared);
  }

  Seconds end_limit() const {
    if (options.end_limit > Seconds{0}) return options.end_limit;
    return std::max(kLeastEndLimit, kEndTimesSlowest * peers.slowest());
  }

  bool interrupted() const { return options.interrupted != nullptr && *options.interrupted; }

  /// Takes frames until all ranks but 0 have sent one that `take` returns true for, or are known to
  /// be gone. Ends early on an interruption if `may_interrupt`.
  /// @return for each rank whether it has
  template <class Take>
  std::vector<bool> gather(Seconds limit, bool may_interrupt, const Take& take) {
    std::vector<bool> done(static_cast<std::size_t>(link.ranks()), false);
    done[0] = true;
    int left = link.ranks() - 1;
    const SteadyTime deadline = after(std::chrono::steady_clock::now(), limit);
    Pause pause;
    Bytes bytes;
    for (;;) {
      int from = 0;
      while (left > 0 && link.receive(from, bytes)) {
        pause.reset();
        auto frame = open_frame(bytes);
        if (!frame || done[static_cast<std::size_t>(from)]) continue;
        peers.heard(from, std::chrono::steady_clock::now());
        if (!take(from, *frame)) continue;
        done[static_cast<std::size_t>(from)] = true;
        --left;
      }
      const SteadyTime now = std::chrono::steady_clock::now();
      if (left == gone_among(done, now)) return done;
      if (now >= deadline || (may_interrupt && interrupted())) return done;
      std::this_thread::sleep_for(pause.next(now, deadline));
    }
  }

  /// How many of those that have not are known to be gone; looks now and then.
  int gone_among(const std::vector<bool>& done, SteadyTime now) {
    if (now - looked_ < kHeartbeat) return gone_;
    looked_ = now;
    gone_ = 0;
    for (int rank = 1; rank < link.ranks(); ++rank) {
      if (!done[static_cast<std::size_t>(rank)] && peers.gone(rank)) ++gone_;
    }
    return gone_;
  }

  /// "rank 2 (node7, pid 4711), rank 3 ..." of those that have not, and are gone or are not.
  std::string missing(const std::vector<bool>& done, bool gone) const {
    std::string text;
    for (int rank = 1; rank < link.ranks(); ++rank) {
      if (done[static_cast<std::size_t>(rank)] || peers.gone(rank) != gone) continue;
      text += fmt::format("{}{}", text.empty() ? "" : ", ", peers.name(rank));
    }
    return text;
  }

  void tell_all(RecordKind kind, std::optional<int> number = std::nullopt) {
    for (int rank = 1; rank < link.ranks(); ++rank) {
      send_one(link, rank, [&](FrameWriter& out) {
        out.put(kind);
        if (number) out.put(*number);
      });
    }
  }

  /// Waits until what was sent is on its way.
  bool drained(Seconds limit) {
    const SteadyTime deadline = after(std::chrono::steady_clock::now(), limit);
    Pause pause;
    while (link.unsent() > 0) {
      const SteadyTime now = std::chrono::steady_clock::now();
      if (now >= deadline) return false;
      std::this_thread::sleep_for(pause.next(now, deadline));
    }
    return true;
  }

  Link& link;
  ClusterOptions options;
  Peers peers;
  SteadyTime made = std::chrono::steady_clock::now();
  Seconds prepared{0};  ///< how long the master took until it was ready for the others
  bool admitted = false;
  std::uint32_t runs = 0;
  ClusterTraffic traffic;

 private:
  SteadyTime looked_;
  int gone_ = 0;
};

}  // namespace detail

ClusterMaster::ClusterMaster(Link& link, ClusterOptions options)
    : state_(std::make_unique<detail::ClusterState>(link, std::move(options))) {
  PACELINE_CHECK(link.rank() == 0);
}

ClusterMaster::~ClusterMaster() = default;

Expected<void> ClusterMaster::admit(const Member& mine) {
  detail::ClusterState& state = *state_;
  const Hello me = hello_of(mine);
  std::optional<Error> refused;
  state.prepared = std::chrono::steady_clock::now() - state.made;
  const Seconds limit = state.join_limit();
  const auto joined = state.gather(limit, true, [&](int from, Frame& frame) {
    if (frame.records.get<RecordKind>() != RecordKind::kHello) return false;
    Hello theirs = read_hello(frame.records);
    const std::string why = disagreement(me, theirs);
    state.peers.join(from, std::move(theirs));
    if (!why.empty() && !refused) {
      refused = Error{ErrorCode::kInvalid, fmt::format("{} {}", state.peers.name(from), why)};
    }
    return true;
  });
  if (refused) return Unexpected(*refused);
  if (state.interrupted()) return Unexpected(interruption());
  if (const std::string gone = state.missing(joined, true); !gone.empty()) {
    return failed(fmt::format("{}: has died", gone));
  }
  if (const std::string missing = state.missing(joined, false); !missing.empty()) {
    return failed(fmt::format("{}: has not joined within {:g} s", missing, limit.count()));
  }
  for (int rank = 1; rank < state.link.ranks(); ++rank) {
    send_one(state.link, rank, [&](FrameWriter& out) { write(out, RecordKind::kWelcome, me); });
  }
  state.admitted = true;
  return {};
}

Expected<LocalRunResult> ClusterMaster::run(
    Coordinator& coordinator,
    ModelBank& bank,
    const std::vector<std::unique_ptr<GradientSource>>& sources,
    const BatchSampler& sampler,
    const LocalRunOptions& options,
    int per_rank) {
  detail::ClusterState& state = *state_;
  if (auto fine = check_run(options); !fine) return Unexpected(fine.error());
  const int servers = state.options.servers;
  const auto hosted = workers_per_rank(options.workers, state.link.ranks(), per_rank, servers);
  if (!hosted) return Unexpected(hosted.error());
  PACELINE_CHECK(!sources.empty() && static_cast<int>(sources.size()) == bank.models());

  std::unique_ptr<ServedBank> served;
  if (servers > 0) {
    auto made = ServedBank::make(bank, options, servers);
    if (!made) return Unexpected(made.error());
    served = *std::move(made);
  }
  std::optional<ComputePool> pool;
  std::optional<Verifier> verifier;
  if (options.verify) {
    if (auto started = start_pool(pool, options, sources); !started) {
      return Unexpected(started.error());
    }
    start_verifier(verifier, *pool, options, sources, sampler);
  }
  RankTransport transport(state.link,
                          state.peers,
                          {.run = ++state.runs,
                           .workers = options.workers,
                           .workers_per_rank = *hosted,
                           .message_length = options.shape.message_length(sources[0]->length()),
                           .layout = layout_of(options, sampler),
                           .delays = options.delays,
                           .notice = state.options.notice,
                           .servers = shard_options(served.get(), bank, verifier, servers)});
  auto result = served ? play_served(coordinator, *served, transport, verifier)
                       : play(coordinator, bank, transport, verifier, options);
  if (!result) return result;
  result->overruns = transport.overruns();
  const Traffic& traffic = transport.traffic();
  const double rounds = std::max(result->rounds, 1);
  state.traffic = {
      traffic.bytes_sent / rounds, traffic.bytes_received / rounds, traffic.late, traffic.damaged};
  return result;
}

const ClusterTraffic& ClusterMaster::traffic() const { return state_->traffic; }

std::string ClusterMaster::dead() const {
  return state_->missing(std::vector<bool>(static_cast<std::size_t>(state_->link.ranks())), true);
}

Expected<std::string> ClusterMaster::end(int code, bool hurried) {
  detail::ClusterState& state = *state_;
  state.tell_all(RecordKind::kLeave, code);
  Seconds limit = state.end_limit();
  if (!state.admitted) limit = state.join_limit();  // some may still read their data
  if (hurried) limit = kHurriedEnd;
  const auto leaving = state.gather(limit, false, [](int, Frame& frame) {
    return frame.records.get<RecordKind>() == RecordKind::kLeaving;
  });
  if (const std::string missing = state.missing(leaving, false); !missing.empty()) {
    return failed(fmt::format("{}: no answer within {:.1f} s at the end", missing, limit.count()));
  }
  const std::string gone = state.missing(leaving, true);
  state.tell_all(RecordKind::kGo, gone.empty() ? 1 : 0);
  // What goes to ranks that are gone never gets on its way.
  if (!state.drained(gone.empty() ? limit : kHurriedEnd) && gone.empty()) {
    return failed("the last messages cannot be sent");
  }
  state.link.leave(gone.empty());
  return gone;
}

Expected<int> serve(Link& link, const Member& mine, const ServeOptions& options) {
  PACELINE_CHECK(options.sources != nullptr);
  PACELINE_CHECK(options.sampler != nullptr || !mine.refusal.empty());
  return RankServer(link, options).serve(hello_of(mine));
}

}  // namespace paceline
