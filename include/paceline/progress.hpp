// Live progress of a run. What it looks like is a pure function of a state; the display decides
// only when to draw, and where: in place on a terminal, as a plain line now and then anywhere else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/ids.hpp"

namespace paceline {

struct ProgressState {
  std::string scheme;  ///< label
  int scheme_number = 1;
  int schemes = 1;
  int jobs_done = 0;
  int jobs = 0;
  int round = 0;
  std::vector<double> loss;     ///< shape (M), each model's newest loss; NaN before the first
  Seconds elapsed{0};           ///< since the scheme's start
  int workers = 0;              ///< n
  std::vector<int> stragglers;  ///< ascending, of the round that closed last

  /// Time the rest of the scheme's jobs will take at the pace so far; empty before the first job.
  std::optional<Seconds> left() const;
};

/// How far a search over many settings is.
struct SearchState {
  std::string what;  ///< "m-sgc, fold 2 of 3"
  double done = 0;   ///< 0 ... 1
  std::string best;  ///< so far; may be empty
  Seconds elapsed{0};
};

struct TextStyle {
  int width = 80;   ///< columns; no line is longer
  int height = 24;  ///< rows; the block leaves one free
  bool unicode = true;
};

/// The block a terminal shows, a string per line without line ends: scheme, bar, times, losses,
/// stragglers. Control characters of labels become '?'.
std::vector<std::string> progress_block(const ProgressState& state, const TextStyle& style);

std::vector<std::string> progress_block(const SearchState& state, const TextStyle& style);

/// The same in one ASCII line without line end, for logs.
std::string progress_line(const ProgressState& state);
std::string progress_line(const SearchState& state);

/// The line that stays when a scheme has ended.
std::string finished_line(const ProgressState& state);

/// Width and height of the terminal behind `fd` (80 x 24 if it has none) and whether the locale
/// (LC_ALL, LC_CTYPE, LANG) speaks UTF-8.
TextStyle style_of_terminal(int fd);

/// Whether `fd` is a terminal that can move its cursor (TERM is set and not "dumb").
bool is_live_terminal(int fd);

/// Makes a hidden cursor visible again. For signal handlers that leave without unwinding.
inline constexpr char kShowCursor[] = "\x1b[?25h";

struct ProgressOptions {
  int fd = 2;
  bool terminal = false;           ///< redraw in place; false: a plain line now and then
  std::optional<TextStyle> style;  ///< empty: style_of_terminal(fd) at every redraw
  Seconds redraw_every{0.1};       ///< on a terminal
  Seconds line_every{5};           ///< elsewhere
};

/// Draws each state it is shown, but not too often. A display that cannot be written to goes
/// silent: it must not end a run. `now` may start anywhere and never goes back.
class Progress {
 public:
  explicit Progress(const ProgressOptions& options) : options_(options) {}

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  ~Progress() { clear(); }

  void show(const ProgressState& state, Seconds now);
  void show(const SearchState& state, Seconds now);

  /// The scheme has ended: replaces the block by finished_line(state), which stays.
  void finish(const ProgressState& state);

  /// Removes the block and shows the cursor, so that others may write; the next show() draws again.
  void clear();

 private:
  template <class State>
  void show_when_due(const State& state, Seconds now);
  void draw(const std::vector<std::string>& lines, int width);
  std::string to_block_start(int width) const;
  TextStyle style() const;
  void put(const std::string& text);

  ProgressOptions options_;
  std::optional<Seconds> last_;  ///< when something was drawn last
  std::vector<int> block_;       ///< columns of each line on the screen
  bool silent_ = false;
};

}  // namespace paceline
