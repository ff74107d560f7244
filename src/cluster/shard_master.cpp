#include "cluster/shard_master.hpp"

#include <utility>

namespace paceline {

ShardMaster::ShardMaster(const ShardMasterOptions& options, Post post)
    : map_(options.length, options.shape, options.servers),
      on_decoded_(options.on_decoded),
      post_(std::move(post)),
      outboxes_(static_cast<std::size_t>(options.servers)) {
  if (options.seed != nullptr) seed(*options.seed);
}

void ShardMaster::seed(const BankState& state) {
  for (int server = 1; server <= servers(); ++server) {
    const BankState slice = cut(map_, state, server - 1);
    for (const auto& model : slice.models) write_model(to(server), model);
    for (const auto& message : slice.messages) write_stored(to(server), message);
    for (const auto& job : slice.open) write_open(to(server), job);
    to(server).put(RecordKind::kSeeded);
  }
}

/// Where the next record for the server goes.
FrameWriter& ShardMaster::to(int server) {
  Outbox& outbox = outboxes_[static_cast<std::size_t>(server - 1)];
  if (outbox.frame && outbox.writer->size() > kFrameBytes) send(server);
  if (!outbox.frame) {
    outbox.frame = ring_.take();
    outbox.writer.emplace(*outbox.frame);
  }
  return *outbox.writer;
}

void ShardMaster::send(int server) {
  Outbox& outbox = outboxes_[static_cast<std::size_t>(server - 1)];
  outbox.writer.reset();
  post_(server, std::exchange(outbox.frame, nullptr));
}

void ShardMaster::flush() {
  for (int server = 1; server <= servers(); ++server) {
    if (outboxes_[static_cast<std::size_t>(server - 1)].frame) send(server);
  }
}

void ShardMaster::apply(const Apply& apply) {
  for (int server = 1; server <= servers(); ++server) write(to(server), apply);
}

void ShardMaster::drop(std::span<const MessageId> messages) {
  if (messages.empty()) return;
  for (int server = 1; server <= servers(); ++server) write_drop(to(server), messages);
}

void ShardMaster::ship(const Ship& ship) {
  for (int server = 1; server <= servers(); ++server) write(to(server), ship);
}

void ShardMaster::settle(int server, std::uint32_t serial, bool take) {
  FrameWriter& out = to(server);
  out.put(take ? RecordKind::kTake : RecordKind::kDiscard);
  out.put(serial);
}

void ShardMaster::collect() {
  collected_.assign(static_cast<std::size_t>(servers()), {});
  missing_ = servers();
  for (int server = 1; server <= servers(); ++server) to(server).put(RecordKind::kCollect);
  flush();
}

Expected<bool> ShardMaster::read(int server, RecordKind kind, FrameReader& in) {
  if (missing_ > 0 &&
      read_state_record(kind, in, collected_[static_cast<std::size_t>(server - 1)])) {
    return true;
  }
  if (kind == RecordKind::kCollected) {
    if (missing_ > 0) --missing_;
    return true;
  }
  if (kind != RecordKind::kDecoded) return false;
  DecodedGradient slice = read_decoded(in);
  if (!in.good()) return true;
  if (auto taken = take_decoded(server, std::move(slice)); !taken) {
    return Unexpected(taken.error());
  }
  return true;
}

Expected<void> ShardMaster::take_decoded(int server, DecodedGradient slice) {
  Assembly& assembly = decoded_[slice.job];
  DecodedGradient& whole = assembly.whole;
  if (whole.gradient.empty()) {
    whole = {slice.job, slice.model, slice.read, {}, {}};
    whole.parameters.resize(map_.length());
    whole.gradient.resize(map_.length());
    assembly.missing = servers();
  }
  const int parts = map_.shape().parts;
  const auto place = [&](const std::vector<float>& from, std::vector<float>& to) {
    map_.place(std::span<const float>(from), server - 1, parts, std::span<float>(to));
  };
  place(slice.parameters, whole.parameters);
  place(slice.gradient, whole.gradient);
  if (--assembly.missing > 0) return {};
  DecodedGradient complete = std::move(whole);
  decoded_.erase(complete.job);
  if (!on_decoded_) return {};
  return on_decoded_(std::move(complete));
}

}  // namespace paceline
