// The smallest driver: virtual time, no payloads. It checks what every driver relies on: answers
// are asked for before they are combined, versions count up by one, an order reads a version that
// exists, every message that arrived is dropped once.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/actions.hpp"
#include "paceline/coordinator.hpp"

namespace paceline::test {

class Driver {
 public:
  using Takes = std::function<Seconds(const Order&)>;  ///< from sending an order to its answer

  /// @param jobs, models  as the coordinator was built with
  Driver(Coordinator& coordinator, int jobs, int models, Takes takes)
      : coordinator_(coordinator),
        jobs_(jobs),
        models_(models),
        takes_(std::move(takes)),
        versions_(static_cast<std::size_t>(models), 0) {}

  /// Plays to the end. @return whether a Finish came
  bool run() {
    carry_out(coordinator_.start(now_));
    while (!finished && step()) {
    }
    return finished;
  }

  /// Feeds the next event. At equal times results come before timers, results by worker.
  bool step() {
    if (queue_.empty()) return false;
    const auto next = *queue_.begin();
    queue_.erase(queue_.begin());
    now_ = Seconds{next.first.at};
    if (next.first.timer) {
      carry_out(coordinator_.on(TimerFired{next.first.what}, now_));
      return true;
    }
    const Order& order = next.second;
    for (const Task& task : order.tasks) {
      if (task.job.value < jobs_) {
        EXPECT_TRUE(stored_.insert(task.id).second);
      }
    }
    const Result result{order.worker, order.round, order.dispatch, Seconds{order.load()}};
    carry_out(coordinator_.on(Arrived{result}, now_));
    return true;
  }

  void carry_out(const Actions& actions) {
    log += to_text(actions);
    for (const Action& action : actions) {
      std::visit([this](const auto& one) { perform(one); }, action);
    }
  }

  bool finished = false;
  std::string why;
  std::string log;
  std::vector<RoundRecord> records;
  int applied = 0;  ///< complete decodings
  int late = 0;     ///< answers to rounds that had closed

  int version(int model) const { return versions_[static_cast<std::size_t>(model)]; }

  std::size_t stored() const { return stored_.size(); }

 private:
  struct Key {
    double at;
    bool timer;
    int what;  ///< worker or timer
    int sequence;

    bool operator<(const Key& o) const {
      return std::tie(at, timer, what, sequence) < std::tie(o.at, o.timer, o.what, o.sequence);
    }
  };

  void perform(const Send& send) {
    const Order& order = send.order;
    EXPECT_FALSE(order.tasks.empty());
    for (const Task& task : order.tasks) {
      EXPECT_EQ(task.id.worker, order.worker);
      EXPECT_EQ(task.id.round, order.round);
      if (task.job.value >= jobs_) {
        EXPECT_TRUE(task.row.terms().empty());
        continue;
      }
      EXPECT_EQ(task.model.value, task.job.value % models_);
      EXPECT_EQ(task.reads.value, task.job.value / models_);
      EXPECT_EQ(version(task.model.value), task.reads.value);
      EXPECT_TRUE(asked_.emplace(task.id, task.job).second) << "a message is asked for once";
    }
    const Key key{(now_ + takes_(order)).count(), false, order.worker.value, ++sequence_};
    queue_.emplace(key, order);
  }

  void perform(const Stop& stop) {
    const auto matches = [&](const auto& event) {
      return !event.first.timer && event.second.worker == stop.worker &&
             event.second.round == stop.round;
    };
    EXPECT_GT(std::erase_if(queue_, matches), 0U) << "a stopped worker had work";
  }

  void perform(const Arm& arm) {
    EXPECT_GT(arm.at, now_);
    queue_.emplace(Key{arm.at.count(), true, arm.timer, ++sequence_}, Order());
  }

  void perform(const Apply& apply) {
    EXPECT_LT(apply.job.value, jobs_);
    EXPECT_EQ(apply.model.value, apply.job.value % models_);
    EXPECT_EQ(apply.makes.value, apply.job.value / models_ + 1);
    EXPECT_EQ(apply.makes.value, version(apply.model.value) + 1);
    for (const Coefficient& term : apply.sum.terms) {
      EXPECT_EQ(stored_.count(term.message), 1U) << "a message is used after it came";
      EXPECT_EQ(asked_.at(term.message), apply.job);
    }
    if (!apply.sum.complete) return;
    ++versions_[apply.model.index()];
    ++applied;
  }

  void perform(const Drop& drop) {
    const std::set<MessageId> once(drop.messages.begin(), drop.messages.end());
    EXPECT_EQ(once.size(), drop.messages.size()) << "a Drop names a message once";
    for (const MessageId& id : drop.messages) {
      EXPECT_EQ(asked_.count(id), 1U);
      if (stored_.erase(id) == 1) {
        EXPECT_TRUE(dropped_.insert(id).second);
      }
    }
  }

  void perform(const RoundRecord& record) {
    if (!records.empty()) {
      EXPECT_LT(records.back().round, record.round);
    }
    EXPECT_EQ(record.closed, now_);
    records.push_back(record);
  }

  void perform(const Finish& finish) {
    EXPECT_FALSE(finished);
    finished = true;
    why = finish.why;
    for (const auto& event : queue_) EXPECT_TRUE(event.first.timer) << "nobody works on";
    if (why.empty()) {
      EXPECT_EQ(stored_.size(), 0U) << "everything is dropped";
    }
  }

  Coordinator& coordinator_;
  int jobs_;
  int models_;
  Takes takes_;
  std::vector<int> versions_;
  std::map<Key, Order> queue_;
  std::map<MessageId, JobId> asked_;
  std::set<MessageId> stored_;
  std::set<MessageId> dropped_;
  Seconds now_{0};
  int sequence_ = 0;
};

}  // namespace paceline::test
