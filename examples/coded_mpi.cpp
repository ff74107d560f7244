// A gradient code in a program with its own MPI: rank 0 fits y = 3 x - 1, the other ranks are the
// workers, one of whom sleeps in every round. Only MPI_Send and MPI_Recv, and of Paceline only the
// code: row, decodable, decode, apply.
//
//     mpirun -n 7 coded_mpi
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <vector>

#include "paceline/code_catalog.hpp"
#include "paceline/gradient_code.hpp"

using namespace paceline;

constexpr int kRounds = 120;  // a message's tag is its round; the last one ends the run
constexpr int kPerChunk = 10;
using Line = std::array<float, 2>;  // slope, intercept

std::vector<float> coded_gradient(const Row& row, const Line& line, int chunks) {
  const auto samples = static_cast<float>(kPerChunk * chunks);
  std::vector<float> sum(2, 0.0F);
  for (const Term& term : row.terms()) {
    for (int i = 0; i < kPerChunk; ++i) {
      const float x = static_cast<float>(term.chunk.value * kPerChunk + i) / samples;
      const float error = line[0] * x + line[1] - (3 * x - 1);
      sum[0] += static_cast<float>(term.weight) * error * x;
      sum[1] += static_cast<float>(term.weight) * error;
    }
  }
  return sum;
}

void work(const GradientCode& code, int worker) {
  for (MPI_Status status{}; status.MPI_TAG < kRounds;) {
    Line line{};
    MPI_Recv(line.data(), 2, MPI_FLOAT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG % code.workers() == worker) usleep(20'000);  // this round's straggler
    const std::vector<float> message =
        coded_gradient(code.row(WorkerId{worker}), line, code.chunks);
    MPI_Send(message.data(), 2, MPI_FLOAT, 0, status.MPI_TAG, MPI_COMM_WORLD);
  }
}

void lead(const GradientCode& code) {
  const int n = code.workers();
  Line line{};
  std::vector<std::vector<float>> messages(static_cast<std::size_t>(n), std::vector<float>(2));
  for (int round = 0; round <= kRounds; ++round) {
    for (int i = 0; i < n; ++i) {
      MPI_Send(line.data(), 2, MPI_FLOAT, i + 1, round, MPI_COMM_WORLD);
    }
    const bool last = round == kRounds;  // takes in whatever is still on its way
    WorkerSet answered(n);
    while (last ? answered.size() < n : !code.decodable(answered)) {
      std::vector<float> message(2);
      MPI_Status status;
      MPI_Recv(message.data(), 2, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      if (status.MPI_TAG != round) continue;  // a straggler's answer to an older round
      messages[static_cast<std::size_t>(status.MPI_SOURCE) - 1] = message;
      answered.insert(WorkerId{status.MPI_SOURCE - 1});
    }
    Line gradient{};
    apply(code, *code.decode(answered), messages, gradient);
    const auto samples = static_cast<float>(kPerChunk * code.chunks);
    for (std::size_t j = 0; j < 2; ++j) line[j] -= gradient[j] / samples;
  }
  std::printf("y = %.2f x %+.2f\n", static_cast<double>(line[0]), static_cast<double>(line[1]));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto code = make_code("cyclic:s=1", CodeContext{.workers = ranks - 1});
  if (!code && rank == 0) std::printf("%s\n", code.error().message.c_str());
  if (code && rank == 0) lead(*code);
  if (code && rank > 0) work(*code, rank - 1);
  MPI_Finalize();
  return code ? 0 : 1;
}
