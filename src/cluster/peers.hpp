// What the master knows of the other ranks: who they are, when each was heard last, and which are
// lost. Ranks speak at least four times a second, computing or not, so silence means stopped, dead
// or cut off.
//
// A silent rank is a straggler: schemes pay for it what they pay for any other. Only when nothing
// else can go on does it matter whether it will ever speak again; it counts as lost when its
// process is gone (which shows on the master's own machine) or after a silence far longer than any
// response so far.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/records.hpp"
#include "paceline/ids.hpp"
#include "runtime/clock.hpp"

namespace paceline {

inline constexpr std::chrono::milliseconds kHeartbeat{250};

/// Gets one line for people.
using Notice = std::function<void(const std::string& line)>;

/// A text that two processes share if they see each other's process ids.
std::string machine_of_this_process();

/// False once the process has ended (or was never there). @pre it runs on this machine
bool process_is_there(int pid);

class Peers {
 public:
  /// @param limit  seconds of silence after which a rank is lost; 0: at least a minute and twenty
  /// times the slowest response
  /// @param notice  told when a rank falls silent or speaks again; may be empty
  Peers(int ranks, Seconds limit, Notice notice);

  /// @param rank  1 ... ranks-1
  void join(int rank, Hello hello);
  void heard(int rank, SteadyTime now);

  /// Somebody took so long to answer.
  void responded(Seconds took) { slowest_ = std::max(slowest_, took); }

  /// The ranks were given a chance to be heard just now. Time in which nobody listened is no
  /// silence.
  void listened(SteadyTime now);

  bool lost(int rank) const { return peers_[index(rank)].lost; }

  SteadyTime last_heard(int rank) const { return peers_[index(rank)].heard; }

  /// Ranks 1 ... servers hold parameters: without them nothing goes on.
  void set_servers(int servers) { servers_ = servers; }

  /// "rank 2 (node7, pid 4711)", or "rank 1 (node7, pid 4711, parameter server)"
  std::string name(int rank) const;

  /// Who is lost and why, for the message of a run that cannot go on; empty if nobody is.
  std::string losses() const;

  /// Whether the process of that rank is known to have ended.
  bool gone(int rank) const;

  Seconds slowest() const { return slowest_; }

  Seconds limit() const;

  int ranks() const { return static_cast<int>(peers_.size()) + 1; }

 private:
  struct Peer {
    std::optional<Hello> hello;
    SteadyTime heard;
    bool silent = false;
    bool lost = false;
  };

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank - 1); }

  bool is_server(int rank) const { return rank <= servers_; }

  void judge(int rank, SteadyTime now);
  void say(const std::string& line) const;

  std::vector<Peer> peers_;
  Seconds given_limit_;
  Notice notice_;
  std::string machine_;
  int servers_ = 0;
  Seconds slowest_{0};
  SteadyTime listened_;
};

}  // namespace paceline
