// A gradient code in a program with its own MPI: rank 0 fits y = 3 x - 1, the other ranks are the
// workers, one of whom sleeps in every round. Only MPI_Send and MPI_Recv, and of Paceline only the
// code.
//
//     mpirun -n 7 coded_mpi
#include <mpi.h>
#include <unistd.h>

#include <cstdio>

#include "paceline/code_catalog.hpp"
#include "paceline/coded_loop.hpp"

using namespace paceline;

constexpr int kRounds = 120;      // a message's tag is its round; the last one ends the run
using Line = std::vector<float>;  // slope, intercept

void work(const GradientCode& code, int worker) {
  for (MPI_Status status{}; status.MPI_TAG < kRounds;) {
    Line line(2);
    MPI_Recv(line.data(), 2, MPI_FLOAT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG % code.workers() == worker) usleep(20'000);        // this round's straggler
    const auto add_gradient = [&](ChunkId chunk, std::span<float> sum) {  // one sample per chunk
      const float x = static_cast<float>(chunk.value) / static_cast<float>(code.chunks);
      const float error = line[0] * x + line[1] - (3 * x - 1);
      sum[0] += error * x;
      sum[1] += error;
    };
    const std::vector<float> message = encode(code, WorkerId{worker}, 2, add_gradient);
    MPI_Send(message.data(), 2, MPI_FLOAT, 0, status.MPI_TAG, MPI_COMM_WORLD);
  }
}

void lead(const GradientCode& code) {
  const int n = code.workers();
  Line line(2);
  std::vector<std::vector<float>> messages(static_cast<std::size_t>(n), std::vector<float>(2));
  for (int round = 0; round <= kRounds; ++round) {
    for (int i = 0; i < n; ++i) MPI_Send(line.data(), 2, MPI_FLOAT, i + 1, round, MPI_COMM_WORLD);
    WorkerSet answered(n);  // the last round takes in whatever is still on its way
    while (round == kRounds ? answered.size() < n : !code.decodable(answered)) {
      std::vector<float> message(2);
      MPI_Status status;
      MPI_Recv(message.data(), 2, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      if (status.MPI_TAG != round) continue;  // a straggler's answer to an older round
      messages[static_cast<std::size_t>(status.MPI_SOURCE) - 1] = message;
      answered.insert(WorkerId{status.MPI_SOURCE - 1});
    }
    const std::vector<float> gradient = decode(code, answered, messages, 2);
    for (std::size_t j = 0; j < 2; ++j) line[j] -= gradient[j] / static_cast<float>(code.chunks);
  }
  std::printf("y = %.2f x %+.2f\n", static_cast<double>(line[0]), static_cast<double>(line[1]));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const GradientCode code = make_code("cyclic:s=1", CodeContext{.workers = ranks - 1}).value();
  if (rank == 0) lead(code);
  if (rank > 0) work(code, rank - 1);
  MPI_Finalize();
}
