// The master's payloads, shared by both drivers: parameters by model and version, messages until
// dropped, running gradients, optimizers. It carries out Apply and Drop.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "paceline/coordinator.hpp"
#include "paceline/expected.hpp"
#include "paceline/gradient_source.hpp"
#include "paceline/kernels.hpp"
#include "paceline/message.hpp"

namespace paceline {

using Parameters = std::shared_ptr<const std::vector<float>>;  ///< immutable, so that a straggler
                                                               ///< may go on reading

struct ModelBankOptions {
  std::size_t length = 0;   ///< d
  MessageShape shape = {};  ///< of the scheme
  int batch_size = 1;       ///< samples per job: the decoded sum is divided by it once
  /// A gradient whose decoding leaves more (Decoding::residual) makes no step.
  double skip_above = std::numeric_limits<double>::infinity();
};

/// What an Apply did.
struct Applied {
  bool stepped = false;         ///< the job is complete and the model has a new version
  bool skipped = false;         ///< too much was missing: the new version is a copy of the old one
  double loss = 0;              ///< mean loss over the samples of the messages used
  std::vector<float> gradient;  ///< shape (d), decoded sum; filled only if keep_gradient(true)
};

/// All that a bank holds, for a checkpoint.
struct BankState {
  struct Model {
    Version version;
    Parameters parameters;  ///< shared with the bank, which changes a copy
    OptimizerState optimizer;
  };

  struct Message {
    MessageId id;
    std::vector<float> values;
    double loss = 0;
    int samples = 0;
  };

  struct OpenJob {
    JobId job;
    std::vector<double> sum;         ///< of the instalments so far; empty: none
    std::vector<MessageId> counted;  ///< messages whose losses are in `loss`
    double loss = 0;
    int samples = 0;
  };

  std::vector<Model> models;
  std::vector<Message> messages;  ///< of jobs that are not decoded
  std::vector<OpenJob> open;
};

class ModelBank {
 public:
  /// @param initial     parameters of each model at version 0, shape (d) each
  /// @param optimizers  one per model
  ModelBank(const ModelBankOptions& options,
            std::vector<std::vector<float>> initial,
            std::vector<std::unique_ptr<Optimizer>> optimizers);

  int models() const { return static_cast<int>(models_.size()); }

  const ModelBankOptions& options() const { return options_; }

  /// A copy of a model's optimizer.
  std::unique_ptr<Optimizer> optimizer(ModelId model) const;

  Version version(ModelId model) const;
  /// The newest parameters of a model. Schemes keep one job per model in flight, so no older
  /// version is ever asked for.
  Parameters parameters(ModelId model) const;

  /// Keep decoded gradients in Applied (for verification).
  void keep_gradient(bool keep) { keep_gradient_ = keep; }

  /// @param values  shape (message length)
  void store(const MessageId& id, std::vector<float> values, double loss, int samples);

  /// A free buffer of a dropped message, or an empty vector: saves allocations.
  std::vector<float> recycle();

  /// Adds the decoding's messages; if it is complete, checks the gradient and steps the optimizer,
  /// unless the decoding leaves too much.
  /// @return an error that names worker and job if a message that is used is not finite.
  Expected<Applied> apply(const Apply& apply);

  void drop(std::span<const MessageId> messages);

  BankState state() const;

  /// Goes on from there. @return an error if it is the state of another bank: other models, another
  /// length, another kind of optimizer
  Expected<void> restore(const BankState& state);

  /// Bytes held by messages now, for reports.
  std::size_t message_bytes() const;

 private:
  struct Model {
    Version version;
    std::shared_ptr<std::vector<float>> parameters;
    std::unique_ptr<Optimizer> optimizer;
  };

  struct Message {
    std::vector<float> values;
    double loss = 0;
    int samples = 0;
  };

  struct OpenJob {
    std::vector<double> sum;      ///< running sum of instalments, shape (padded length)
    std::set<MessageId> counted;  ///< messages whose losses are in `loss`
    double loss = 0;
    int samples = 0;
  };

  const Message& message(const MessageId& id) const;
  std::span<const float> segment_of(const MessageId& id, int segment) const;
  Expected<void> add_instalment(const Apply& apply, OpenJob& job);
  void sum_messages(std::span<const Coefficient> terms);
  Expected<void> check_finite(const Apply& apply, std::span<const float> gradient) const;
  static Unexpected<Error> not_finite(WorkerId worker, JobId job);

  ModelBankOptions options_;
  std::vector<Model> models_;
  std::map<MessageId, Message> messages_;
  std::map<JobId, OpenJob> open_;
  std::vector<std::vector<float>> free_;
  std::vector<float> gradient_;  ///< shape (padded length): the sum being decoded
  std::vector<WeightedMessage> weighted_;
  bool keep_gradient_ = false;
};

}  // namespace paceline
