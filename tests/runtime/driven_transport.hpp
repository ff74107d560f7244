// Workers whose answers come in an order by a script, without waiting: what the runtime makes of
// them is the same in every run, however busy the machine is.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/transport.hpp"
#include "runtime/worker.hpp"

namespace paceline::test {

class DrivenTransport final : public Transport {
 public:
  /// When a worker answers an order of that round, in rounds after the round's begin.
  using Script = std::function<double(Round round, WorkerId worker)>;

  DrivenTransport(const std::vector<std::unique_ptr<GradientSource>>& sources,
                  const BatchSampler& sampler,
                  MessageLayout layout,
                  Script script)
      : sampler_(sampler), layout_(std::move(layout)), script_(std::move(script)) {
    for (const auto& source : sources) slot_.sources.push_back(source->clone());
  }

  void send(Order order, std::vector<Parameters> parameters) override {
    const double at = order.round.value + 0.5 * order.dispatch + script_(order.round, order.worker);
    Assignment made{at, std::move(order), {}};
    for (std::size_t k = 0; k < made.order.tasks.size(); ++k) {
      made.inputs.push_back({std::move(parameters[k]), nullptr});
      if (made.inputs[k].parameters == nullptr) continue;
      std::vector<int> batch(static_cast<std::size_t>(sampler_.batch_size()));
      sampler_.batch(made.order.tasks[k].model, made.order.tasks[k].reads, batch);
      made.inputs[k].batch = std::make_shared<const std::vector<int>>(std::move(batch));
    }
    orders_.push_back(std::move(made));
  }

  void stop(WorkerId worker, Round round) override {
    std::erase_if(orders_, [&](const Assignment& a) {
      return a.order.worker == worker && a.order.round == round;
    });
  }

  Expected<bool> receive(SteadyTime /*deadline*/, Delivery& out) override {
    const auto first =
        std::min_element(orders_.begin(), orders_.end(), [](const auto& a, const auto& b) {
          return std::pair(a.at, a.order.worker) < std::pair(b.at, b.order.worker);
        });
    if (first == orders_.end()) return false;
    std::vector<MadeMessage> made;
    const Order& order = first->order;
    if (auto done = compute_order(
            order, first->inputs, layout_, slot_, [] { return false; }, made);
        !done) {
      return Unexpected(done.error());
    }
    out.result = {order.worker, order.round, order.dispatch, Seconds{0}};
    out.messages.clear();
    for (std::size_t k = 0; k < order.tasks.size(); ++k) {
      if (order.tasks[k].row.terms().empty()) continue;
      out.messages.push_back({order.tasks[k].id, std::move(made[k])});
    }
    orders_.erase(first);
    return true;
  }

  int outstanding() const override { return static_cast<int>(orders_.size()); }

  bool awaits_answer() override { return !orders_.empty(); }

  void recycle(std::vector<float> /*buffer*/) override {}

 private:
  struct Assignment {
    double at;
    Order order;
    std::vector<TaskInput> inputs;
  };

  const BatchSampler& sampler_;
  MessageLayout layout_;
  Script script_;
  ComputeSlot slot_;
  std::vector<Assignment> orders_;
};

}  // namespace paceline::test
