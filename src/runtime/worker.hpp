// What a worker does with an order, whatever transport brought it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "paceline/coordinator.hpp"
#include "paceline/expected.hpp"
#include "paceline/message_maker.hpp"
#include "paceline/message_type.hpp"
#include "paceline/model_bank.hpp"
#include "runtime/compute_pool.hpp"

namespace paceline {

using Batch = std::shared_ptr<const std::vector<int>>;

/// How a job's batch becomes messages; the same for all workers of a run.
struct MessageLayout {
  std::vector<int> chunk_borders;  ///< shape (k+1), positions in a batch
  MessageShape shape;
  int micro_batch = 1;                               ///< samples between two looks at a stop
  MessageType message_type = MessageType::kFloat32;  ///< what messages are rounded to
};

/// What a task needs beside its row. Both are null where the row is empty.
struct TaskInput {
  Parameters parameters;
  Batch batch;
};

/// Makes the messages of all tasks of an order that have a row, in their order, and rounds them.
///
/// @param inputs    shape (order.tasks.size())
/// @param stopped   asked between micro-batches; once true, the messages are of no use
/// @param messages  messages[k] is the one of task k, untouched if its row is empty; resized, its
///                  buffers are reused
/// @return an error "worker 3, job 7: <what was thrown>"
Expected<void> compute_order(const Order& order,
                             std::span<const TaskInput> inputs,
                             const MessageLayout& layout,
                             ComputeSlot& slot,
                             const std::function<bool()>& stopped,
                             std::vector<MadeMessage>& messages);

/// What the exception being handled says. @pre called from a catch block
std::string describe_exception();

}  // namespace paceline
