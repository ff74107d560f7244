#include "cluster/shard_records.hpp"

#include <memory>
#include <utility>

namespace paceline {
namespace {

constexpr std::size_t kIdBytes = 12;
constexpr std::size_t kCoefficientBytes = 28;
constexpr std::size_t kReportedBytes = 20;

template <class T>
void put_array(FrameWriter& out, std::span<const T> values) {
  out.put(static_cast<std::uint32_t>(values.size()));
  out.put_all(values);
}

template <class T>
std::vector<T> get_array(FrameReader& in) {
  std::vector<T> values(in.get_count(sizeof(T)));
  in.get_all(std::span<T>(values));
  return values;
}

void put_id(FrameWriter& out, const MessageId& id) {
  out.put(id.worker.value);
  out.put(id.round.value);
  out.put(id.task);
}

MessageId get_id(FrameReader& in) {
  MessageId id;
  id.worker.value = in.get<int>();
  id.round.value = in.get<int>();
  id.task = in.get<int>();
  return id;
}

void put_ids(FrameWriter& out, std::span<const MessageId> ids) {
  out.put(static_cast<std::uint32_t>(ids.size()));
  for (const MessageId& id : ids) put_id(out, id);
}

std::vector<MessageId> get_ids(FrameReader& in) {
  std::vector<MessageId> ids(in.get_count(kIdBytes));
  for (MessageId& id : ids) id = get_id(in);
  return ids;
}

BankState::Model read_model(FrameReader& in) {
  BankState::Model model;
  model.version.value = in.get<int>();
  model.parameters = std::make_shared<const std::vector<float>>(get_array<float>(in));
  model.optimizer.steps = in.get<long long>();
  model.optimizer.arrays.resize(in.get_count(sizeof(std::uint32_t)));
  for (auto& array : model.optimizer.arrays) array = get_array<float>(in);
  return model;
}

BankState::Message read_stored(FrameReader& in) {
  BankState::Message message;
  message.id = get_id(in);
  message.loss = in.get<double>();
  message.samples = in.get<int>();
  message.values = get_array<float>(in);
  return message;
}

BankState::OpenJob read_open(FrameReader& in) {
  BankState::OpenJob job;
  job.job.value = in.get<int>();
  job.loss = in.get<double>();
  job.samples = in.get<int>();
  job.counted = get_ids(in);
  job.sum = get_array<double>(in);
  return job;
}

}  // namespace

void write_model(FrameWriter& out, const BankState::Model& model) {
  out.put(RecordKind::kModel);
  out.put(model.version.value);
  put_array(out, std::span<const float>(*model.parameters));
  out.put(model.optimizer.steps);
  out.put(static_cast<std::uint32_t>(model.optimizer.arrays.size()));
  for (const auto& array : model.optimizer.arrays) put_array(out, std::span<const float>(array));
}

void write_stored(FrameWriter& out, const BankState::Message& message) {
  out.put(RecordKind::kStored);
  put_id(out, message.id);
  out.put(message.loss);
  out.put(message.samples);
  put_array(out, std::span<const float>(message.values));
}

void write_open(FrameWriter& out, const BankState::OpenJob& job) {
  out.put(RecordKind::kOpen);
  out.put(job.job.value);
  out.put(job.loss);
  out.put(job.samples);
  put_ids(out, job.counted);
  put_array(out, std::span<const double>(job.sum));
}

bool read_state_record(RecordKind kind, FrameReader& in, BankState& state) {
  if (kind == RecordKind::kModel) {
    state.models.push_back(read_model(in));
  } else if (kind == RecordKind::kStored) {
    state.messages.push_back(read_stored(in));
  } else if (kind == RecordKind::kOpen) {
    state.open.push_back(read_open(in));
  } else {
    return false;
  }
  return true;
}

void write(FrameWriter& out, const Apply& apply) {
  out.put(RecordKind::kApply);
  out.put(apply.job.value);
  out.put(apply.model.value);
  out.put(apply.makes.value);
  out.put(apply.sum.residual);
  out.put(apply.sum.amplification);
  out.put(apply.sum.complete ? 1 : 0);
  out.put(static_cast<std::uint32_t>(apply.sum.terms.size()));
  for (const Coefficient& term : apply.sum.terms) {
    put_id(out, term.message);
    out.put(term.weight);
    out.put(term.segment);
    out.put(term.part);
  }
}

Apply read_apply(FrameReader& in) {
  Apply apply;
  apply.job.value = in.get<int>();
  apply.model.value = in.get<int>();
  apply.makes.value = in.get<int>();
  apply.sum.job = apply.job;
  apply.sum.residual = in.get<double>();
  apply.sum.amplification = in.get<double>();
  apply.sum.complete = in.get<int>() != 0;
  apply.sum.terms.resize(in.get_count(kCoefficientBytes));
  for (Coefficient& term : apply.sum.terms) {
    term.message = get_id(in);
    term.weight = in.get<double>();
    term.segment = in.get<int>();
    term.part = in.get<int>();
  }
  return apply;
}

void write_drop(FrameWriter& out, std::span<const MessageId> messages) {
  out.put(RecordKind::kDrop);
  put_ids(out, messages);
}

std::vector<MessageId> read_drop(FrameReader& in) { return get_ids(in); }

void write(FrameWriter& out, const Ship& ship) {
  out.put(RecordKind::kShip);
  out.put(ship.rank);
  out.put(ship.model.value);
  out.put(ship.version.value);
}

Ship read_ship(FrameReader& in) {
  Ship ship;
  ship.rank = in.get<int>();
  ship.model.value = in.get<int>();
  ship.version.value = in.get<int>();
  return ship;
}

void write(FrameWriter& out, const Report& report) {
  out.put(RecordKind::kReport);
  out.put(report.serial);
  out.put(report.result.worker.value);
  out.put(report.result.round.value);
  out.put(report.result.dispatch);
  out.put(report.result.compute.count());
  out.put(report.result.waited.count());
  out.put(static_cast<std::uint32_t>(report.messages.size()));
  for (const Report::Message& message : report.messages) {
    out.put(message.task);
    out.put(message.loss);
    out.put(message.samples);
    out.put(message.finite ? 1 : 0);
  }
}

Report read_report(FrameReader& in) {
  Report report;
  report.serial = in.get<std::uint32_t>();
  report.result.worker.value = in.get<int>();
  report.result.round.value = in.get<int>();
  report.result.dispatch = in.get<int>();
  report.result.compute = Seconds{in.get<double>()};
  report.result.waited = Seconds{in.get<double>()};
  report.messages.resize(in.get_count(kReportedBytes));
  for (Report::Message& message : report.messages) {
    message.task = in.get<int>();
    message.loss = in.get<double>();
    message.samples = in.get<int>();
    message.finite = in.get<int>() != 0;
  }
  return report;
}

void write(FrameWriter& out,
           JobId job,
           ModelId model,
           Version read,
           std::span<const float> parameters,
           std::span<const float> gradient) {
  out.put(RecordKind::kDecoded);
  out.put(job.value);
  out.put(model.value);
  out.put(read.value);
  put_array(out, parameters);
  put_array(out, gradient);
}

DecodedGradient read_decoded(FrameReader& in) {
  DecodedGradient decoded;
  decoded.job.value = in.get<int>();
  decoded.model.value = in.get<int>();
  decoded.read.value = in.get<int>();
  decoded.parameters = get_array<float>(in);
  decoded.gradient = get_array<float>(in);
  return decoded;
}

void write(FrameWriter& out, const DamagedBy& damaged) {
  out.put(RecordKind::kDamagedBy);
  out.put(damaged.rank);
  out.put_text(damaged.how);
}

DamagedBy read_damaged_by(FrameReader& in) {
  DamagedBy damaged;
  damaged.rank = in.get<int>();
  damaged.how = in.get_text();
  return damaged;
}

}  // namespace paceline
