#include "runtime/worker.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>

namespace paceline {

std::string describe_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

Expected<void> compute_order(const Order& order,
                             std::span<const TaskInput> inputs,
                             const MessageLayout& layout,
                             ComputeSlot& slot,
                             const std::function<bool()>& stopped,
                             std::vector<MadeMessage>& messages) {
  std::size_t k = 0;
  try {
    messages.resize(order.tasks.size());
    for (; k < order.tasks.size(); ++k) {
      const Task& task = order.tasks[k];
      if (task.row.terms().empty()) continue;
      make_message(*slot.sources.at(task.model.index()),
                   task.row,
                   layout.shape,
                   *inputs[k].parameters,
                   *inputs[k].batch,
                   layout.chunk_borders,
                   layout.micro_batch,
                   stopped,
                   messages[k]);
      if (messages[k].cancelled) return {};
      round_message(layout.message_type, messages[k].values);
    }
  } catch (...) {
    return failed(fmt::format("worker {}, job {}: {}",
                              order.worker.value,
                              order.tasks[k].job.value,
                              describe_exception()));
  }
  return {};
}

}  // namespace paceline
