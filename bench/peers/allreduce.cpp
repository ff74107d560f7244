// Synchronous data-parallel training as a plain MPI program: every rank computes its share of the
// batch, and MPI_Iallreduce adds the gradients up.
//
//     mpirun -n WORKERS paceline_peer_allreduce PROFILE SLOPE DATA MODELS UPDATES BATCH SEED
//
// A rank joins the sum of round r no sooner than the profile's time of round r after the round
// began, as a worker of `paceline train --profile PROFILE --slope SLOPE` answers. Rank 0 prints a
// line of JSON.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "paceline/delays.hpp"
#include "paceline/parameters.hpp"
#include "peer.hpp"

using namespace paceline;
using Clock = std::chrono::steady_clock;

/// Sums over all ranks, in place. Waiting ranks sleep between two looks: MPI_Allreduce would keep
/// a core busy in each, and there are fewer cores than ranks.
void sum_over_ranks(std::vector<float>& values) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE,
                 values.data(),
                 static_cast<int>(values.size()),
                 MPI_FLOAT,
                 MPI_SUM,
                 MPI_COMM_WORLD,
                 &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

/// This rank's part of a batch, cut at equal borders.
std::span<const int> share(const std::vector<int>& batch, int rank, int ranks) {
  const std::size_t size = batch.size();
  const std::size_t begin = size * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks);
  const std::size_t end =
      size * static_cast<std::size_t>(rank + 1) / static_cast<std::size_t>(ranks);
  return std::span(batch).subspan(begin, end - begin);
}

/// Trains all models, and prints how it went.
void train(peer::Training& training, const DelaySource& delays, int rank, int ranks) {
  const std::size_t d = training.model->length();
  std::vector<std::unique_ptr<Optimizer>> optimizers;
  for (int m = 0; m < training.models; ++m) optimizers.push_back(peer::make_peer_optimizer());
  std::vector<double> last_loss(static_cast<std::size_t>(training.models));
  std::vector<int> batch(static_cast<std::size_t>(training.batch));
  std::vector<float> sum;
  const int jobs = training.models * training.updates;

  MPI_Barrier(MPI_COMM_WORLD);
  const auto started = Clock::now();
  for (int job = 0; job < jobs; ++job) {
    const auto begun = Clock::now();
    const ModelId model{job % training.models};
    std::vector<float>& parameters = training.parameters[model.index()];
    training.sampler->batch(model, Version{job / training.models}, batch);
    const std::span<const int> samples = share(batch, rank, ranks);
    const std::vector<float> ones(samples.size(), 1.0F);
    sum.assign(d + 1, 0.0F);  // the gradient, and the loss behind it
    const double loss =
        training.model->add_gradient(parameters, samples, ones, std::span(sum).first(d));
    sum[d] = static_cast<float>(loss);
    const Seconds answer = delays.delay(Round{job}, WorkerId{rank}).at(1.0 / ranks);
    std::this_thread::sleep_until(begun + answer);
    sum_over_ranks(sum);
    for (float& value : sum) value /= static_cast<float>(training.batch);
    optimizers[model.index()]->step(parameters, std::span<const float>(sum).first(d));
    last_loss[model.index()] = static_cast<double>(sum[d]);
  }
  const Seconds took = Clock::now() - started;

  if (rank > 0) return;
  double loss = 0;
  double accuracy = 0;
  for (std::size_t m = 0; m < training.parameters.size(); ++m) {
    loss += last_loss[m] / training.models;
    accuracy += training.model->evaluate(training.parameters[m], training.data->test).accuracy /
                training.models;
  }
  fmt::print(
      "{{\"name\": \"MPI allreduce\", \"seconds_per_update\": {:.6f}, \"accuracy\": {:.6f}, "
      "\"loss\": {:.6f}}}\n",
      took.count() / jobs,
      accuracy,
      loss);
}

Expected<std::unique_ptr<DelaySource>> read_delays(const std::string& path,
                                                   const std::string& slope,
                                                   int workers) {
  auto profile = read_delay_profile(path);
  if (!profile) return Unexpected(profile.error());
  const auto seconds = to_number(slope);
  if (!seconds || profile->workers < workers) {
    return invalid(fmt::format("SLOPE must be a number, and {} have {} columns", path, workers));
  }
  return make_replay(first_workers(*profile, workers), {.slope = *seconds});
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string wrong = "expected PROFILE SLOPE DATA MODELS UPDATES BATCH SEED";
  if (arguments.size() > 2) {
    const auto delays = read_delays(arguments[0], arguments[1], ranks);
    auto training = peer::make_training({arguments.begin() + 2, arguments.end()});
    wrong = !delays ? delays.error().message : !training ? training.error().message : "";
    if (wrong.empty()) train(*training, **delays, rank, ranks);
  }
  MPI_Finalize();
  return wrong.empty() ? 0 : rank == 0 ? peer::complain(wrong) : 2;
}
