#include "paceline/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "report/file.hpp"
#include "report/text_width.hpp"

namespace paceline {
namespace {

constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kClearLine = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string lower(value);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
      return static_cast<char>(std::tolower(c));
    });
    return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

TextStyle style_of_terminal(int fd) {
  TextStyle style;
  style.unicode = locale_is_utf8();
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    style.width = size.ws_col;
    style.height = size.ws_row;
  }
  return style;
}

bool is_live_terminal(int fd) {
  const char* term = std::getenv("TERM");
  return ::isatty(fd) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

void Progress::show(const ProgressState& state, Seconds now) { show_when_due(state, now); }

void Progress::show(const SearchState& state, Seconds now) { show_when_due(state, now); }

template <class State>
void Progress::show_when_due(const State& state, Seconds now) {
  if (!last_ && !options_.terminal) last_ = now;  // the first plain line comes after its interval
  const Seconds interval = options_.terminal ? options_.redraw_every : options_.line_every;
  if (last_ && now - *last_ < interval) return;
  last_ = now;
  if (options_.terminal) {
    TextStyle style = this->style();
    const int width = style.width;
    --style.width;  // in the last column some terminals clear the character just written
    draw(progress_block(state, style), width);
  } else {
    put(progress_line(state) + '\n');
  }
}

void Progress::finish(const ProgressState& state) {
  clear();
  last_.reset();
  put(finished_line(state) + '\n');
}

void Progress::clear() {
  if (block_.empty()) return;
  put(fmt::format("{}{}{}", to_block_start(style().width), kClearBelow, kShowCursor));
  block_.clear();
}

// One write per redraw, each line overwritten and only then cleared to its end: nothing flickers.
void Progress::draw(const std::vector<std::string>& lines, int width) {
  std::string text = block_.empty() ? std::string(kHideCursor) : to_block_start(width);
  block_.clear();
  for (const std::string& line : lines) {
    text += line;
    text += kClearLine;
    text += '\n';
    block_.push_back(columns(line));
  }
  put(text.append(kClearBelow));
}

// The cursor stands below the block. A terminal that became narrower shows its lines in several
// rows.
std::string Progress::to_block_start(int width) const {
  int rows = 0;
  for (const int length : block_) rows += std::max(1, (length + width - 1) / width);
  return fmt::format("\r\x1b[{}A", rows);
}

TextStyle Progress::style() const {
  return options_.style ? *options_.style : style_of_terminal(options_.fd);
}

void Progress::put(const std::string& text) {
  if (!silent_) silent_ = detail::write_all(options_.fd, text) != 0;
}

}  // namespace paceline
