// paceline-bench: all benchmarks in one program (bench/README.md).
#include <benchmark/benchmark.h>

#include "message_benchmark.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  paceline::bench::register_message_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
