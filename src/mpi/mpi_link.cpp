// A frame is one MPI message of bytes. Sends are MPI_Isend from the shared buffer, kept until they
// are complete; receives are matched probes (MPI_Improbe, MPI_Imrecv), so a large message on its
// way from one rank holds up nobody else, and what a rank sends is handed out in the order it sent
// it. All calls come from one thread (MPI_THREAD_FUNNELED), none of them blocks but those of
// leave().
#include "paceline/mpi_link.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "paceline/check.hpp"

namespace paceline {
namespace {

constexpr int kTag = 1;

/// Ends the process if it is still there after `limit`: for calls of MPI that wait for ranks which
/// may have stopped meanwhile.
void end_after(std::chrono::seconds limit, int code) {
  std::thread([limit, code] {
    std::this_thread::sleep_for(limit);
    _exit(code);
  }).detach();
}

class MpiLink final : public Link {
 public:
  MpiLink() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    // A send to a rank that is gone is no reason to end this one.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    arriving_.resize(static_cast<std::size_t>(ranks_));
    sending_.resize(static_cast<std::size_t>(ranks_));
    serving_here_ = count_serving_here();
  }

  ~MpiLink() override {
    if (!left_) abort(1);  // an exception is on its way through: take the others along
  }

  int rank() const override { return rank_; }

  int ranks() const override { return ranks_; }

  int serving_here() const override { return serving_here_; }

  void send(int to, std::shared_ptr<const Bytes> frame) override {
    PACELINE_CHECK(frame->size() <= std::numeric_limits<int>::max());
    Sending sending{MPI_REQUEST_NULL, std::move(frame)};
    const Bytes& bytes = *sending.frame;
    const int error = MPI_Isend(bytes.data(),
                                static_cast<int>(bytes.size()),
                                MPI_BYTE,
                                to,
                                kTag,
                                MPI_COMM_WORLD,
                                &sending.request);
    if (error != MPI_SUCCESS) return;
    sending_[static_cast<std::size_t>(to)].push_back(std::move(sending));
    ++unsent_;
  }

  bool receive(int& from, Bytes& frame) override {
    match_arriving();
    for (int k = 0; k < ranks_; ++k) {
      // Starts behind the rank served last, so that a busy one does not keep others waiting.
      const int rank = (served_ + 1 + k) % ranks_;
      auto& queue = arriving_[static_cast<std::size_t>(rank)];
      if (queue.empty() || !complete(queue.front().request)) continue;
      from = served_ = rank;
      std::swap(frame, queue.front().frame);
      spare_.push_back(std::move(queue.front().frame));
      queue.pop_front();
      return true;
    }
    forget_sent();
    return false;
  }

  int unsent() override {
    forget_sent();
    return unsent_;
  }

  bool moving() override {
    return unsent_ > 0 || std::any_of(arriving_.begin(), arriving_.end(), [](const auto& from) {
             return !from.empty();
           });
  }

  void leave(bool together) override {
    left_ = true;
    if (!together) return;  // MPI_Finalize would wait for those that are gone
    end_after(kLeaveLimit, 0);
    MPI_Finalize();
  }

  [[noreturn]] void abort(int code) override {
    left_ = true;
    end_after(kAbortLimit, code);
    MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
  }

 private:
  struct Sending {
    MPI_Request request;
    std::shared_ptr<const Bytes> frame;
  };

  struct Arriving {
    MPI_Request request;
    Bytes frame;
  };

  static constexpr std::chrono::seconds kLeaveLimit{10};
  static constexpr std::chrono::seconds kAbortLimit{2};

  static int count_serving_here() {
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Group here_group = MPI_GROUP_NULL;
    MPI_Group all_group = MPI_GROUP_NULL;
    MPI_Comm_group(here, &here_group);
    MPI_Comm_group(MPI_COMM_WORLD, &all_group);
    const int master = 0;
    int master_here = MPI_UNDEFINED;
    int count = 0;
    MPI_Group_translate_ranks(all_group, 1, &master, here_group, &master_here);
    MPI_Group_size(here_group, &count);
    MPI_Group_free(&all_group);
    MPI_Group_free(&here_group);
    MPI_Comm_free(&here);
    return master_here == MPI_UNDEFINED ? count : count - 1;
  }

  static bool complete(MPI_Request& request) {
    int done = 0;
    // An error ends the request, too.
    return MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
  }

  /// Sends to one rank end in their order, so only the first is asked about: every question is a
  /// turn of MPI's own progress.
  void forget_sent() {
    if (unsent_ == 0) return;
    for (auto& queue : sending_) {
      while (!queue.empty() && complete(queue.front().request)) {
        queue.pop_front();
        --unsent_;
      }
    }
  }

  /// Starts to receive every message that has been announced.
  void match_arriving() {
    for (;;) {
      int found = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      if (MPI_Improbe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &found, &message, &status) !=
              MPI_SUCCESS ||
          found == 0) {
        return;
      }
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      auto& queue = arriving_[static_cast<std::size_t>(status.MPI_SOURCE)];
      Arriving& arriving = queue.emplace_back();
      if (!spare_.empty()) {
        arriving.frame = std::move(spare_.back());
        spare_.pop_back();
      }
      arriving.frame.resize(static_cast<std::size_t>(bytes));
      if (MPI_Imrecv(arriving.frame.data(), bytes, MPI_BYTE, &message, &arriving.request) !=
          MPI_SUCCESS) {
        queue.pop_back();
      }
    }
  }

  int rank_ = 0;
  int ranks_ = 1;
  int served_ = 0;  ///< rank whose message was handed out last
  int serving_here_ = 1;
  bool left_ = false;
  int unsent_ = 0;
  std::vector<std::deque<Sending>> sending_;    ///< by receiver, in order
  std::vector<std::deque<Arriving>> arriving_;  ///< by source, in the order they were sent
  std::vector<Bytes> spare_;
};

}  // namespace

Expected<std::unique_ptr<Link>> connect_mpi(const Launch& launch) {
  // A launcher that dies leaves no ranks behind.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  // Open MPI gives way to other processes whenever it finds nothing to do where ranks share cores.
  // We do not wait inside MPI but sleep between looks, and giving way on top of that costs a time
  // slice of every process that competes.
  setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    return failed("MPI cannot start");
  }
  auto link = std::make_unique<MpiLink>();
  const int ranks = link->ranks();
  if (provided < MPI_THREAD_FUNNELED) {
    link->leave(true);
    return failed("this MPI has no threads (MPI_THREAD_FUNNELED)");
  }
  if (ranks != launch.ranks) {
    link->leave(true);
    return invalid(
        fmt::format("{} started {} processes, but MPI connects {}; with srun: srun --mpi=pmix",
                    launch.by,
                    launch.ranks,
                    ranks));
  }
  return std::unique_ptr<Link>(std::move(link));
}

std::string mpi_library() {
  std::vector<char> text(MPI_MAX_LIBRARY_VERSION_STRING);
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string all(text.data(), static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

}  // namespace paceline
