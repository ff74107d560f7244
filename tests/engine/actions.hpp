// Looking at actions: those of one kind, their kinds in order, and all they say as text.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "paceline/coordinator.hpp"

namespace paceline::test {

template <class Kind>
std::vector<Kind> only(const Actions& actions) {
  std::vector<Kind> found;
  for (const Action& action : actions) {
    if (const auto* match = std::get_if<Kind>(&action)) found.push_back(*match);
  }
  return found;
}

/// The kinds in order, repetitions written once: "Stop Apply Drop RoundRecord Send".
inline std::string kinds(const Actions& actions) {
  static const char* const kNames[] = {
      "Send", "Stop", "Arm", "Apply", "Drop", "RoundRecord", "Finish"};
  std::string text;
  std::size_t last = Action().index() + std::size(kNames);
  for (const Action& action : actions) {
    if (action.index() == last) continue;
    last = action.index();
    if (!text.empty()) text += ' ';
    text += kNames[last];
  }
  return text;
}

/// Writes actions out in full, so that two runs can be compared.
class ActionText {
 public:
  ActionText() { out_.precision(17); }

  void operator()(const Send& send) {
    const Order& order = send.order;
    out_ << "send " << order.worker.value << ' ' << order.round.value << ' ' << order.dispatch;
    for (const Task& task : order.tasks) {
      out_ << " [";
      write(task.id);
      out_ << " job " << task.job.value << " model " << task.model.value << " reads "
           << task.reads.value << " load " << task.load;
      for (const Term& term : task.row.terms()) {
        out_ << ' ' << term.weight << "*g" << term.chunk.value << '+' << term.count;
      }
      out_ << ']';
    }
  }

  void operator()(const Stop& stop) {
    out_ << "stop " << stop.worker.value << ' ' << stop.round.value;
  }

  void operator()(const Arm& arm) { out_ << "arm " << arm.timer << ' ' << arm.at.count(); }

  void operator()(const Apply& apply) {
    out_ << "apply " << apply.job.value << ' ' << apply.model.value << ' ' << apply.makes.value
         << (apply.sum.complete ? " complete" : " instalment");
    for (const Coefficient& term : apply.sum.terms) {
      out_ << ' ' << term.weight << '*';
      write(term.message);
      out_ << '.' << term.segment << '.' << term.part;
    }
  }

  void operator()(const Drop& drop) {
    out_ << "drop";
    for (const MessageId& id : drop.messages) {
      out_ << ' ';
      write(id);
    }
  }

  void operator()(const RoundRecord& record) {
    out_ << "record " << record.round.value << ' ' << record.opened.count() << ' '
         << record.closed.count() << ' ' << record.busy << ' ' << record.waited_out
         << " stragglers";
    for (int i = 0; i < record.stragglers.workers(); ++i) {
      if (record.stragglers.contains(WorkerId{i})) out_ << ' ' << i;
    }
    out_ << " started";
    for (const JobId job : record.started) out_ << ' ' << job.value;
    out_ << " decoded";
    for (const JobId job : record.decoded) out_ << ' ' << job.value;
    out_ << " answers";
    for (std::size_t i = 0; i < record.answers.done.size(); ++i) {
      out_ << ' ' << record.answers.done[i] << '@' << record.answers.time[i].count() << '/'
           << record.answers.compute[i].count();
    }
  }

  void operator()(const Finish& finish) { out_ << "finish '" << finish.why << '\''; }

  void end_line() { out_ << '\n'; }

  std::string text() const { return out_.str(); }

 private:
  void write(const MessageId& id) {
    out_ << id.worker.value << '/' << id.round.value << '/' << id.task;
  }

  std::ostringstream out_;
};

inline std::string to_text(const Actions& actions) {
  ActionText text;
  for (const Action& action : actions) {
    std::visit(text, action);
    text.end_line();
  }
  return text.text();
}

}  // namespace paceline::test
