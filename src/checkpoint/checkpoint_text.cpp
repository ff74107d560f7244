#include "checkpoint/checkpoint_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace paceline {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

// Rows of integers: a message as worker, round, task, samples; a message that was counted without
// the last; an event as kind, worker or timer, round, dispatch, studied.
constexpr std::size_t kMessageWidth = 4;
constexpr std::size_t kCountedWidth = 3;
constexpr std::size_t kEventWidth = 5;
constexpr std::size_t kEventTimes = 3;

std::string parameters_name(std::size_t model) { return fmt::format("model.{}.parameters", model); }

std::string optimizer_name(std::size_t model, std::size_t array) {
  return fmt::format("model.{}.optimizer.{}", model, array);
}

std::string message_name(std::size_t k) { return fmt::format("message.{}", k); }

std::string open_name(std::size_t k, const char* what) {
  return fmt::format("open.{}.{}", k, what);
}

MessageId message_id(const int* row) { return {WorkerId{row[0]}, Round{row[1]}, row[2]}; }

void pack_weights(const BankState& bank, Json& models, PackedCheckpoint& out) {
  for (std::size_t m = 0; m < bank.models.size(); ++m) {
    const BankState::Model& model = bank.models[m];
    const OptimizerState& optimizer = model.optimizer;
    out.weights.push_back(view_of<float>(parameters_name(m), *model.parameters));
    for (std::size_t a = 0; a < optimizer.arrays.size(); ++a) {
      out.weights.push_back(view_of<float>(optimizer_name(m, a), optimizer.arrays[a]));
    }
    models.push_back({{"updates", model.version.value},
                      {"optimizer_steps", optimizer.steps},
                      {"optimizer_arrays", optimizer.arrays.size()}});
  }
}

void pack_jobs(const BankState& bank, Json& open, PackedCheckpoint& out) {
  std::vector<int>& messages = out.integers.emplace_back();
  std::vector<double>& losses = out.doubles.emplace_back();
  for (std::size_t k = 0; k < bank.messages.size(); ++k) {
    const BankState::Message& message = bank.messages[k];
    messages.insert(
        messages.end(),
        {message.id.worker.value, message.id.round.value, message.id.task, message.samples});
    losses.push_back(message.loss);
    out.flight.push_back(view_of<float>(message_name(k), message.values));
  }
  for (std::size_t k = 0; k < bank.open.size(); ++k) {
    const BankState::OpenJob& job = bank.open[k];
    std::vector<int>& counted = out.integers.emplace_back();
    for (const MessageId& id : job.counted) {
      counted.insert(counted.end(), {id.worker.value, id.round.value, id.task});
    }
    out.flight.push_back(view_of<double>(open_name(k, "sum"), job.sum));
    out.flight.push_back(view_of<int>(open_name(k, "counted"), counted, kCountedWidth));
    losses.push_back(job.loss);
    open.push_back({{"job", job.job.value}, {"samples", job.samples}});
  }
  out.flight.push_back(view_of<int>("messages", messages, kMessageWidth));
  out.flight.push_back(view_of<double>("losses", losses));
}

void pack_events(const std::vector<LoggedEvent>& events, PackedCheckpoint& out) {
  std::vector<int>& numbers = out.integers.emplace_back();
  std::vector<double>& times = out.doubles.emplace_back();
  numbers.reserve(events.size() * kEventWidth);
  times.reserve(events.size() * kEventTimes);
  for (const LoggedEvent& event : events) {
    const bool arrived = event.kind == LoggedEvent::Kind::kArrived;
    numbers.insert(numbers.end(),
                   {static_cast<int>(event.kind),
                    arrived ? event.result.worker.value : event.timer,
                    event.result.round.value,
                    event.result.dispatch,
                    event.studied});
    times.insert(times.end(),
                 {event.now.count(), event.result.compute.count(), event.result.waited.count()});
  }
  out.flight.push_back(view_of<int>("events", numbers, kEventWidth));
  out.flight.push_back(view_of<double>("event_times", times));
}

Expected<void> unpack_weights(const Json& models, const Tensors& weights, BankState& bank) {
  for (std::size_t m = 0; m < models.size(); ++m) {
    BankState::Model& model = bank.models.emplace_back();
    model.version = Version{models[m].at("updates").get<int>()};
    model.optimizer.steps = models[m].at("optimizer_steps").get<long long>();
    auto parameters = weights.floats(parameters_name(m));
    if (!parameters) return Unexpected(parameters.error());
    model.parameters = std::make_shared<const std::vector<float>>(std::move(*parameters));
    const auto arrays = models[m].at("optimizer_arrays").get<std::size_t>();
    for (std::size_t a = 0; a < arrays; ++a) {
      auto array = weights.floats(optimizer_name(m, a));
      if (!array) return Unexpected(array.error());
      model.optimizer.arrays.push_back(std::move(*array));
    }
  }
  return {};
}

Expected<void> unpack_jobs(const Json& open, const Tensors& flight, BankState& bank) {
  const auto messages = flight.integers("messages", kMessageWidth);
  if (!messages) return Unexpected(messages.error());
  const auto losses = flight.doubles("losses");
  if (!losses) return Unexpected(losses.error());
  const std::size_t count = messages->size() / kMessageWidth;
  if (losses->size() != count + open.size()) return failed("there is not one loss per message");
  for (std::size_t k = 0; k < count; ++k) {
    const int* row = messages->data() + k * kMessageWidth;
    auto values = flight.floats(message_name(k));
    if (!values) return Unexpected(values.error());
    bank.messages.push_back({message_id(row), std::move(*values), (*losses)[k], row[3]});
  }
  for (std::size_t k = 0; k < open.size(); ++k) {
    auto sum = flight.doubles(open_name(k, "sum"));
    if (!sum) return Unexpected(sum.error());
    const auto counted = flight.integers(open_name(k, "counted"), kCountedWidth);
    if (!counted) return Unexpected(counted.error());
    BankState::OpenJob& job = bank.open.emplace_back();
    job.job = JobId{open[k].at("job").get<int>()};
    job.samples = open[k].at("samples").get<int>();
    job.loss = (*losses)[count + k];
    job.sum = std::move(*sum);
    for (std::size_t c = 0; c < counted->size(); c += kCountedWidth) {
      job.counted.push_back(message_id(counted->data() + c));
    }
  }
  return {};
}

Expected<void> unpack_events(const Tensors& flight, std::vector<LoggedEvent>& events) {
  const auto numbers = flight.integers("events", kEventWidth);
  if (!numbers) return Unexpected(numbers.error());
  const auto times = flight.doubles("event_times");
  if (!times) return Unexpected(times.error());
  const std::size_t count = numbers->size() / kEventWidth;
  if (times->size() != kEventTimes * count) return failed("there are not three times per event");
  for (std::size_t k = 0; k < count; ++k) {
    const int* row = numbers->data() + k * kEventWidth;
    if (row[0] < 0 || row[0] > static_cast<int>(LoggedEvent::Kind::kTimer)) {
      return failed(fmt::format("event {} is of kind {}", k, row[0]));
    }
    LoggedEvent& event = events.emplace_back();
    event.kind = static_cast<LoggedEvent::Kind>(row[0]);
    const double* of_event = times->data() + k * kEventTimes;
    event.now = Seconds{of_event[0]};
    event.studied = row[4];
    if (event.kind == LoggedEvent::Kind::kArrived) {
      event.result = {
          WorkerId{row[1]}, Round{row[2]}, row[3], Seconds{of_event[1]}, Seconds{of_event[2]}};
    } else {
      event.timer = row[1];
    }
  }
  return {};
}

}  // namespace

void pack(const Checkpoint& checkpoint, PackedCheckpoint& out) {
  const RunState& state = checkpoint.state;
  Json models = Json::array();
  Json open = Json::array();
  pack_weights(state.bank, models, out);
  pack_jobs(state.bank, open, out);
  pack_events(state.events, out);
  std::vector<int> begun;
  for (const Version version : state.begun) begun.push_back(version.value);
  const RunTotals& totals = state.totals;
  const Json all = {{"format", kFormat},
                    {"scheme_number", checkpoint.scheme_number},
                    {"finished", state.finished},
                    {"seconds", state.now.count()},
                    {"studied", state.studied},
                    {"begun_after_updates", begun},
                    {"totals",
                     {{"seconds", totals.total.count()},
                      {"rounds", totals.rounds},
                      {"jobs", totals.jobs},
                      {"wait_outs", totals.wait_outs},
                      {"stragglers", totals.stragglers},
                      {"messages", totals.messages},
                      {"bytes", totals.bytes}}},
                    {"models", std::move(models)},
                    {"open_jobs", std::move(open)},
                    {"agree", checkpoint.models},
                    {"play", checkpoint.play},
                    {"settings", checkpoint.settings}};
  out.text = all.dump(2) + "\n";
}

Expected<Checkpoint> unpack(const std::string& text,
                            const Tensors& weights,
                            const Tensors& flight) {
  Checkpoint checkpoint;
  RunState& state = checkpoint.state;
  try {
    const Json all = Json::parse(text);
    if (const int format = all.at("format").get<int>(); format != kFormat) {
      return failed(fmt::format("format {} is not the one that is read, {}", format, kFormat));
    }
    using Texts = std::map<std::string, std::string>;
    checkpoint.models = all.at("agree").get<Texts>();
    checkpoint.play = all.at("play").get<Texts>();
    checkpoint.settings = all.at("settings").get<Texts>();
    checkpoint.scheme_number = all.at("scheme_number").get<int>();
    state.finished = all.at("finished").get<bool>();
    state.now = Seconds{all.at("seconds").get<double>()};
    state.studied = all.at("studied").get<int>();
    for (const int version : all.at("begun_after_updates").get<std::vector<int>>()) {
      state.begun.push_back(Version{version});
    }
    const Json& totals = all.at("totals");
    state.totals = {Seconds{totals.at("seconds").get<double>()},
                    totals.at("rounds").get<int>(),
                    totals.at("jobs").get<int>(),
                    totals.at("wait_outs").get<int>(),
                    totals.at("stragglers").get<long long>(),
                    totals.at("messages").get<long long>(),
                    totals.at("bytes").get<double>()};
    if (auto done = unpack_weights(all.at("models"), weights, state.bank); !done) {
      return Unexpected(done.error());
    }
    if (auto done = unpack_jobs(all.at("open_jobs"), flight, state.bank); !done) {
      return Unexpected(done.error());
    }
  } catch (const Json::exception& error) {
    return failed(fmt::format("state.json: {}", error.what()));
  }
  if (auto done = unpack_events(flight, state.events); !done) return Unexpected(done.error());
  return checkpoint;
}

}  // namespace paceline
