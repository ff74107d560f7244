#include "cluster/rank_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "paceline/check.hpp"

namespace paceline {
namespace {

// A rank may have this much that it has not acknowledged: enough that a quick one never waits,
// little enough that a stopped one holds no memory to speak of. Two frames always may.
constexpr std::size_t kWindowFrames = 32;
constexpr std::size_t kWindowBytes = std::size_t{64} << 20U;

constexpr std::chrono::seconds kSpeakEvery{1};

constexpr int kAnyRank = -1;

bool has_messages(const Task& task) { return !task.row.terms().empty(); }

}  // namespace

RankTransport::RankTransport(Link& link, Peers& peers, RankTransportOptions options)
    : link_(link),
      peers_(peers),
      options_(std::move(options)),
      ranks_(static_cast<std::size_t>(link.ranks() - 1)),
      workers_(static_cast<std::size_t>(options_.workers)) {
  PACELINE_CHECK(options_.workers_per_rank >= 1);
  PACELINE_CHECK(options_.workers <= options_.workers_per_rank * (link.ranks() - first_host()));
  const ShardMasterOptions& servers = options_.servers;
  const Begin begin{
      options_.workers,
      options_.layout,
      {servers.servers, servers.batch_size, servers.skip_above, servers.on_decoded ? 1 : 0}};
  for (int number = 1; number < link_.ranks(); ++number) {
    auto frame = ring_.take();
    FrameWriter out(*frame);
    write(out, begin);
    post(number, std::move(frame));
  }
  if (servers.servers == 0) return;
  shards_.emplace(servers, [this](int number, std::shared_ptr<Bytes> frame) {
    post(number, std::move(frame));
  });
  shards_->flush();
}

RankTransport::~RankTransport() {
  for (int number = 1; number < link_.ranks(); ++number) {
    auto frame = ring_.take();
    FrameWriter out(*frame);
    out.put(RecordKind::kEnd);
    post(number, std::move(frame));
  }
}

void RankTransport::send(Order order, std::vector<Parameters> parameters) {
  PACELINE_CHECK(order.worker.index() < workers_.size());
  PACELINE_CHECK(parameters.size() == order.tasks.size());
  Sent sent;
  sent.round = order.round;
  sent.dispatch = order.dispatch;
  for (const Task& task : order.tasks) {
    if (has_messages(task)) sent.messages.push_back(task.id);
  }
  if (options_.delays != nullptr) {
    const Delay delay = options_.delays->delay(order.drawn(), order.worker);
    sent.never = delay.at(order.ahead.value_or(0) + order.load()) == kNever;
  }
  ++outstanding_;
  workers_[order.worker.index()].push_back(std::move(sent));
  Rank& host = rank(rank_of(order.worker));
  host.backlog.emplace_back(PendingOrder{std::move(order), std::move(parameters)});
}

void RankTransport::stop(WorkerId id, Round round) {
  auto& orders = workers_.at(id.index());
  Rank& host = rank(rank_of(id));
  bool on_wire = false;
  const auto abandoned = std::remove_if(orders.begin(), orders.end(), [&](const Sent& sent) {
    if (sent.round != round) return false;
    on_wire |= sent.on_wire;
    if (sent.gathering) settle(sent.gathering->serials, false);
    return true;
  });
  outstanding_ -= static_cast<int>(orders.end() - abandoned);
  orders.erase(abandoned, orders.end());
  std::erase_if(host.backlog, [&](const auto& entry) {
    const auto* pending = std::get_if<PendingOrder>(&entry);
    return pending != nullptr && pending->order.worker == id && pending->order.round == round;
  });
  if (on_wire) host.backlog.emplace_back(Stop{id, round});
  outstanding_ -= static_cast<int>(std::erase_if(ready_, [&](Ready& ready) {
    const Result& result = ready.delivery.result;
    if (result.worker != id || result.round != round) return false;
    for (auto& message : ready.delivery.messages) recycle(std::move(message.made.values));
    settle(ready.serials, false);
    spare_.push_back(std::move(ready.delivery));
    return true;
  }));
}

bool RankTransport::window_open(const Rank& rank) const {
  const std::size_t frames = rank.unacknowledged.size();
  return frames < 2 || (frames < kWindowFrames && rank.unacknowledged_bytes < kWindowBytes);
}

void RankTransport::flush() {
  for (int number = first_host(); number < link_.ranks(); ++number) flush(number);
  if (shards_) shards_->flush();
}

void RankTransport::flush(int number) {
  Rank& to = rank(number);
  const SteadyTime now = std::chrono::steady_clock::now();
  while (!to.backlog.empty() && window_open(to)) {
    auto frame = ring_.take();
    FrameWriter out(*frame);
    while (!to.backlog.empty() && out.size() < kFrameBytes) {
      if (const auto* pending = std::get_if<PendingOrder>(&to.backlog.front())) {
        send_parameters(number, *pending);
        write(out, pending->order);
        for (Sent& sent : workers_[pending->order.worker.index()]) {
          if (sent.round != pending->order.round || sent.dispatch != pending->order.dispatch) {
            continue;
          }
          sent.on_wire = true;
          sent.sequence = to.sequence + 1;
          sent.at = now;
        }
      } else {
        write(out, std::get<Stop>(to.backlog.front()));
      }
      to.backlog.pop_front();
    }
    post(number, std::move(frame));
  }
}

/// What the order reads and the rank does not have yet.
void RankTransport::send_parameters(int number, const PendingOrder& pending) {
  Rank& to = rank(number);
  for (std::size_t k = 0; k < pending.order.tasks.size(); ++k) {
    const Task& task = pending.order.tasks[k];
    if (!has_messages(task)) continue;
    if (task.model.index() >= to.known.size()) to.known.resize(task.model.index() + 1, Version{-1});
    if (to.known[task.model.index()] == task.reads) continue;
    to.known[task.model.index()] = task.reads;
    if (shards_) {
      shards_->ship({number, task.model, task.reads});
      to.ahead_bytes += shards_->bytes_of_parameters();
      continue;
    }
    PACELINE_CHECK(pending.parameters[k] != nullptr);
    const auto& frame = encode(task.model, task.reads, *pending.parameters[k]);
    to.ahead_bytes += frame->size();
    hand_over(number, frame);
  }
}

const std::shared_ptr<const Bytes>& RankTransport::encode(ModelId model,
                                                          Version version,
                                                          const std::vector<float>& values) {
  if (model.index() >= encoded_.size()) encoded_.resize(model.index() + 1);
  Encoded& known = encoded_[model.index()];
  if (known.version != version) {
    known.frame.reset();
    auto frame = ring_.take();
    FrameWriter out(*frame);
    write_parameters(out, model, version, values);
    seal(*frame, {.run = options_.run});
    known = {version, std::move(frame)};
  }
  return known.frame;
}

/// Sends a frame that the rank shall acknowledge.
void RankTransport::post(int number, std::shared_ptr<Bytes> frame) {
  Rank& to = rank(number);
  FrameHeader header;
  header.run = options_.run;
  header.sequence = ++to.sequence;
  seal(*frame, header);
  const std::size_t bytes = std::exchange(to.ahead_bytes, 0) + frame->size();
  to.unacknowledged.push_back(bytes);
  to.unacknowledged_bytes += bytes;
  hand_over(number, std::move(frame));
}

void RankTransport::hand_over(int number, std::shared_ptr<const Bytes> frame) {
  traffic_.bytes_sent += static_cast<double>(frame->size());
  rank(number).spoken_to = std::chrono::steady_clock::now();
  link_.send(number, std::move(frame));
}

/// Tells ranks that have nothing to do that the master is there; one at a time, so that they do not
/// pile up at a rank that is stopped.
void RankTransport::speak_to_quiet_ranks(SteadyTime now) {
  for (int number = 1; number < link_.ranks(); ++number) {
    Rank& to = rank(number);
    if (!to.heard_since || now - to.spoken_to < kSpeakEvery) continue;
    to.heard_since = false;
    auto frame = ring_.take();
    FrameWriter out(*frame);  // without records
    seal(*frame, {.run = options_.run});
    hand_over(number, std::move(frame));
  }
}

Expected<bool> RankTransport::receive(SteadyTime deadline, Delivery& out) {
  flush();
  Pause pause;
  for (;;) {
    if (failure_) return Unexpected(*failure_);
    if (!ready_.empty() && ready_.front().at <= deadline) {
      std::swap(out, ready_.front().delivery);
      spare_.push_back(std::move(ready_.front().delivery));
      settle(ready_.front().serials, true);
      ready_.pop_front();
      --outstanding_;
      return true;
    }
    const SteadyTime now = std::chrono::steady_clock::now();
    poll(now);
    if (!ready_.empty() || failure_) {
      if (ready_.empty() || now <= deadline) continue;
      return false;
    }
    if (now >= deadline || (deadline == kNoDeadline && !awaits_answer())) return false;
    std::this_thread::sleep_for(pause.next(now, deadline, link_.moving()));
  }
}

void RankTransport::poll(SteadyTime now) {
  int from = 0;
  while (link_.receive(from, incoming_)) take_frame(from, now);
  peers_.listened(now);
  look_at_servers();
  speak_to_quiet_ranks(now);
  flush();  // windows may have opened
}

void RankTransport::take_frame(int from, SteadyTime now) {
  traffic_.bytes_received += static_cast<double>(incoming_.size());
  auto frame = open_frame(incoming_);
  if (!frame) {
    damaged(from, frame.error().message);
    // What it sends when it is asked for all that it holds is not sent twice.
    if (is_server(from) && !shards_->collected()) {
      lose_server(fmt::format(
          "parameters that {} sent arrived damaged: {}", peers_.name(from), frame.error().message));
    }
    return;
  }
  peers_.heard(from, now);
  Rank& sender = rank(from);
  sender.heard_since = true;
  const bool before_run = is_server(from) && frame->header.run == 0;
  if (frame->header.run != options_.run && !before_run) {
    if (frame->header.run != 0) ++traffic_.late;
    return;
  }
  acknowledge(sender, frame->header.acknowledged);
  FrameReader& in = frame->records;
  while (!in.done()) {
    const auto kind = in.get<RecordKind>();
    if (shards_ && take_server_record(from, kind, in, now)) continue;
    switch (kind) {
      case RecordKind::kAnswer:
        take_answer(from, in, now);
        break;
      case RecordKind::kOverruns:
        sender.overruns = in.get<int>();
        break;
      case RecordKind::kFailed:
        if (!failure_) failure_ = Error{ErrorCode::kFailed, in.get_text()};
        break;
      case RecordKind::kDamaged:
        damaged(from, "it says of one to it: " + in.get_text());
        break;
      default:
        return damaged(from, "a record that a worker never sends");
    }
  }
  if (!in.good()) damaged(from, "a record that ends too early");
}

void RankTransport::acknowledge(Rank& rank, std::uint32_t sequence) {
  while (rank.acknowledged < sequence && !rank.unacknowledged.empty()) {
    ++rank.acknowledged;
    rank.unacknowledged_bytes -= rank.unacknowledged.front();
    rank.unacknowledged.pop_front();
  }
}

void RankTransport::take_answer(int from, FrameReader& in, SteadyTime now) {
  const AnswerHead head = read_answer(in);
  Sent* const sent = outstanding_order(from, head.result);
  if (sent == nullptr || sent->messages.size() != head.messages) return drop_messages(head, in);
  const Sent order = forget(head.result.worker, sent);
  take_messages(order, head, in, now);
}

/// The order that a worker of that rank answers; nullptr: nobody waits for it.
RankTransport::Sent* RankTransport::outstanding_order(int host, const Result& result) {
  const WorkerId worker = result.worker;
  if (worker.value < 0 || worker.value >= options_.workers) return nullptr;
  if (host != kAnyRank && rank_of(worker) != host) return nullptr;
  auto& orders = workers_[worker.index()];
  const auto sent = std::find_if(orders.begin(), orders.end(), [&](const Sent& order) {
    return order.round == result.round && order.dispatch == result.dispatch;
  });
  return sent == orders.end() ? nullptr : &*sent;
}

/// Takes the order out of those outstanding.
RankTransport::Sent RankTransport::forget(WorkerId worker, Sent* sent) {
  auto& orders = workers_[worker.index()];
  Sent order = std::move(*sent);
  orders.erase(std::find_if(
      orders.begin(), orders.end(), [&](const Sent& other) { return &other == sent; }));
  return order;
}

Delivery RankTransport::new_delivery(const Result& result) {
  Delivery delivery;
  if (!spare_.empty()) {
    delivery = std::move(spare_.back());
    spare_.pop_back();
    delivery.messages.clear();
  }
  delivery.result = result;
  return delivery;
}

/// What a server says. @return false if it is no record of a server alone
bool RankTransport::take_server_record(int from, RecordKind kind, FrameReader& in, SteadyTime now) {
  if (kind == RecordKind::kDamagedBy) {
    const DamagedBy read = read_damaged_by(in);
    damaged_between(from, read.rank, read.how);
    return true;
  }
  if (!is_server(from)) return false;
  if (kind == RecordKind::kReport) {
    const Report report = read_report(in);
    if (in.good()) take_report(from, report, now);
    return true;
  }
  if (kind == RecordKind::kFailed || kind == RecordKind::kDamaged) {
    const std::string text = in.get_text();
    lose_server(kind == RecordKind::kFailed ? text
                                            : fmt::format("{} has got a damaged message of the "
                                                          "master: {}",
                                                          peers_.name(from),
                                                          text));
    return true;
  }
  const auto read = shards_->read(from, kind, in);
  if (read) return *read;
  if (!failure_) failure_ = read.error();
  return true;
}

/// An answer has come when all servers have their slices of it.
void RankTransport::take_report(int server, const Report& report, SteadyTime now) {
  Sent* const sent = outstanding_order(kAnyRank, report.result);
  const auto index = static_cast<std::size_t>(server - 1);
  const bool wanted = sent != nullptr && sent->messages.size() == report.messages.size() &&
                      (!sent->gathering || sent->gathering->serials[index] == 0);
  if (!wanted) {
    if (server == 1) ++traffic_.late;
    return shards_->settle(server, report.serial, false);
  }
  if (!sent->gathering) {
    sent->gathering = std::make_unique<Gathering>();
    sent->gathering->serials.resize(static_cast<std::size_t>(shards_->servers()));
    sent->gathering->missing = shards_->servers();
    sent->gathering->messages.resize(report.messages.size());
  }
  Gathering& gathering = *sent->gathering;
  gathering.serials[index] = report.serial;
  const auto pieces = static_cast<std::size_t>(options_.layout.shape.pieces());
  for (std::size_t k = 0; k < report.messages.size(); ++k) {
    const Report::Message& reported = report.messages[k];
    MadeMessage& made = gathering.messages[k];
    made.loss = reported.loss;
    made.samples = reported.samples;
    made.values.resize(pieces);
    if (!reported.finite) {
      std::fill(made.values.begin(), made.values.end(), std::numeric_limits<float>::quiet_NaN());
    }
  }
  if (--gathering.missing > 0) return;
  Sent order = forget(report.result.worker, sent);
  Delivery delivery = new_delivery(report.result);
  for (std::size_t k = 0; k < order.messages.size(); ++k) {
    delivery.messages.push_back({order.messages[k], std::move(order.gathering->messages[k])});
  }
  peers_.responded(now - order.at);
  ready_.push_back({now, std::move(delivery), std::move(order.gathering->serials)});
}

/// Tells each server what to do with its slices of an answer.
void RankTransport::settle(const std::vector<std::uint32_t>& serials, bool take) {
  for (std::size_t k = 0; k < serials.size(); ++k) {
    if (serials[k] != 0) shards_->settle(static_cast<int>(k) + 1, serials[k], take);
  }
}

void RankTransport::discard(const Delivery& delivery) {
  if (!shards_) return;
  std::vector<MessageId> ids;
  for (const auto& message : delivery.messages) ids.push_back(message.id);
  shards_->drop(ids);
}

/// A run cannot go on without any of its servers.
void RankTransport::look_at_servers() {
  for (int number = 1; number < first_host(); ++number) {
    if (servers_fine_ && peers_.lost(number)) {
      lose_server(fmt::format("{} {}, and its part of the parameters is lost",
                              peers_.name(number),
                              peers_.gone(number) ? "has died" : "is silent"));
    }
  }
}

void RankTransport::lose_server(const std::string& why) {
  servers_fine_ = false;
  if (!failure_) failure_ = Error{ErrorCode::kFailed, why};
}

Expected<BankState> RankTransport::collect() {
  for (int number = 1; number < first_host(); ++number) {
    if (servers_fine_ && peers_.gone(number)) {
      lose_server(
          fmt::format("{} has died, and its part of the parameters is lost", peers_.name(number)));
    }
  }
  if (servers_fine_) shards_->collect();
  Pause pause;
  while (servers_fine_ && !shards_->collected()) {
    const SteadyTime now = std::chrono::steady_clock::now();
    poll(now);
    std::this_thread::sleep_for(pause.next(now, kNoDeadline, link_.moving()));
  }
  if (!servers_fine_) return Unexpected(*failure_);
  return shards_->state();
}

void RankTransport::take_messages(const Sent& sent,
                                  const AnswerHead& head,
                                  FrameReader& in,
                                  SteadyTime now) {
  Delivery delivery = new_delivery(head.result);
  for (const MessageId& id : sent.messages) {
    const MessageHead message = read_message(in, options_.layout.message_type);
    Delivery::Message& taken = delivery.messages.emplace_back();
    taken.id = id;
    taken.made.loss = message.loss;
    taken.made.samples = message.samples;
    if (!buffers_.empty()) {
      taken.made.values = std::move(buffers_.back());
      buffers_.pop_back();
    }
    if (message.length != options_.message_length) {
      failure_ = Error{ErrorCode::kFailed,
                       fmt::format("worker {}: a message of {} numbers came where {} were expected",
                                   head.result.worker.value,
                                   message.length,
                                   options_.message_length)};
      return;
    }
    taken.made.values.resize(message.length);
    read_values(in, message, options_.layout.message_type, taken.made.values);
  }
  peers_.responded(now - sent.at);
  ready_.push_back({now, std::move(delivery)});
}

void RankTransport::drop_messages(const AnswerHead& head, FrameReader& in) {
  ++traffic_.late;
  const MessageType type = options_.layout.message_type;
  for (std::size_t k = 0; k < head.messages && in.good(); ++k) {
    in.skip(read_message(in, type).length * bytes_of(type));
  }
}

void RankTransport::damaged(int from, const std::string& how) {
  ++traffic_.damaged;
  rank(from).damaged_at = std::chrono::steady_clock::now();
  if (options_.notice) {
    options_.notice(fmt::format("a message of {} is dropped: {}", peers_.name(from), how));
  }
}

/// A frame from the one to the other is lost: an order that waits for it is astray, and what the
/// rank needs is sent again with the next one.
void RankTransport::damaged_between(int rank, int other, const std::string& how) {
  ++traffic_.damaged;
  if (options_.notice) {
    options_.notice(
        fmt::format("a message of rank {} to {} is dropped: {}", other, peers_.name(rank), how));
  }
  for (const int number : {rank, other}) {
    if (number < first_host() || number >= link_.ranks()) continue;
    Rank& host = ranks_[static_cast<std::size_t>(number - 1)];
    host.damaged_at = std::chrono::steady_clock::now();
    host.known.clear();
  }
}

/// Whether the order or its answer must have been in a damaged frame: the rank speaks, and for as
/// long as it may be silent it has not acknowledged the order, or not answered it although a frame
/// was damaged since.
bool RankTransport::went_astray(int number, const Sent& sent) const {
  const Rank& to = ranks_[static_cast<std::size_t>(number - 1)];
  if (!sent.on_wire || Seconds(peers_.last_heard(number) - sent.at) <= peers_.limit()) return false;
  if (sent.sequence > to.acknowledged || (to.damaged_at && sent.at <= *to.damaged_at)) return true;
  for (int server = 1; server < first_host(); ++server) {  // a report may have been in its frame
    const auto& damaged_at = ranks_[static_cast<std::size_t>(server - 1)].damaged_at;
    if (damaged_at && sent.at <= *damaged_at) return true;
  }
  return false;
}

bool RankTransport::awaits_answer() {
  if (!ready_.empty()) return true;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const int host = rank_of(WorkerId{static_cast<int>(i)});
    if (peers_.lost(host)) continue;
    for (const Sent& sent : workers_[i]) {
      if (sent.never) break;  // and whatever is queued behind it
      if (!went_astray(host, sent)) return true;
    }
  }
  return false;
}

std::string RankTransport::losses() const {
  std::string text = peers_.losses();
  for (int number = 1; number < link_.ranks(); ++number) {
    if (peers_.lost(number)) continue;
    std::ptrdiff_t orders = 0;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (rank_of(WorkerId{static_cast<int>(i)}) != number) continue;
      orders += std::ranges::count_if(workers_[i],
                                      [&](const Sent& sent) { return went_astray(number, sent); });
    }
    if (orders == 0) continue;
    text += fmt::format("{}{} order{} to {} went astray in damaged messages",
                        text.empty() ? "" : ", ",
                        orders,
                        orders == 1 ? "" : "s",
                        peers_.name(number));
  }
  return text;
}

int RankTransport::overruns() const {
  int total = 0;
  for (const Rank& rank : ranks_) total += rank.overruns;
  return total;
}

}  // namespace paceline
