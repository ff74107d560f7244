// How a worker makes a message: which samples a job's chunks hold, and how a row of a code becomes
// weighted sums.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "paceline/gradient_source.hpp"
#include "paceline/ids.hpp"
#include "paceline/message.hpp"

namespace paceline {

/// The samples of one job's batch, in the order that chunk borders cut. Pure: every worker
/// recomputes it.
class BatchSampler {
 public:
  virtual ~BatchSampler() = default;
  virtual int batch_size() const = 0;
  /// @param batch  shape (batch_size()); filled with sample indices
  virtual void batch(ModelId model, Version update, std::span<int> batch) const = 0;
};

struct MadeMessage {
  std::vector<float> values;  ///< shape (message_length)
  double loss = 0;            ///< sum of the losses of `samples` of the samples visited
  int samples = 0;            ///< each counts once, however many sums visit it
  bool cancelled = false;     ///< values are incomplete
};

/// d rounded up to a multiple of `parts`.
std::size_t padded_length(std::size_t length, int parts);

/// Makes the message of `row`. Rows with whole terms or real weights cost one backward pass per
/// micro-batch; a complex row (two parts) costs two, since the real and the imaginary weights each
/// need a weighted sum. Where more sums would be needed each chunk's gradient is computed once and
/// added wherever it is wanted, so that every sample is visited once.
///
/// @param chunk_borders  shape (k+1), positions in `batch`
/// @param batch          shape (batch size), sample indices
/// @param micro_batch    >= 1: most samples between two looks at `cancelled`
/// @param out            reused buffer: out.values is resized
void make_message(GradientSource& source,
                  const Row& row,
                  const MessageShape& shape,
                  std::span<const float> parameters,
                  std::span<const int> batch,
                  std::span<const int> chunk_borders,
                  int micro_batch,
                  const std::function<bool()>& cancelled,
                  MadeMessage& out);

}  // namespace paceline
