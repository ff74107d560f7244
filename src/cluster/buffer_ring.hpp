// Buffers of frames that are being sent. One is used again once nobody reads it any more, so a slow
// rank keeps what it is still reading and the others go on with the next.
#pragma once

#include <memory>
#include <vector>

#include "paceline/link.hpp"

namespace paceline {

class BufferRing {
 public:
  /// A buffer that nobody else holds, with whatever it held before.
  std::shared_ptr<Bytes> take() {
    for (std::size_t looked = 0; looked < buffers_.size(); ++looked) {
      next_ = (next_ + 1) % buffers_.size();
      if (buffers_[next_].use_count() == 1) return buffers_[next_];
    }
    return buffers_.emplace_back(std::make_shared<Bytes>());
  }

  std::size_t size() const { return buffers_.size(); }

 private:
  std::vector<std::shared_ptr<Bytes>> buffers_;
  std::size_t next_ = 0;
};

}  // namespace paceline
