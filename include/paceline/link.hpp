// What ranks need of whatever carries bytes between them: frames that arrive whole, in the order
// they were sent, or not at all. MPI stands behind it in a cluster, queues in memory in tests.
//
// Nothing here blocks. One thread of a process calls it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace paceline {

using Bytes = std::vector<std::byte>;

class Link {
 public:
  virtual ~Link() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  /// Ranks other than 0 on this machine, which share its cores; this one included.
  virtual int serving_here() const = 0;

  /// Starts sending and returns; the frame is shared until the receiver has taken it.
  virtual void send(int to, std::shared_ptr<const Bytes> frame) = 0;

  /// Takes the next frame that is here. Frames of one rank come in the order it sent them.
  /// @param from   who sent it
  /// @param frame  overwritten
  /// @return whether there was one
  virtual bool receive(int& from, Bytes& frame) = 0;

  /// Frames that send() has been given and that are not on their way yet.
  virtual int unsent() = 0;

  /// Whether frames are on their way in either direction, which only move while somebody looks.
  virtual bool moving() = 0;

  /// Leaves the others; nothing is sent or received afterwards.
  /// @param together  all ranks call it now, and wait for one another; false: some are gone
  virtual void leave(bool together) = 0;

  /// Ends the processes of all ranks that can be reached, this one included.
  [[noreturn]] virtual void abort(int code) = 0;

 protected:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
};

}  // namespace paceline
