#include "cluster/records.hpp"

#include <algorithm>
#include <array>

namespace paceline {
namespace {

constexpr std::size_t kTermBytes = 24;
constexpr std::size_t kTaskBytes = 28;
constexpr double kBegins = -1;         // instead of Order::ahead, where a list begins
constexpr std::size_t kPacked = 2048;  // numbers that are packed at once

Row read_row(FrameReader& in) {
  std::vector<Term> terms(in.get_count(kTermBytes));
  for (Term& term : terms) {
    term.chunk.value = in.get<int>();
    term.weight = in.get<double>();
    term.part = in.get<int>();
    term.segment = in.get<int>();
    term.count = in.get<int>();
  }
  return Row(std::move(terms));
}

}  // namespace

void write(FrameWriter& out, RecordKind kind, const Hello& hello) {
  out.put(kind);
  out.put(hello.protocol);
  out.put_text(hello.version);
  out.put(hello.options);
  out.put(hello.data);
  out.put_text(hello.host);
  out.put_text(hello.machine);
  out.put(hello.pid);
  out.put_text(hello.refusal);
}

Hello read_hello(FrameReader& in) {
  Hello hello;
  hello.protocol = in.get<std::uint32_t>();
  hello.version = in.get_text();
  if (hello.protocol != kProtocol) return hello;
  hello.options = in.get<std::uint64_t>();
  hello.data = in.get<std::uint64_t>();
  hello.host = in.get_text();
  hello.machine = in.get_text();
  hello.pid = in.get<int>();
  hello.refusal = in.get_text();
  return hello;
}

void write(FrameWriter& out, const Begin& begin) {
  out.put(RecordKind::kBegin);
  out.put(begin.workers);
  out.put(begin.layout.shape.parts);
  out.put(begin.layout.shape.segments);
  out.put(begin.layout.micro_batch);
  out.put(begin.layout.message_type);
  out.put(begin.servers.count);
  out.put(begin.servers.batch_size);
  out.put(begin.servers.skip_above);
  out.put(begin.servers.verify);
  out.put(static_cast<std::uint32_t>(begin.layout.chunk_borders.size()));
  out.put_all(std::span<const int>(begin.layout.chunk_borders));
}

Begin read_begin(FrameReader& in) {
  Begin begin;
  begin.workers = in.get<int>();
  begin.layout.shape.parts = in.get<int>();
  begin.layout.shape.segments = in.get<int>();
  begin.layout.micro_batch = in.get<int>();
  begin.layout.message_type = in.get<MessageType>();
  begin.servers.count = in.get<int>();
  begin.servers.batch_size = in.get<int>();
  begin.servers.skip_above = in.get<double>();
  begin.servers.verify = in.get<int>();
  begin.layout.chunk_borders.resize(in.get_count(sizeof(int)));
  in.get_all(std::span<int>(begin.layout.chunk_borders));
  return begin;
}

void write_parameters(FrameWriter& out,
                      ModelId model,
                      Version version,
                      std::span<const float> values,
                      RecordKind kind) {
  out.put(kind);
  out.put(model.value);
  out.put(version.value);
  out.put(static_cast<std::uint32_t>(values.size()));
  out.put_all(values);
}

ReadParameters read_parameters(FrameReader& in) {
  ReadParameters read;
  read.model.value = in.get<int>();
  read.version.value = in.get<int>();
  read.values.resize(in.get_count(sizeof(float)));
  in.get_all(std::span<float>(read.values));
  return read;
}

void write(FrameWriter& out, const Order& order) {
  out.put(RecordKind::kOrder);
  out.put(order.worker.value);
  out.put(order.round.value);
  out.put(order.dispatch);
  out.put(order.age.count());
  out.put(order.waited.count());
  out.put(order.ahead.value_or(kBegins));
  out.put(static_cast<std::uint32_t>(order.tasks.size()));
  for (const Task& task : order.tasks) {
    out.put(task.id.task);
    out.put(task.job.value);
    out.put(task.model.value);
    out.put(task.reads.value);
    out.put(task.load);
    out.put(static_cast<std::uint32_t>(task.row.terms().size()));
    for (const Term& term : task.row.terms()) {
      out.put(term.chunk.value);
      out.put(term.weight);
      out.put(term.part);
      out.put(term.segment);
      out.put(term.count);
    }
  }
}

Order read_order(FrameReader& in) {
  Order order;
  order.worker.value = in.get<int>();
  order.round.value = in.get<int>();
  order.dispatch = in.get<int>();
  order.age = Seconds{in.get<double>()};
  order.waited = Seconds{in.get<double>()};
  if (const auto ahead = in.get<double>(); ahead != kBegins) order.ahead = ahead;
  order.tasks.resize(in.get_count(kTaskBytes));
  for (Task& task : order.tasks) {
    task.id = {order.worker, order.round, in.get<int>()};
    task.job.value = in.get<int>();
    task.model.value = in.get<int>();
    task.reads.value = in.get<int>();
    task.load = in.get<double>();
    task.row = read_row(in);
  }
  return order;
}

void write(FrameWriter& out, const Stop& stop) {
  out.put(RecordKind::kStop);
  out.put(stop.worker.value);
  out.put(stop.round.value);
}

Stop read_stop(FrameReader& in) {
  Stop stop;
  stop.worker.value = in.get<int>();
  stop.round.value = in.get<int>();
  return stop;
}

void write(FrameWriter& out, const AnswerHead& answer) {
  out.put(RecordKind::kAnswer);
  out.put(answer.result.worker.value);
  out.put(answer.result.round.value);
  out.put(answer.result.dispatch);
  out.put(answer.result.compute.count());
  out.put(answer.result.waited.count());
  out.put(static_cast<std::uint32_t>(answer.messages));
}

AnswerHead read_answer(FrameReader& in) {
  AnswerHead answer;
  answer.result.worker.value = in.get<int>();
  answer.result.round.value = in.get<int>();
  answer.result.dispatch = in.get<int>();
  answer.result.compute = Seconds{in.get<double>()};
  answer.result.waited = Seconds{in.get<double>()};
  answer.messages = in.get_count(1);
  return answer;
}

void write_message(FrameWriter& out, int task, const MadeMessage& made, MessageType type) {
  write_message(out, task, made, type, packing_exponent(type, made.values));
}

void write_message(
    FrameWriter& out, int task, const MadeMessage& made, MessageType type, int exponent) {
  const std::span<const float> values(made.values);
  out.put(task);
  out.put(made.loss);
  out.put(made.samples);
  out.put(exponent);
  out.put(static_cast<std::uint32_t>(values.size()));
  if (!is_packed(type)) return out.put_all(values);
  std::array<std::uint16_t, kPacked> codes;
  for (std::size_t begin = 0; begin < values.size(); begin += kPacked) {
    const auto block = values.subspan(begin, std::min(kPacked, values.size() - begin));
    const auto packed = std::span(codes).first(block.size());
    pack(type, exponent, block, packed);
    out.put_all(std::span<const std::uint16_t>(packed));
  }
}

MessageHead read_message(FrameReader& in, MessageType type) {
  MessageHead head;
  head.task = in.get<int>();
  head.loss = in.get<double>();
  head.samples = in.get<int>();
  head.exponent = in.get<int>();
  head.length = in.get_count(bytes_of(type));
  return head;
}

void read_values(FrameReader& in,
                 const MessageHead& head,
                 MessageType type,
                 std::span<float> values) {
  if (!is_packed(type)) return in.get_all(values);
  std::array<std::uint16_t, kPacked> codes;
  for (std::size_t begin = 0; begin < values.size(); begin += kPacked) {
    const auto block = values.subspan(begin, std::min(kPacked, values.size() - begin));
    const auto packed = std::span(codes).first(block.size());
    in.get_all(packed);
    unpack(type, head.exponent, packed, block);
  }
}

void write_text(FrameWriter& out, RecordKind kind, const std::string& text) {
  out.put(kind);
  out.put_text(text);
}

void write_number(FrameWriter& out, RecordKind kind, int number) {
  out.put(kind);
  out.put(number);
}

}  // namespace paceline
