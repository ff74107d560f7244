// Payloads that lie elsewhere than with the master.
//
// The master's own bank is then an outline: it knows versions, losses and which messages are there,
// but of every piece of a gradient or message it holds one number only, which is 0, or NaN where
// the piece is not finite. So everything that asks the bank goes on as ever; what changes numbers
// is told to the remote bank, too.
#pragma once

#include <span>

#include "paceline/coordinator.hpp"
#include "paceline/expected.hpp"
#include "paceline/model_bank.hpp"

namespace paceline {

/// Called from the master's thread alone.
class RemoteBank {
 public:
  virtual ~RemoteBank() = default;

  /// Numbers of a message for which the outline holds one.
  virtual std::size_t numbers_each() const = 0;

  /// As ModelBank's; what goes wrong later shows as an error of the transport.
  virtual void apply(const Apply& apply) = 0;
  virtual void drop(std::span<const MessageId> messages) = 0;

  /// Waits for all that was asked for, and for all payloads. @return an error if some are lost
  virtual Expected<BankState> state() = 0;

  /// The run is over: waits for all that was asked for, and brings the payloads home.
  virtual Expected<void> finish() = 0;

 protected:
  RemoteBank() = default;
  RemoteBank(const RemoteBank&) = delete;
  RemoteBank& operator=(const RemoteBank&) = delete;
};

}  // namespace paceline
