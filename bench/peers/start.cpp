// Writes what a trainer in another language needs to do the same updates:
//     paceline_peer_start FOLDER DATA MODELS UPDATES BATCH SEED
// parameters.f32: float32, shape (models, d); batches.i32: int32, shape (models, updates, batch),
// sample numbers.
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "peer.hpp"

using namespace paceline;

template <class T>
void append(std::ofstream& file, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span<const T>(values));
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

int main(int argc, char** argv) {
  if (argc < 2) return peer::complain("expected FOLDER DATA MODELS UPDATES BATCH SEED");
  const auto training = peer::make_training({argv + 2, argv + argc});
  if (!training) return peer::complain(training.error().message);
  const std::string folder = argv[1];
  std::ofstream parameters(folder + "/parameters.f32", std::ios::binary);
  std::ofstream batches(folder + "/batches.i32", std::ios::binary);
  std::vector<int> batch(static_cast<std::size_t>(training->batch));
  for (int m = 0; m < training->models; ++m) {
    append(parameters, training->parameters[static_cast<std::size_t>(m)]);
    for (int v = 0; v < training->updates; ++v) {
      training->sampler->batch(ModelId{m}, Version{v}, batch);
      append(batches, batch);
    }
  }
  parameters.close();
  batches.close();
  if (!parameters || !batches) return peer::complain("cannot write to " + folder);
  return 0;
}
