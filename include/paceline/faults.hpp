// Faults on purpose: what a run does when workers stop, die, or send nonsense can be tried before
// it happens. They are played between the master and its workers, so all transports have them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "paceline/expected.hpp"
#include "paceline/ids.hpp"

namespace paceline {

enum class FaultKind {
  kStop,       ///< takes no orders for some rounds
  kKill,       ///< ends; another one takes its place some rounds later
  kSlow,       ///< answers so many times later, for some rounds
  kCorrupt,    ///< an answer arrives damaged
  kNan,        ///< an answer holds a number that is none
  kDrop,       ///< an answer is lost
  kDuplicate,  ///< an answer comes twice
};

struct Fault {
  FaultKind kind = FaultKind::kStop;
  WorkerId worker;
  Round at;        ///< begins with the worker's first order of this round or a later one
  int rounds = 1;  ///< of kStop, kKill, kSlow
  double by = 2;   ///< of kSlow, >= 1

  bool operator==(const Fault&) const = default;

  /// "stop:worker=3,at=20,for=30"
  std::string text() const;
};

/// Reads faults:
///
///     stop:worker=3,at=20,for=30        kill:worker=3,at=20,for=10 slow:worker=3,at=20,for=30,by=4
///     corrupt:worker=3,at=20            nan:...   drop:...   duplicate:...
///     random:count=20,seed=1,rounds=100     all kinds in turn, workers and rounds drawn
///
/// @param workers  n
/// @param rounds   that the run will take, about: default of random's `rounds`
/// @return in the order of their texts, or an error that names what is allowed
Expected<std::vector<Fault>> parse_faults(std::span<const std::string> texts,
                                          int workers,
                                          int rounds);

/// Something that was done to a worker on purpose, or found out about it.
struct FaultReport {
  Round round;
  WorkerId worker;
  std::string what;  ///< "is killed until round 30", "sent NaN: discarded", "is asked again"
};

}  // namespace paceline
