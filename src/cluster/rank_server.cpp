#include "cluster/rank_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "cluster/peers.hpp"
#include "runtime/interruption.hpp"

namespace paceline {
namespace {

constexpr std::chrono::milliseconds kAcknowledgeAfter{2};
constexpr std::chrono::microseconds kGather{150};
constexpr int kMostUnsent = 8;  // frames without content are left out while so many wait

// A master that evaluates its models between two schemes says nothing meanwhile.
constexpr Seconds kLeastMasterLimit{600};
constexpr double kMasterTimesLongest = 20;           // of its longest silence so far
constexpr std::chrono::seconds kMasterLookedFor{2};  // after so much silence, whether it is there
// After a signal, or after the master's word to leave, until this rank goes by itself.
// The master may let a round end first (kLeaveLimit).
constexpr std::chrono::seconds kTold{20};
constexpr std::chrono::seconds kLeaving{5};
constexpr std::chrono::seconds kLeavingWhenTold{1};

}  // namespace

RankServer::RankServer(Link& link, const ServeOptions& options)
    : link_(link), options_(options), heard_(std::chrono::steady_clock::now()), spoken_(heard_) {}

Expected<int> RankServer::serve(const Hello& me) {
  write(outgoing(), RecordKind::kHello, me);
  send_outgoing(std::chrono::steady_clock::now());
  for (;;) {
    const SteadyTime now = std::chrono::steady_clock::now();
    const bool heard = poll(now);
    const bool answered = deliver(now);
    if (heard || answered) pause_.reset();
    if (!gathers(std::chrono::steady_clock::now())) {
      send_outgoing(std::chrono::steady_clock::now());
    }
    if (auto end = ended(now)) return *end;
    if (!heard && !answered) rest(now);
  }
}

bool RankServer::poll(SteadyTime now) {
  bool any = false;
  int from = 0;
  while (link_.receive(from, incoming_)) {
    any = true;
    if (from != 0) {
      take_frame_of_peer(from, incoming_);
      continue;
    }
    longest_silence_ = std::max(longest_silence_, Seconds(now - heard_));
    heard_ = now;
    take_frame(now);
  }
  return any;
}

void RankServer::take_frame(SteadyTime now) {
  auto frame = open_frame(incoming_);
  if (!frame) return write_text(outgoing(), RecordKind::kDamaged, frame.error().message);
  const FrameHeader& header = frame->header;
  const bool shard = run_ && run_->shard && header.run == run_->number && header.sequence != 0;
  if (shard && header.sequence <= run_->received) return;  // it has come before
  if (shard && header.sequence != run_->received + 1) {
    return fail("a message of the master to a parameter server is missing");
  }
  if (!owes_since_) owes_since_ = now;
  FrameReader& in = frame->records;
  ComputePool::Burst burst;
  while (!in.done()) {
    const auto kind = in.get<RecordKind>();
    const bool of_this_run = run_ && header.run == run_->number;
    if (kind != RecordKind::kBegin && header.run != 0 && !of_this_run) break;
    if (kind != RecordKind::kOrder) {
      burst.end();  // the pool may end with the record
    } else if (run_ && run_->pool) {
      burst.begin(*run_->pool);
    }
    take_record(kind, in, header);
  }
  burst.end();
  if (run_ && run_->inbox) start_orders();
  if (!in.good()) write_text(outgoing(), RecordKind::kDamaged, "a record that ends too early");
  if (run_ && header.run == run_->number && header.sequence != 0) run_->received = header.sequence;
}

void RankServer::take_record(RecordKind kind, FrameReader& in, const FrameHeader& header) {
  switch (kind) {
    case RecordKind::kWelcome:
      master_ = read_hello(in);
      break;
    case RecordKind::kBegin:
      begin(header.run, read_begin(in));
      break;
    case RecordKind::kParameters:
      take_parameters(read_parameters(in));
      break;
    case RecordKind::kOrder:
      take_order(read_order(in));
      break;
    case RecordKind::kStop: {
      const Stop stop = read_stop(in);
      const bool known = stop.worker.value >= 0 && stop.worker.value < run_->workers;
      if (known && run_->inbox) run_->inbox->stop(stop.worker, stop.round);
      if (known && run_->transport) run_->transport->stop(stop.worker, stop.round);
      break;
    }
    case RecordKind::kEnd:
      run_.reset();
      break;
    case RecordKind::kLeave:
      code_ = in.get<int>();
      left_ = std::chrono::steady_clock::now();
      if (frame_) send_outgoing(*left_);
      run_.reset();
      outgoing().put(RecordKind::kLeaving);
      break;
    case RecordKind::kGo:
      go_ = in.get<int>() != 0;
      break;
    default:
      if (run_ && run_->map && run_->map->shards() >= link_.rank()) {
        return take_shard_record(kind, in);
      }
      write_text(outgoing(), RecordKind::kDamaged, "a record that a master never sends");
      while (!in.done()) in.get<std::byte>();
  }
}

void RankServer::take_shard_record(RecordKind kind, FrameReader& in) {
  Expected<void> done;
  if (run_->shard) done = run_->shard->carry_out(kind, in);
  if (!done) fail(done.error().message);
  if (!run_->shard) in.skip_rest();
}

/// What servers and ranks that host workers tell each other. It has no place in the order of what
/// the master says: frames of a run may come before the master has begun it here.
void RankServer::take_frame_of_peer(int from, const Bytes& bytes) {
  auto frame = open_frame(bytes);
  if (!frame) return write(outgoing(), DamagedBy{from, frame.error().message});
  const FrameHeader& header = frame->header;
  if (header.run > newest_run_) return early_.push_back({from, bytes});
  if (!run_ || header.run != run_->number) return;
  FrameReader& in = frame->records;
  while (run_ && !in.done()) take_record_of_peer(from, in.get<RecordKind>(), in);
  if (run_ && run_->inbox) start_orders();
}

void RankServer::take_record_of_peer(int from, RecordKind kind, FrameReader& in) {
  if (kind == RecordKind::kAnswer && run_->shard) {
    auto taken = run_->shard->take_answer(in);
    if (!taken) fail(taken.error().message);
  } else if (kind == RecordKind::kSlice && run_->inbox) {
    const ReadParameters slice = read_parameters(in);
    if (in.good() && run_->inbox->take(from, slice)) return;
    write(outgoing(), DamagedBy{from, "a slice that does not fit"});
  } else {
    if (run_->shard || run_->inbox) {
      write(outgoing(), DamagedBy{from, "a record that it never sends"});
    }
    in.skip_rest();
  }
}

void RankServer::begin(std::uint32_t number, Begin begin) {
  if (number <= newest_run_) return;
  newest_run_ = number;
  run_.reset();
  Run& run = run_.emplace(number);
  run.workers = begin.workers;
  run.message_type = begin.layout.message_type;
  run.models.resize(options_.sources->size());
  if (begin.servers.count > 0) {
    const std::size_t length = options_.sources->at(0)->length();
    run.map.emplace(length, begin.layout.shape, begin.servers.count);
    if (link_.rank() <= begin.servers.count) return begin_shard(std::move(begin));
    run.inbox.emplace(*run.map, run.models.size());
    run.to_servers.resize(static_cast<std::size_t>(begin.servers.count));
  }
  try {
    run.pool.emplace(options_.compute_slots, *options_.sources);
  } catch (const std::system_error& error) {
    return fail(
        fmt::format("cannot start {} compute threads: {}", options_.compute_slots, error.what()));
  }
  run.transport.emplace(
      *run.pool, begin.workers, std::move(begin.layout), *options_.sampler, options_.delays);
  for (Early& early : std::exchange(early_, {})) take_frame_of_peer(early.from, early.frame);
}

void RankServer::begin_shard(Begin begin) {
  if (options_.optimizers == nullptr || options_.optimizers->size() != options_.sources->size()) {
    return fail("a rank without optimizers cannot be a parameter server");
  }
  ShardServerOptions options;
  options.run = run_->number;
  options.server = link_.rank();
  options.length = run_->map->length();
  options.begin = std::move(begin);
  options.to_master = [this]() -> FrameWriter& { return next_record(); };
  run_->shard.emplace(link_, std::move(options), *options_.optimizers);
}

void RankServer::take_parameters(ReadParameters read) {
  if (read.model.value < 0 || read.model.index() >= run_->models.size()) return;
  Model& model = run_->models[read.model.index()];
  model.version = read.version;
  model.values = std::make_shared<const std::vector<float>>(std::move(read.values));
}

/// An order whose parameters did not arrive whole is one that did not arrive: no answer.
void RankServer::take_order(Order order) {
  if (!run_->transport || order.worker.value < 0 || order.worker.value >= run_->workers) return;
  if (run_->inbox) {
    run_->inbox->hold(std::move(order));  // those that may begin do at the end of the frame
    return;
  }
  std::vector<Parameters> parameters;
  for (const Task& task : order.tasks) {
    if (task.row.terms().empty()) {
      parameters.push_back(nullptr);
      continue;
    }
    if (task.model.value < 0 || task.model.index() >= run_->models.size()) return;
    const Model& model = run_->models[task.model.index()];
    if (model.version != task.reads) return;
    parameters.push_back(model.values);
  }
  run_->transport->send(std::move(order), std::move(parameters));
}

/// Begins the orders whose parameters are here.
void RankServer::start_orders() {
  if (!run_->transport) return;
  ComputePool::Burst burst;
  burst.begin(*run_->pool);
  while (auto ready = run_->inbox->next()) {
    run_->transport->send(std::move(ready->order), std::move(ready->parameters));
  }
}

/// Writes the answers that are ready by `deadline`, waiting for the first. @return whether any was
bool RankServer::deliver(SteadyTime deadline) {
  bool any = false;
  while (run_ && run_->transport) {
    const auto found = run_->transport->receive(deadline, delivery_);
    if (!found) {
      fail(found.error().message);
      return true;
    }
    if (!*found) break;
    any = true;
    answer();
    deadline = SteadyTime::clock::now();
  }
  return any;
}

void RankServer::answer() {
  if (!holds_answers()) answers_since_ = std::chrono::steady_clock::now();
  if (run_->inbox && !delivery_.messages.empty()) return answer_to_servers();
  FrameWriter& out = outgoing();
  write(out, AnswerHead{delivery_.result, delivery_.messages.size()});
  for (Delivery::Message& message : delivery_.messages) {
    write_message(out, message.id.task, message.made, run_->message_type);
    run_->transport->recycle(std::move(message.made.values));
  }
  delivery_.messages.clear();
  if (out.size() > kFrameBytes) send_outgoing(std::chrono::steady_clock::now());
}

/// Each server gets its slice of every message. They tell the master.
void RankServer::answer_to_servers() {
  const ShardMap& map = *run_->map;
  for (int server = 1; server <= map.shards(); ++server) {
    ToServer& to = run_->to_servers[static_cast<std::size_t>(server - 1)];
    if (!to.frame) {
      to.frame = ring_.take();
      to.writer.emplace(*to.frame);
    }
    write(*to.writer, AnswerHead{delivery_.result, delivery_.messages.size()});
  }
  bool full = false;
  for (Delivery::Message& message : delivery_.messages) {
    const int exponent = packing_exponent(run_->message_type, message.made.values);
    slice_.loss = message.made.loss;
    slice_.samples = message.made.samples;
    for (int server = 1; server <= map.shards(); ++server) {
      FrameWriter& out = *run_->to_servers[static_cast<std::size_t>(server - 1)].writer;
      map.cut(std::span<const float>(message.made.values),
              server - 1,
              map.shape().pieces(),
              slice_.values);
      write_message(out, message.id.task, slice_, run_->message_type, exponent);
      full = full || out.size() > kFrameBytes;
    }
    run_->transport->recycle(std::move(message.made.values));
  }
  delivery_.messages.clear();
  if (full) send_to_servers();
}

bool RankServer::holds_answers() const {
  return frame_ != nullptr ||
         (run_ && !run_->to_servers.empty() && run_->to_servers[0].frame != nullptr);
}

void RankServer::send_to_servers() {
  if (!run_) return;
  for (std::size_t k = 0; k < run_->to_servers.size(); ++k) {
    ToServer& to = run_->to_servers[k];
    if (!to.frame) continue;
    to.writer.reset();
    seal(*to.frame, {.run = run_->number});
    link_.send(static_cast<int>(k) + 1, std::exchange(to.frame, nullptr));
  }
}

/// The run cannot go on: the master ends it.
void RankServer::fail(const std::string& why) {
  write_text(outgoing(), RecordKind::kFailed, why);
  send_outgoing(std::chrono::steady_clock::now());
  run_->transport.reset();
  run_->shard.reset();
}

/// Where the next record goes if there may be many of them.
FrameWriter& RankServer::next_record() {
  if (frame_ && writer_->size() > kFrameBytes) send_outgoing(std::chrono::steady_clock::now());
  return outgoing();
}

FrameWriter& RankServer::outgoing() {
  if (!frame_) {
    frame_ = ring_.take();
    writer_.emplace(*frame_);
  }
  return *writer_;
}

/// Sends what has been written; without anything, a sign of life when one is due.
void RankServer::send_outgoing(SteadyTime now) {
  send_to_servers();
  if (run_ && run_->transport && run_->transport->overruns() != run_->overruns) {
    run_->overruns = run_->transport->overruns();
    write_number(outgoing(), RecordKind::kOverruns, run_->overruns);
  }
  if (!frame_) {
    const bool due =
        now - spoken_ >= kHeartbeat || (owes_since_ && now - *owes_since_ >= kAcknowledgeAfter);
    if (!due || link_.unsent() >= kMostUnsent) return;
    outgoing();
  }
  FrameHeader header;
  if (run_) {
    header.run = run_->number;
    header.acknowledged = run_->received;
  }
  writer_.reset();
  seal(*frame_, header);
  link_.send(0, std::exchange(frame_, nullptr));
  owes_since_.reset();
  spoken_ = now;
}

/// Whether to wait for more answers before those at hand are sent: where many come within a moment
/// a frame for each would cost more than the answers.
bool RankServer::gathers(SteadyTime now) const {
  return holds_answers() && run_ && run_->transport && run_->transport->outstanding() > 0 &&
         now - answers_since_ < kGather;
}

/// Until something may have happened: answers wake it, frames do not.
void RankServer::rest(SteadyTime now) {
  const auto sleep = pause_.next(now, kNoDeadline, link_.moving());
  if (holds_answers()) return std::this_thread::sleep_for(answers_since_ + kGather - now);
  if (sleep.count() == 0) return;
  if (!run_ || !run_->transport) return std::this_thread::sleep_for(sleep);
  if (deliver(now + sleep)) pause_.reset();
}

std::optional<Expected<int>> RankServer::ended(SteadyTime now) {
  if (!told_ && options_.interrupted != nullptr && *options_.interrupted) told_ = now;
  if (code_ && (go_ || now - *left_ > (told_ ? kLeavingWhenTold : kLeaving))) {
    link_.leave(go_.value_or(false));
    return *code_;
  }
  if (told_ && now - *told_ > kTold) return Unexpected(interruption());
  if (now - std::max(heard_, looked_) < kMasterLookedFor) return std::nullopt;
  looked_ = now;
  const bool here = master_ && master_->machine == machine_of_this_process();
  if (here && !process_is_there(master_->pid)) {
    return failed(fmt::format("the master (pid {}) has died", master_->pid));
  }
  const Seconds limit = options_.master_limit > Seconds{0}
                            ? options_.master_limit
                            : std::max(kLeastMasterLimit, kMasterTimesLongest * longest_silence_);
  if (now - heard_ > limit) {
    return failed(fmt::format("the master has been silent for {:g} s", limit.count()));
  }
  return std::nullopt;
}

}  // namespace paceline
