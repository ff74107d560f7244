// What the master needs of whatever carries orders to workers and answers back. The master's loop
// knows nothing else, so threads, processes and tests can stand behind it.
#pragma once

#include <string>
#include <vector>

#include "paceline/coordinator.hpp"
#include "paceline/expected.hpp"
#include "paceline/message_maker.hpp"
#include "paceline/model_bank.hpp"
#include "runtime/clock.hpp"

namespace paceline {

/// An answer to one order with its payloads.
struct Delivery {
  Result result;

  struct Message {
    MessageId id;
    MadeMessage made;
  };

  std::vector<Message> messages;  ///< of the order's tasks that have a row
};

/// Called from the master's thread alone.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Sends an order. A worker answers its orders one after the other.
  ///
  /// @param parameters  shape (order.tasks.size()): what the task reads; null where its row is
  /// empty
  virtual void send(Order order, std::vector<Parameters> parameters) = 0;

  /// The orders sent and stopped so far shall be on their way: the master turns to something else.
  /// A transport that sends each at once need not care.
  virtual void flush() {}

  /// Abandons the worker's orders of that round: none of them is delivered any more.
  virtual void stop(WorkerId worker, Round round) = 0;

  /// Waits for the next answer that came in not later than `deadline`; answers come in the order of
  /// their times, equal ones by worker.
  ///
  /// @param out  overwritten if there is one
  /// @return whether there is one (without a deadline also false once none can come any more); an
  /// error if the work behind an order failed
  virtual Expected<bool> receive(SteadyTime deadline, Delivery& out) = 0;

  /// Orders sent and neither delivered nor stopped.
  virtual int outstanding() const = 0;

  /// Whether one of them can still be answered; if not, waiting without a deadline is for ever.
  virtual bool awaits_answer() = 0;

  /// Who will not answer any more and why, for the message of a run that cannot go on; empty where
  /// nobody can be lost.
  virtual std::string losses() const { return {}; }

  /// What has been delivered is of no use: nobody will ask for its messages.
  virtual void discard(const Delivery& /*delivery*/) {}

  /// Gives a buffer of a message back for later ones.
  virtual void recycle(std::vector<float> buffer) = 0;

 protected:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
};

}  // namespace paceline
