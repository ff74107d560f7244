// What progress looks like: pure functions from a state to lines of text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "paceline/progress.hpp"
#include "report/text_width.hpp"

namespace paceline {
namespace {

// Labels come from users: no byte of them may move the cursor, nor be wider than we count.
std::string printable(std::string_view text) {
  std::string safe(text);
  std::replace_if(
      safe.begin(), safe.end(), [](char c) { return c < 0x20 || c > 0x7E; }, '?');
  return safe;
}

// Cuts at a character's border.
std::string cut(std::string text, int width) {
  std::size_t end = 0;
  for (int used = 0; end < text.size(); ++end) {
    const bool starts = (text[end] & 0xC0) != 0x80;
    if (starts && used++ == width) break;
  }
  text.resize(end);
  return text;
}

std::string repeat(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::string duration(Seconds time) {
  const double s = time.count();
  if (s < 60) return fmt::format("{:.1f} s", s);
  const auto whole = static_cast<long long>(s);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

double share(const ProgressState& state) {
  if (state.jobs <= 0) return 0;
  return std::clamp(static_cast<double>(state.jobs_done) / state.jobs, 0.0, 1.0);
}

std::string bar(double share, int width, bool unicode) {
  if (!unicode) {
    const int full = static_cast<int>(share * (width - 2));
    return fmt::format("[{}{}]", repeat("#", full), repeat(".", width - 2 - full));
  }
  static constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(share * 8 * width);
  const std::string_view part = kEighths[eighths % 8];
  const int rest = width - eighths / 8 - (part.empty() ? 0 : 1);
  return fmt::format("{}{}{}", repeat("█", eighths / 8), part, repeat("░", rest));
}

std::string loss_text(double loss) {
  return std::isnan(loss) ? std::string("-") : fmt::format("{:.4g}", loss);
}

std::string times(const ProgressState& state) {
  std::string text = fmt::format("elapsed {}", duration(state.elapsed));
  if (const std::optional<Seconds> left = state.left()) {
    text += fmt::format("   left {}", duration(*left));
    text += fmt::format("   {:.1f} ms/job", 1e3 * state.elapsed.count() / state.jobs_done);
  }
  return text;
}

std::string bar_line(double share, const std::string& numbers, const TextStyle& style) {
  const std::string text = fmt::format(" {:>3.0f} %{}", 100 * share, numbers);
  const int room = std::min(style.width - columns(text), 60);
  return (room >= 8 ? bar(share, room, style.unicode) : std::string()) + text;
}

std::string bar_line(const ProgressState& state, const TextStyle& style) {
  return bar_line(share(state), fmt::format("  {}/{} jobs", state.jobs_done, state.jobs), style);
}

std::optional<Seconds> left(const SearchState& state) {
  constexpr double kTooEarly = 0.02;
  if (state.done < kTooEarly) return std::nullopt;
  return state.elapsed * (std::max(0.0, 1 - state.done) / state.done);
}

void cut_to(const TextStyle& style, std::vector<std::string>& lines) {
  for (std::string& line : lines) line = cut(std::move(line), style.width);
  const auto room = static_cast<std::size_t>(std::max(1, style.height - 1));
  if (lines.size() > room) lines.resize(room);
}

// As many lines as the models need: cells of one width, named by the model's number.
std::vector<std::string> loss_lines(const ProgressState& state, int width) {
  constexpr int kCell = 11;
  constexpr std::string_view kLabel = "loss";
  const int per_line = std::max(1, (width - static_cast<int>(kLabel.size())) / kCell);
  std::vector<std::string> lines;
  for (std::size_t m = 0; m < state.loss.size(); ++m) {
    if (m % static_cast<std::size_t>(per_line) == 0) {
      lines.push_back(fmt::format("{:<{}}", m == 0 ? kLabel : "", kLabel.size()));
    }
    lines.back() += fmt::format("{:>{}}", loss_text(state.loss[m]), kCell);
  }
  return lines;
}

// A mark per worker where there is room, else their numbers.
std::string straggler_line(const ProgressState& state, const TextStyle& style) {
  std::string line = fmt::format(
      "round {}: {} of {} workers straggle  ", state.round, state.stragglers.size(), state.workers);
  if (columns(line) + state.workers <= style.width) {
    for (int i = 0; i < state.workers; ++i) {
      const bool straggles =
          std::binary_search(state.stragglers.begin(), state.stragglers.end(), i);
      if (style.unicode) {
        line += straggles ? "█" : "·";
      } else {
        line += straggles ? 'X' : '.';
      }
    }
    return line;
  }
  for (std::size_t i = 0; i < state.stragglers.size(); ++i) {
    const std::string next = fmt::format("{}{}", i == 0 ? "" : " ", state.stragglers[i]);
    if (columns(line) + columns(next) + 4 > style.width) return line + " ...";
    line += next;
  }
  return line;
}

}  // namespace

std::optional<Seconds> ProgressState::left() const {
  if (jobs_done <= 0) return std::nullopt;
  return elapsed / jobs_done * std::max(0, jobs - jobs_done);
}

std::vector<std::string> progress_block(const ProgressState& state, const TextStyle& style) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format(
      "{}   scheme {} of {}", printable(state.scheme), state.scheme_number, state.schemes));
  lines.push_back(bar_line(state, style));
  lines.push_back(times(state));
  for (std::string& line : loss_lines(state, style.width)) lines.push_back(std::move(line));
  lines.push_back(straggler_line(state, style));
  cut_to(style, lines);
  return lines;
}

std::vector<std::string> progress_block(const SearchState& state, const TextStyle& style) {
  std::vector<std::string> lines = {printable(state.what)};
  lines.push_back(bar_line(std::clamp(state.done, 0.0, 1.0), "", style));
  std::string times = fmt::format("elapsed {}", duration(state.elapsed));
  if (const auto rest = left(state)) times += fmt::format("   left about {}", duration(*rest));
  lines.push_back(std::move(times));
  lines.push_back(state.best.empty() ? std::string() : "best so far: " + printable(state.best));
  cut_to(style, lines);
  return lines;
}

std::string progress_line(const SearchState& state) {
  std::string line = fmt::format(
      "{}: {:.0f} %, {}", printable(state.what), 100 * state.done, duration(state.elapsed));
  if (const auto rest = left(state)) line += fmt::format(", about {} left", duration(*rest));
  return line + (state.best.empty() ? std::string() : ", best so far: " + printable(state.best));
}

std::string progress_line(const ProgressState& state) {
  double sum = 0;
  int known = 0;
  for (const double loss : state.loss) {
    if (std::isnan(loss)) continue;
    sum += loss;
    ++known;
  }
  std::string line = fmt::format("{}: {}/{} jobs, {}",
                                 printable(state.scheme),
                                 state.jobs_done,
                                 state.jobs,
                                 duration(state.elapsed));
  if (const std::optional<Seconds> left = state.left()) {
    line += fmt::format(", {} left", duration(*left));
  }
  if (known > 0) line += fmt::format(", mean loss {:.4g}", sum / known);
  return line + fmt::format(", {} stragglers", state.stragglers.size());
}

std::string finished_line(const ProgressState& state) {
  std::string line = fmt::format(
      "{}: {} jobs in {}", printable(state.scheme), state.jobs_done, duration(state.elapsed));
  if (state.jobs_done > 0) {
    line += fmt::format(", {:.1f} ms/job", 1e3 * state.elapsed.count() / state.jobs_done);
  }
  return line;
}

}  // namespace paceline
