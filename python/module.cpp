// The Python module paceline._paceline: its parts, and what they share.
#include <fmt/format.h>

#include <cmath>

#include "binding.hpp"

namespace paceline::python {

void raise(const Error& error) {
  PyObject* type = PyExc_RuntimeError;
  if (error.code == ErrorCode::kInvalid) type = PyExc_ValueError;
  if (error.code == ErrorCode::kInterrupted) type = PyExc_KeyboardInterrupt;
  PyErr_SetString(type, error.message.c_str());
  throw py::error_already_set();
}

namespace {

DelayProfile profile_of(const DelayArguments& arguments) {
  const auto array =
      py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(arguments.delays);
  if (!array) {
    PyErr_Clear();
    raise_value_error("delays are the text of a model or an array (rounds, workers) of seconds");
  }
  if (array.ndim() != 2 || array.shape(0) < 1 || array.shape(1) < 1) {
    raise_value_error(
        fmt::format("delays have {} dimensions{}; an array (rounds, workers) is expected",
                    array.ndim(),
                    array.size() == 0 ? " and no numbers" : ""));
  }
  DelayProfile profile;
  profile.rounds = static_cast<int>(array.shape(0));
  profile.workers = static_cast<int>(array.shape(1));
  profile.load = arguments.load;
  profile.seconds.assign(array.data(), array.data() + array.size());
  for (int round = 0; round < profile.rounds; ++round) {
    for (int worker = 0; worker < profile.workers; ++worker) {
      const double seconds = profile.at(round, worker);
      if (std::isfinite(seconds) && seconds > 0) continue;
      raise_value_error(fmt::format(
          "delays[{}, {}] is {}; response times are seconds above 0", round, worker, seconds));
    }
  }
  const int workers = arguments.workers.value_or(profile.workers);
  if (workers < 1 || workers > profile.workers) {
    raise_value_error(fmt::format(
        "workers={} is not allowed; 1 ... {}, a column of delays each", workers, profile.workers));
  }
  return first_workers(profile, workers);
}

}  // namespace

NamedDelays delays_of(const DelayArguments& arguments) {
  if (py::isinstance<py::str>(arguments.delays)) {
    if (!arguments.workers || *arguments.workers < 1) {
      raise_value_error("a delay model needs workers=N, at least 1");
    }
    return {must(make_delay_model(
                arguments.delays.cast<std::string>(), *arguments.workers, arguments.seed)),
            0};
  }
  if (!(arguments.slope >= 0) || !(arguments.load >= 0 && arguments.load <= 1)) {
    raise_value_error(fmt::format("slope={}, load={} is not allowed; slope >= 0 and 0 <= load <= 1",
                                  arguments.slope,
                                  arguments.load));
  }
  if (arguments.proportional && arguments.slope > 0) {
    raise_value_error("proportional=True goes with slope=0");
  }
  DelayProfile profile = profile_of(arguments);
  const int rounds = profile.rounds;
  return {must(make_replay(std::move(profile),
                           {.slope = arguments.slope, .proportional = arguments.proportional})),
          rounds};
}

}  // namespace paceline::python

PYBIND11_MODULE(_paceline, module) {
  module.attr("__version__") = PACELINE_VERSION;
  paceline::python::add_codes(module);
  paceline::python::add_simulations(module);
  paceline::python::add_training(module);
}
