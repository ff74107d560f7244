#include "cluster/shard_server.hpp"

#include <fmt/format.h>

#include <utility>

#include "paceline/kernels.hpp"

namespace paceline {
namespace {

ModelBank empty_bank(const ShardMap& map,
                     const ShardServerOptions& options,
                     const std::vector<std::unique_ptr<Optimizer>>& optimizers) {
  const std::size_t length = map.slice_length(options.server - 1);
  std::vector<std::vector<float>> initial(optimizers.size(), std::vector<float>(length));
  std::vector<std::unique_ptr<Optimizer>> own;
  for (const auto& optimizer : optimizers) own.push_back(optimizer->clone());
  const Begin& begin = options.begin;
  return {{.length = length,
           .shape = begin.layout.shape,
           .batch_size = begin.servers.batch_size,
           .skip_above = begin.servers.skip_above},
          std::move(initial),
          std::move(own)};
}

}  // namespace

ShardServer::ShardServer(Link& link,
                         ShardServerOptions options,
                         const std::vector<std::unique_ptr<Optimizer>>& optimizers)
    : link_(link),
      options_(std::move(options)),
      map_(options_.length, options_.begin.layout.shape, options_.begin.servers.count),
      bank_(empty_bank(map_, options_, optimizers)),
      encoded_(optimizers.size()) {
  bank_.keep_gradient(options_.begin.servers.verify != 0);
}

Expected<void> ShardServer::carry_out(RecordKind kind, FrameReader& in) {
  if (seed_ && read_state_record(kind, in, *seed_)) return {};
  switch (kind) {
    case RecordKind::kSeeded:
      return begin_with_seed();
    case RecordKind::kTake:
      return take(in.get<std::uint32_t>());
    case RecordKind::kDiscard:
      discard(in.get<std::uint32_t>());
      return {};
    case RecordKind::kApply:
      return apply(read_apply(in));
    case RecordKind::kDrop:
      drop(read_drop(in));
      return {};
    case RecordKind::kShip:
      return ship(read_ship(in));
    case RecordKind::kCollect:
      send_state();
      return {};
    default:
      return failed("a record that a master never sends to a parameter server");
  }
}

Expected<void> ShardServer::begin_with_seed() {
  const BankState seed = *std::exchange(seed_, std::nullopt);
  return bank_.restore(seed);
}

Expected<void> ShardServer::take_answer(FrameReader& in) {
  const MessageType type = options_.begin.layout.message_type;
  const AnswerHead head = read_answer(in);
  Report report{++serial_, head.result, {}};
  Waiting waiting;
  const std::size_t length = map_.message_length(options_.server - 1);
  for (std::size_t k = 0; k < head.messages; ++k) {
    const MessageHead message = read_message(in, type);
    if (message.length != length) {
      return failed(fmt::format("worker {}: a slice of {} numbers came where {} were expected",
                                head.result.worker.value,
                                message.length,
                                length));
    }
    std::vector<float> values = buffer();
    values.resize(length);
    read_values(in, message, type, values);
    report.messages.push_back({message.task, message.loss, message.samples, all_finite(values)});
    waiting.messages.push_back({{head.result.worker, head.result.round, message.task},
                                std::move(values),
                                message.loss,
                                message.samples});
  }
  if (!in.good()) return failed("an answer that ends too early");
  waiting_.emplace(serial_, std::move(waiting));
  write(options_.to_master(), report);
  return {};
}

Expected<void> ShardServer::take(std::uint32_t serial) {
  auto found = waiting_.extract(serial);
  if (!found) return failed("an answer that counts is not here");
  for (auto& message : found.mapped().messages) {
    bank_.store(message.id, std::move(message.values), message.loss, message.samples);
  }
  return {};
}

void ShardServer::discard(std::uint32_t serial) {
  auto found = waiting_.extract(serial);
  if (!found) return;
  for (auto& message : found.mapped().messages) buffers_.push_back(std::move(message.values));
}

Expected<void> ShardServer::apply(const Apply& apply) {
  const Version read = bank_.version(apply.model);
  const bool verify = options_.begin.servers.verify != 0;
  const Parameters parameters = verify ? bank_.parameters(apply.model) : nullptr;
  const auto applied = bank_.apply(apply);
  if (!applied) return Unexpected(applied.error());
  if (verify && applied->stepped) {
    write(options_.to_master(), apply.job, apply.model, read, *parameters, applied->gradient);
  }
  return {};
}

void ShardServer::drop(std::span<const MessageId> messages) {
  bank_.drop(messages);
  for (auto values = bank_.recycle(); !values.empty(); values = bank_.recycle()) {
    buffers_.push_back(std::move(values));
  }
}

Expected<void> ShardServer::ship(const Ship& ship) {
  if (bank_.version(ship.model) != ship.version) {
    return failed(fmt::format("model {} has {} updates here and {} with the master",
                              ship.model.value,
                              bank_.version(ship.model).value,
                              ship.version.value));
  }
  Encoded& known = encoded_.at(ship.model.index());
  if (known.version != ship.version) {
    known.frame.reset();
    auto frame = ring_.take();
    FrameWriter out(*frame);
    const Parameters values = bank_.parameters(ship.model);
    write_parameters(out, ship.model, ship.version, *values, RecordKind::kSlice);
    seal(*frame, {.run = options_.run});
    known = {ship.version, std::move(frame)};
  }
  link_.send(ship.rank, known.frame);
  return {};
}

void ShardServer::send_state() {
  const BankState state = bank_.state();
  for (const auto& model : state.models) write_model(options_.to_master(), model);
  for (const auto& message : state.messages) write_stored(options_.to_master(), message);
  for (const auto& job : state.open) write_open(options_.to_master(), job);
  options_.to_master().put(RecordKind::kCollected);
}

std::vector<float> ShardServer::buffer() {
  if (buffers_.empty()) return {};
  std::vector<float> values = std::move(buffers_.back());
  buffers_.pop_back();
  return values;
}

}  // namespace paceline
