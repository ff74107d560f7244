// Training in Python: gradients are Python functions, called by the threads of a live run, each of
// which takes the GIL for its call. What a function does without the GIL (most of PyTorch and
// numpy) runs in parallel.
#include "paceline/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "binding.hpp"
#include "paceline/local_runtime.hpp"
#include "paceline/round_coordinator.hpp"

namespace paceline::python {
namespace {

struct TrainArguments {
  py::list gradients;   ///< a function per model
  py::list parameters;  ///< a float vector per model
  int samples = 0;
  int batch = 0;
  int updates = 0;
  std::string scheme;
  std::string close;
  std::string optimizer;
  int threads = 0;
  bool verify = false;
};

struct PythonRun {
  LocalRunResult result;
  SchemeInfo info;
  std::vector<std::vector<float>> parameters;  ///< of each model, at the end
  std::vector<std::vector<double>> losses;     ///< of each model, by update
};

/// A copy, since the function may keep what it is given.
template <class T>
py::array_t<T> copy_of(std::span<const T> values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

/// Adds (loss, gradient), which the function returned, to `out`.
double add_result(const py::object& returned, std::span<float> out) {
  if (!py::isinstance<py::tuple>(returned) || py::len(returned) != 2) {
    throw py::value_error("a gradient function returns (loss, gradient)");
  }
  const auto pair = py::reinterpret_borrow<py::tuple>(returned);
  const auto gradient =
      py::array_t<float, py::array::c_style | py::array::forcecast>::ensure(pair[1]);
  if (!gradient) throw py::error_already_set();
  if (gradient.ndim() != 1 || static_cast<std::size_t>(gradient.size()) != out.size()) {
    throw py::value_error(fmt::format(
        "a gradient function returned {} numbers in {} dimensions; a vector of {} is expected",
        gradient.size(),
        gradient.ndim(),
        out.size()));
  }
  const float* values = gradient.data();
  for (std::size_t j = 0; j < out.size(); ++j) out[j] += values[j];
  return pair[0].cast<double>();
}

/// Holds the GIL.
class Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) {}

  ~Gil() { PyGILState_Release(state_); }

  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Makes this thread one of Python's until it ends: what functions keep per thread
/// (threading.local) lasts from one call to the next.
class PythonThread {
 public:
  PythonThread() : state_(PyGILState_Ensure()), thread_(PyEval_SaveThread()) {}

  ~PythonThread() {
    PyEval_RestoreThread(thread_);
    PyGILState_Release(state_);
  }

  PythonThread(const PythonThread&) = delete;
  PythonThread& operator=(const PythonThread&) = delete;

 private:
  PyGILState_STATE state_;
  PyThreadState* thread_;
};

/// The function, which dies with the GIL held whichever thread drops it last.
std::shared_ptr<py::object> shared_function(py::object function) {
  return {new py::object(std::move(function)), [](py::object* held) {
            const Gil gil;
            delete held;
          }};
}

/// What a function of a worker raised first; worker threads must not let Python's errors pass.
struct FirstError {
  std::mutex mutex;
  std::optional<std::string> text;
  std::atomic<bool>* stop = nullptr;

  void note(std::string what) {
    const std::lock_guard lock(mutex);
    if (!text) text = std::move(what);
    *stop = true;
  }
};

std::unique_ptr<GradientSource> source_of(py::object function,
                                          std::size_t length,
                                          int samples,
                                          FirstError& failed) {
  const auto shared = shared_function(std::move(function));
  return make_callback_source(
      length,
      samples,
      [shared, &failed](std::span<const float> parameters,
                        std::span<const int> chosen,
                        std::span<const float> weights,
                        std::span<float> out) {
        if (*failed.stop) return 0.0;
        thread_local const PythonThread thread;
        const Gil gil;
        try {
          return add_result((*shared)(copy_of(parameters), copy_of(chosen), copy_of(weights)), out);
        } catch (py::error_already_set& error) {
          failed.note(error.what());
        } catch (const std::exception& error) {
          failed.note(error.what());
        }
        return 0.0;
      });
}

std::vector<std::vector<float>> initial_parameters(const py::list& given) {
  std::vector<std::vector<float>> all;
  for (const py::handle item : given) {
    const auto array = py::array_t<float, py::array::c_style | py::array::forcecast>::ensure(item);
    if (!array || array.ndim() != 1 || array.size() < 1) {
      PyErr_Clear();
      raise_value_error("parameters are a vector of numbers, or a list with one per model");
    }
    all.emplace_back(array.data(), array.data() + array.size());
    if (all.back().size() != all.front().size()) {
      raise_value_error(
          fmt::format("model {} has {} parameters, model 0 has {}; all models have as many",
                      all.size() - 1,
                      all.back().size(),
                      all.front().size()));
    }
  }
  return all;
}

void check_train_arguments(const TrainArguments& arguments) {
  if (arguments.gradients.empty() || arguments.gradients.size() != arguments.parameters.size()) {
    raise_value_error(fmt::format(
        "{} gradient functions and {} parameter vectors; one of each per model is expected",
        arguments.gradients.size(),
        arguments.parameters.size()));
  }
  if (arguments.samples < 1)
    raise_value_error(fmt::format("samples={} is not allowed; at least 1", arguments.samples));
  if (arguments.batch < 1 || arguments.batch > arguments.samples) {
    raise_value_error(fmt::format(
        "batch={} is not allowed; 1 ... {} samples", arguments.batch, arguments.samples));
  }
  if (arguments.updates < 1)
    raise_value_error(fmt::format("updates={} is not allowed; at least 1", arguments.updates));
}

PythonRun train_python(const TrainArguments& arguments, const DelayArguments& delay_arguments) {
  check_train_arguments(arguments);
  const int workers = delay_arguments.workers.value_or(0);
  if (workers < 1) raise_value_error(fmt::format("workers={} is not allowed; at least 1", workers));
  NamedDelays delays;
  if (!delay_arguments.delays.is_none()) delays = delays_of(delay_arguments);

  PythonRun run;
  std::vector<std::vector<float>> parameters = initial_parameters(arguments.parameters);
  const std::size_t length = parameters.front().size();
  const int models = static_cast<int>(parameters.size());
  const int jobs = models * arguments.updates;
  auto policy = must(make_close_policy(arguments.close));
  auto scheme = must(make_scheme(arguments.scheme,
                                 {.workers = workers,
                                  .jobs = jobs,
                                  .rule = policy->rule(),
                                  .seed = delay_arguments.seed,
                                  .stops_stragglers = true}));
  run.info = scheme->info();
  const auto coordinator =
      must(make_round_coordinator(std::move(scheme),
                                  std::move(policy),
                                  {.jobs = jobs, .models = models, .study_between_rounds = false}));
  std::vector<std::unique_ptr<Optimizer>> optimizers;
  for (int m = 0; m < models; ++m) optimizers.push_back(must(make_optimizer(arguments.optimizer)));
  ModelBank bank({.length = length, .shape = run.info.shape, .batch_size = arguments.batch},
                 std::move(parameters),
                 std::move(optimizers));
  const auto sampler =
      make_permutation_sampler(arguments.samples, arguments.batch, delay_arguments.seed);
  FirstError failed;
  std::vector<std::unique_ptr<GradientSource>> sources;
  for (const py::handle function : arguments.gradients) {
    if (PyCallable_Check(function.ptr()) == 0)
      raise_value_error(
          "gradients are functions (parameters, samples, weights) -> (loss, gradient)");
    sources.push_back(
        source_of(py::reinterpret_borrow<py::object>(function), length, arguments.samples, failed));
  }
  run.losses.resize(static_cast<std::size_t>(models));

  auto result = interruptible([&](std::atomic<bool>& interrupted) {
    failed.stop = &interrupted;
    LocalRunOptions options;
    options.workers = workers;
    options.chunk_size = run.info.chunk_size;
    options.shape = run.info.shape;
    options.delays = delays.source.get();
    options.compute_slots = arguments.threads;
    options.verify = arguments.verify;
    options.interrupted = &interrupted;
    options.observer = [&](const RoundReport& report) {
      for (const RoundReport::Job& job : report.jobs)
        run.losses[job.model.index()].push_back(job.loss);
    };
    return run_local(*coordinator, bank, sources, *sampler, options);
  });
  if (failed.text) throw std::runtime_error(*failed.text);
  run.result = must(std::move(result));
  for (int m = 0; m < models; ++m) run.parameters.push_back(*bank.parameters(ModelId{m}));
  return run;
}

py::list as_list(const py::object& one_or_many) {
  if (py::isinstance<py::list>(one_or_many) || py::isinstance<py::tuple>(one_or_many))
    return py::list(one_or_many);
  py::list list;
  list.append(one_or_many);
  return list;
}

template <class T>
py::list arrays_of(const std::vector<std::vector<T>>& vectors) {
  py::list list;
  for (const std::vector<T>& vector : vectors) list.append(to_array(vector));
  return list;
}

}  // namespace

void add_training(py::module_& module) {
  py::class_<PythonRun>(module, "Run", "What a training run did.")
      .def_property_readonly("scheme", [](const PythonRun& self) { return self.info; })
      .def_property_readonly("parameters",
                             [](const PythonRun& self) { return arrays_of(self.parameters); })
      .def_property_readonly("losses", [](const PythonRun& self) { return arrays_of(self.losses); })
      .def_property_readonly("total_seconds",
                             [](const PythonRun& self) { return self.result.total.count(); })
      .def_property_readonly("rounds", [](const PythonRun& self) { return self.result.rounds; })
      .def_property_readonly("jobs", [](const PythonRun& self) { return self.result.jobs; })
      .def_property_readonly("mean_stragglers",
                             [](const PythonRun& self) { return self.result.mean_stragglers; })
      .def_property_readonly("verify_error",
                             [](const PythonRun& self) { return self.result.worst_verify_error; })
      .def_property_readonly("verified",
                             [](const PythonRun& self) { return self.result.verified; });

  module.def(
      "train",
      [](const py::object& gradients,
         const py::object& parameters,
         int samples,
         int batch,
         int updates,
         int workers,
         const std::string& scheme,
         const std::string& close,
         const std::string& optimizer,
         py::object delays,
         double slope,
         int threads,
         bool verify,
         std::uint64_t seed) {
        return train_python(
            {as_list(gradients),
             as_list(parameters),
             samples,
             batch,
             updates,
             scheme,
             close,
             optimizer,
             threads,
             verify},
            {.delays = std::move(delays), .workers = workers, .slope = slope, .seed = seed});
      },
      py::arg("gradients"),
      py::arg("parameters"),
      py::kw_only(),
      py::arg("samples"),
      py::arg("batch"),
      py::arg("updates"),
      py::arg("workers"),
      py::arg("scheme") = "uncoded",
      py::arg("close") = "eager",
      py::arg("optimizer") = "adam:lr=0.001",
      py::arg("delays") = py::none(),
      py::arg("slope") = 0.0,
      py::arg("threads") = 0,
      py::arg("verify") = false,
      py::arg("seed") = 1,
      "Trains models whose gradients are Python functions, on workers that are threads of this "
      "process.");
}

}  // namespace paceline::python
