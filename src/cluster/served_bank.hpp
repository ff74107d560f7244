// A bank whose numbers lie on parameter servers, and its outline, with which the master plays.
//
// The servers begin with all that the bank holds. When the run has ended well the bank gets it
// back, and meanwhile for checkpoints.
#pragma once

#include <memory>
#include <optional>

#include "cluster/rank_transport.hpp"
#include "paceline/local_runtime.hpp"
#include "paceline/model_bank.hpp"
#include "paceline/run_state.hpp"
#include "runtime/remote_bank.hpp"

namespace paceline {

class ServedBank final : public RemoteBank {
 public:
  /// Goes on from options.checkpoints.resume, if that is set.
  /// @param bank  must outlive the served one
  /// @return an error if the models cannot be served, or the saved state does not fit them
  static Expected<std::unique_ptr<ServedBank>> make(ModelBank& bank,
                                                    const LocalRunOptions& options,
                                                    int servers);

  /// What the servers begin with.
  const BankState& seed() const { return seed_; }

  /// Versions, losses, and one number of each piece.
  ModelBank& outline() { return outline_; }

  /// The options with which the master plays on the outline.
  LocalRunOptions options() const;

  /// Before the run. @param transport  must outlive the run
  void connect(RankTransport& transport) { transport_ = &transport; }

  std::size_t numbers_each() const override { return map_.piece(); }

  void apply(const Apply& apply) override { transport_->apply(apply); }

  void drop(std::span<const MessageId> messages) override { transport_->drop(messages); }

  Expected<BankState> state() override { return transport_->collect(); }

  Expected<void> finish() override;

 private:
  ServedBank(ModelBank& bank, const LocalRunOptions& options, int servers);

  ModelBank& bank_;
  LocalRunOptions options_;
  ShardMap map_;
  BankState seed_;
  ModelBank outline_;
  std::optional<RunState> resume_;  ///< with the outline of its bank
  RankTransport* transport_ = nullptr;
};

}  // namespace paceline
