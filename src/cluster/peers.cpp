#include "cluster/peers.hpp"

#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>

namespace paceline {
namespace {

constexpr Seconds kQuiet{2};           // several heartbeats
constexpr Seconds kNoLessThan{60};     // of the limit that is derived
constexpr double kTimesSlowest = 20;   // a silence this much longer than the slowest response
constexpr Seconds kNobodyListened{1};  // a gap between two looks that says nothing about the ranks

}  // namespace

std::string machine_of_this_process() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::array<char, 64> space{};
  const ssize_t length = readlink("/proc/self/ns/pid", space.data(), space.size());
  return boot + " " + std::string(space.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
}

bool process_is_there(int pid) {
  if (kill(pid, 0) != 0 && errno == ESRCH) return false;
  // One that has ended and that nobody has waited for yet is still listed, as a zombie.
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(stat, text);
  const std::size_t name_end = text.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= text.size() || text[name_end + 2] != 'Z';
}

Peers::Peers(int ranks, Seconds limit, Notice notice)
    : peers_(static_cast<std::size_t>(ranks - 1)),
      given_limit_(limit),
      notice_(std::move(notice)),
      machine_(machine_of_this_process()),
      listened_(std::chrono::steady_clock::now()) {
  for (Peer& peer : peers_) peer.heard = listened_;
}

void Peers::join(int rank, Hello hello) { peers_[index(rank)].hello = std::move(hello); }

void Peers::heard(int rank, SteadyTime now) {
  Peer& peer = peers_[index(rank)];
  if (peer.silent) {
    say(fmt::format(
        "{} answers again after {:.1f} s", name(rank), Seconds(now - peer.heard).count()));
  }
  peer.heard = now;
  peer.silent = peer.lost = false;
}

void Peers::listened(SteadyTime now) {
  const bool missed = now - listened_ > kNobodyListened;
  if (!missed && now - listened_ < kHeartbeat) return;
  for (int rank = 1; rank < ranks(); ++rank) {
    Peer& peer = peers_[index(rank)];
    if (missed) peer.heard = std::min(peer.heard + (now - listened_), now);
    judge(rank, now);
  }
  listened_ = now;
}

void Peers::judge(int rank, SteadyTime now) {
  Peer& peer = peers_[index(rank)];
  const Seconds silence = now - peer.heard;
  if (peer.lost || silence < 2 * kHeartbeat) return;
  if (gone(rank)) {
    peer.silent = peer.lost = true;
    say(fmt::format("{} has died{}",
                    name(rank),
                    is_server(rank) ? "" : ": its workers count as stragglers from now on"));
  } else if (silence > limit()) {
    peer.silent = peer.lost = true;
    say(fmt::format("{} has been silent for {:.1f} s and counts as lost (limit {:.1f} s)",
                    name(rank),
                    silence.count(),
                    limit().count()));
  } else if (!peer.silent && silence > kQuiet) {
    peer.silent = true;
    say(fmt::format("{} has been silent for {:.1f} s: {} until it answers",
                    name(rank),
                    silence.count(),
                    is_server(rank) ? "nothing goes on" : "its workers count as stragglers"));
  }
}

bool Peers::gone(int rank) const {
  const Peer& peer = peers_[index(rank)];
  return peer.hello && peer.hello->machine == machine_ && !process_is_there(peer.hello->pid);
}

std::string Peers::name(int rank) const {
  const Peer& peer = peers_[index(rank)];
  const char* const role = is_server(rank) ? ", parameter server" : "";
  if (!peer.hello) return fmt::format("rank {}{}", rank, role);
  return fmt::format("rank {} ({}, pid {}{})", rank, peer.hello->host, peer.hello->pid, role);
}

std::string Peers::losses() const {
  std::string text;
  for (int rank = 1; rank < ranks(); ++rank) {
    if (!lost(rank)) continue;
    text += fmt::format(
        "{}{} {}", text.empty() ? "" : ", ", name(rank), gone(rank) ? "has died" : "is silent");
  }
  return text;
}

Seconds Peers::limit() const {
  if (given_limit_ > Seconds{0}) return given_limit_;
  return std::max(kNoLessThan, kTimesSlowest * slowest_);
}

void Peers::say(const std::string& line) const {
  if (notice_) notice_(line);
}

}  // namespace paceline
