#include "runtime/guard_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "paceline/kernels.hpp"

namespace paceline {
namespace {

/// When an answer is due that has come already.
constexpr SteadyTime kSecondAnswer = SteadyTime::min();

bool is_finite(const Delivery& delivery) {
  return std::all_of(delivery.messages.begin(), delivery.messages.end(), [](const auto& message) {
    return all_finite(message.made.values);
  });
}

void make_not_finite(Delivery& delivery) {
  for (auto& message : delivery.messages) {
    if (message.made.values.empty()) continue;
    message.made.values[0] = std::numeric_limits<float>::quiet_NaN();
  }
}

}  // namespace

GuardTransport::GuardTransport(Transport& inner,
                               const ModelBank& bank,
                               std::vector<Fault> faults,
                               std::function<void(const FaultReport&)> tell)
    : inner_(inner), bank_(bank), tell_(std::move(tell)) {
  for (Fault& fault : faults) faults_.push_back({fault});
}

/// What a run before this one, which this one goes on from, has been through.
void GuardTransport::skip_faults_before(Round round) {
  for (Planned& planned : faults_) {
    if (planned.fault.at >= round) continue;
    planned.begun = true;
    planned.end = planned.fault.at.value + planned.fault.rounds;
  }
}

/// The fault of that kind that this worker has in this round, if any; it begins with the first one.
GuardTransport::Planned* GuardTransport::striking(FaultKind kind, WorkerId worker, Round round) {
  for (Planned& planned : faults_) {
    const Fault& fault = planned.fault;
    if (fault.kind != kind || fault.worker != worker || round < fault.at) continue;
    if (!planned.begun) {
      planned.begun = true;
      planned.end = round.value + fault.rounds;
      ++injected_;
      return &planned;
    }
    const bool lasts =
        kind == FaultKind::kStop || kind == FaultKind::kKill || kind == FaultKind::kSlow;
    if (lasts && round.value < planned.end) return &planned;
  }
  return nullptr;
}

/// Whether the worker cannot take the order.
bool GuardTransport::withheld(const Order& order) {
  for (const FaultKind kind : {FaultKind::kStop, FaultKind::kKill}) {
    const int before = injected_;
    const Planned* const planned = striking(kind, order.worker, order.round);
    if (planned == nullptr) continue;
    if (injected_ > before) {
      tell(order.round,
           order.worker,
           fmt::format("{} until round {}",
                       kind == FaultKind::kStop ? "is stopped" : "is killed, and not replaced",
                       planned->end));
    }
    return true;
  }
  return false;
}

void GuardTransport::send(Order order, std::vector<Parameters> parameters) {
  if (!begun_) skip_faults_before(order.round);
  begun_ = true;
  Asked& asked = asked_[{order.worker, order.round, order.dispatch}];
  asked = {order, after(std::chrono::steady_clock::now(), -order.age)};
  if (withheld(order)) {
    asked.lost = true;
    ++lost_;
    return;
  }
  inner_.send(std::move(order), std::move(parameters));
}

void GuardTransport::stop(WorkerId worker, Round round) {
  const auto first = asked_.lower_bound({worker, round, 0});
  auto last = first;
  for (; last != asked_.end() && last->first.worker == worker && last->first.round == round;
       ++last) {
    if (last->second.lost) --lost_;
  }
  asked_.erase(first, last);
  std::erase_if(held_, [&](const Held& held) {
    if (held.delivery.result.worker != worker || held.delivery.result.round != round) return false;
    if (held.at != kSecondAnswer) inner_.discard(held.delivery);
    return true;
  });
  inner_.stop(worker, round);
}

bool GuardTransport::nobody_else_answers() {
  if (!held_.empty()) return false;
  return inner_.outstanding() == 0 || !inner_.awaits_answer();
}

bool GuardTransport::awaits_answer() {
  return lost_ > 0 || !held_.empty() || inner_.awaits_answer();
}

Expected<bool> GuardTransport::receive(SteadyTime deadline, Delivery& out) {
  for (;;) {
    if (lost_ > 0 && nobody_else_answers()) ask_again();
    const auto first = std::min_element(
        held_.begin(), held_.end(), [](const Held& a, const Held& b) { return a.at < b.at; });
    const SteadyTime now = std::chrono::steady_clock::now();
    bool was_held = false;
    if (first != held_.end() && first->at <= std::min(now, deadline)) {
      out = std::move(first->delivery);
      held_.erase(first);
      was_held = true;
    } else {
      const SteadyTime limit = first == held_.end() ? deadline : std::min(deadline, first->at);
      auto received = inner_.receive(limit, out);
      if (!received) return received;
      if (!*received) {
        if (limit < deadline) continue;
        if (deadline == kNoDeadline && lost_ > 0) continue;
        return false;
      }
    }
    const Result& result = out.result;
    const auto found = asked_.find({result.worker, result.round, result.dispatch});
    if (found == asked_.end()) continue;  // the second of two answers
    const Fate fate = was_held ? Fate::kDelivered : fate_of(found->second, out);
    if (fate == Fate::kLost) lose(found->second, out);
    if (fate != Fate::kDelivered) continue;
    asked_.erase(found);
    return true;
  }
}

GuardTransport::Fate GuardTransport::fate_of(Asked& asked, Delivery& delivery) {
  const WorkerId worker = delivery.result.worker;
  const Round round = delivery.result.round;
  if (striking(FaultKind::kDrop, worker, round) != nullptr) {
    tell(round, worker, "an answer is lost");
    return Fate::kLost;
  }
  if (striking(FaultKind::kCorrupt, worker, round) != nullptr) {
    ++discarded_;
    tell(round, worker, "an answer arrives damaged: discarded");
    return Fate::kLost;
  }
  if (striking(FaultKind::kNan, worker, round) != nullptr) make_not_finite(delivery);
  if (!asked.spoiled && !is_finite(delivery)) {
    asked.spoiled = true;
    ++discarded_;
    tell(round, worker, "an answer is not finite (NaN or infinity): discarded");
    return Fate::kLost;
  }
  if (striking(FaultKind::kDuplicate, worker, round) != nullptr) {
    tell(round, worker, "an answer comes twice");
    held_.push_back({kSecondAnswer, delivery});
  }
  if (const Planned* slow = striking(FaultKind::kSlow, worker, round)) {
    const SteadyTime now = std::chrono::steady_clock::now();
    tell(round, worker, fmt::format("answers {:g} times later", slow->fault.by));
    held_.push_back(
        {after(now, (slow->fault.by - 1) * Seconds(now - asked.sent)), std::move(delivery)});
    return Fate::kHeld;
  }
  return Fate::kDelivered;
}

void GuardTransport::lose(Asked& asked, Delivery& delivery) {
  asked.lost = true;
  ++lost_;
  inner_.discard(delivery);
  for (auto& message : delivery.messages) inner_.recycle(std::move(message.made.values));
  delivery.messages.clear();
}

/// Sends what was lost once more. What it asks for job that are decoded is not asked for again.
void GuardTransport::ask_again() {
  for (auto& [key, asked] : asked_) {
    if (!asked.lost) continue;
    asked.lost = false;
    asked.sent = std::chrono::steady_clock::now();
    ++asked_again_;
    tell(key.round, key.worker, "nobody else can help: the order is sent again");
    Order order = asked.order;
    order.age = order.waited = Seconds{0};
    std::vector<Parameters> parameters;
    for (Task& task : order.tasks) {
      if (bank_.version(task.model) != task.reads) task.row = Row();
      parameters.push_back(task.row.terms().empty() ? nullptr : bank_.parameters(task.model));
    }
    inner_.send(std::move(order), std::move(parameters));
  }
  lost_ = 0;
  inner_.flush();
}

void GuardTransport::tell(Round round, WorkerId worker, std::string what) const {
  if (tell_) tell_({round, worker, std::move(what)});
}

}  // namespace paceline
