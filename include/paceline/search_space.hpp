// Which settings of the schemes are worth trying on a given cluster.
//
// A scheme describes its settings as lines. Along a line one number changes, and with it the time
// per job changes gradually, so a search looks at a few values first (1, 2, 4, ...) and then
// between the good ones. What has no order (a code, the length of a burst) makes a line of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace paceline {

/// What a scheme may use.
struct SearchLimits {
  int workers = 0;     ///< n
  int models = 1;      ///< most jobs in flight, m (T'+1) <= T+1
  double storage = 1;  ///< most data that a worker holds, as a fraction of all of it
  int fewest_jobs_per_round = 1;
  int most_jobs_per_round = 1;
  /// Of approximate codes: a round waits until its answers leave no more than this. 0: none of
  /// them.
  double max_residual = 0;
};

/// Settings low ... high, each a text for make_scheme.
struct SearchLine {
  int low = 0;
  int high = 0;
  std::function<std::string(int value)> text;
};

/// The lines of one scheme: of all its settings, the best one counts.
struct SearchFamily {
  std::string name;  ///< the scheme's, or "relay-fixed": what tables call the best of these lines
  std::vector<SearchLine> lines;
  /// No close policy beats eager: nothing is carried to later rounds, or the settings themselves
  /// say when a round closes.
  bool only_eager = false;
  bool knows_rules = true;  ///< false: the close rule (decodable, model, ...) changes nothing
};

/// The families of all schemes, in the catalogue's order, which is that of how much they ask of
/// those who run them. Lines may hold settings that make_scheme refuses or that need more models or
/// storage than allowed: who searches passes over them.
std::vector<SearchFamily> search_space(const SearchLimits& limits);

}  // namespace paceline
