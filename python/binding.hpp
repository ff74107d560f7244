// What the parts of the Python module share: errors as exceptions, arrays without copies, calls
// that Ctrl-C ends.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "paceline/delays.hpp"
#include "paceline/expected.hpp"
#include "paceline/scheme.hpp"

namespace paceline::python {

namespace py = pybind11;

/// ValueError, RuntimeError or KeyboardInterrupt, with the error's line.
[[noreturn]] void raise(const Error& error);

template <class T>
T must(Expected<T> result) {
  if (!result) raise(result.error());
  return *std::move(result);
}

[[noreturn]] inline void raise_value_error(const std::string& message) {
  raise({ErrorCode::kInvalid, message});
}

/// Does the work on another thread and waits for it, without the GIL. Ctrl-C sets the flag that the
/// work is given and is raised once the work has ended.
template <class Work>
auto interruptible(const Work& work) {
  std::atomic<bool> interrupted{false};
  auto result = std::async(std::launch::async, [&] { return work(interrupted); });
  std::optional<py::error_already_set> raised;
  while (true) {
    {
      const py::gil_scoped_release release;
      if (result.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready) break;
    }
    if (!raised && PyErr_CheckSignals() != 0) {
      raised.emplace();  // takes Python's error
      interrupted = true;
    }
  }
  if (raised) throw py::error_already_set(*raised);
  return result.get();
}

/// What response times are taken from.
struct DelayArguments {
  py::object delays;           ///< text of a model, or an array (rounds, workers) of seconds
  std::optional<int> workers;  ///< for a model; of an array: its first columns
  double slope = 0;
  double load = 0;
  bool proportional = false;
  std::uint64_t seed = 1;
};

struct NamedDelays {
  std::unique_ptr<DelaySource> source;
  int recorded_rounds = 0;  ///< 0: a model
};

NamedDelays delays_of(const DelayArguments& arguments);

/// A copy as a numpy array of this shape.
template <class T>
py::array_t<T> to_array(const std::vector<T>& values, std::vector<py::ssize_t> shape) {
  return py::array_t<T>(std::move(shape), values.data());
}

template <class T>
py::array_t<T> to_array(const std::vector<T>& values) {
  return to_array(values, {static_cast<py::ssize_t>(values.size())});
}

void add_codes(py::module_& module);
void add_simulations(py::module_& module);
void add_training(py::module_& module);

}  // namespace paceline::python
