// Schemes, the simulator and the tuner in Python.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "binding.hpp"
#include "paceline/delay_table.hpp"
#include "paceline/play.hpp"
#include "paceline/tune.hpp"

namespace paceline::python {
namespace {

constexpr int kModelRounds =
    1000;  // a delay model is recorded for so many rounds before it is tuned for

py::list list_schemes() {
  py::list all;
  for (const SchemeDescription& scheme : scheme_catalog()) {
    py::list parameters;
    for (const SchemeParameter& parameter : scheme.parameters) {
      parameters.append(py::dict(py::arg("name") = parameter.name,
                                 py::arg("allowed") = parameter.allowed,
                                 py::arg("meaning") = parameter.meaning));
    }
    all.append(py::dict(py::arg("name") = scheme.name,
                        py::arg("summary") = scheme.summary,
                        py::arg("parameters") = parameters,
                        py::arg("load") = scheme.load,
                        py::arg("decode_delay") = scheme.decode_delay,
                        py::arg("source") = scheme.source,
                        py::arg("example") = scheme.example));
  }
  return all;
}

SchemeInfo scheme_info(const std::string& text, int workers, std::uint64_t seed) {
  if (workers < 1) raise_value_error(fmt::format("workers={} is not allowed; at least 1", workers));
  return must(make_scheme(text, {.workers = workers, .seed = seed}))->info();
}

/// Thrown by the observer of a simulation that Ctrl-C ended.
struct SimulationStopped {};

/// Round by round, what a simulation was like.
struct RoundColumns {
  std::vector<double> opened;
  std::vector<double> closed;
  std::vector<double> response_times;  ///< a row per round; NaN: no answer before the round closed
  std::vector<int> straggler_counts;
  std::vector<double> decoded_at;  ///< per job

  void add(const RoundRecord& record) {
    opened.push_back(record.opened.count());
    closed.push_back(record.closed.count());
    straggler_counts.push_back(record.stragglers.size());
    for (const Seconds time : record.answers.time) {
      response_times.push_back(time == kNever ? std::numeric_limits<double>::quiet_NaN()
                                              : time.count());
    }
    for (const JobId job : record.decoded) {
      if (decoded_at.size() <= job.index())
        decoded_at.resize(job.index() + 1, std::numeric_limits<double>::quiet_NaN());
      decoded_at[job.index()] = record.closed.count();
    }
  }
};

struct PythonSimulation {
  Played played;
  double limit = 0;
  RoundColumns rounds;
};

PythonSimulation simulate_python(const std::string& scheme,
                                 const DelayArguments& arguments,
                                 int jobs,
                                 int models,
                                 const std::string& close,
                                 bool persistent,
                                 bool cancel_stragglers,
                                 bool record) {
  if (jobs < 1) raise_value_error(fmt::format("jobs={} is not allowed; at least 1", jobs));
  const NamedDelays delays = delays_of(arguments);
  PythonSimulation simulation;
  PlayOptions options;
  options.jobs = jobs;
  options.models = models;
  options.close = close;
  options.seed = arguments.seed;
  options.workers = persistent ? WorkerKind::kPersistent : WorkerKind::kStateless;
  options.cancel_stragglers = cancel_stragglers;
  auto played = interruptible([&](const std::atomic<bool>& interrupted) {
    if (record) {
      options.observer = [&](const RoundRecord& round) {
        if (interrupted) throw SimulationStopped();
        simulation.rounds.add(round);
      };
    }
    return play(scheme, *delays.source, options);
  });
  simulation.played = must(std::move(played));
  simulation.limit =
      clairvoyant_total(*delays.source, jobs, simulation.played.info.jobs_per_round).count();
  return simulation;
}

py::array_t<double> response_times_of(const PythonSimulation& self) {
  const auto rounds = static_cast<py::ssize_t>(self.rounds.opened.size());
  return to_array(self.rounds.response_times, {rounds, py::ssize_t{self.played.info.workers}});
}

std::pair<int, int> jobs_per_round_limits(const std::optional<int>& jobs_per_round, int max_delay) {
  if (!jobs_per_round) return {1, max_delay + 1};
  if (*jobs_per_round < 1 || *jobs_per_round > max_delay + 1) {
    raise_value_error(fmt::format("jobs_per_round={} is not allowed; 1 ... {} (max_delay + 1)",
                                  *jobs_per_round,
                                  max_delay + 1));
  }
  return {*jobs_per_round, *jobs_per_round};
}

struct PythonTuneOptions {
  TuneOptions library;
  int threads = 0;
  py::object progress;  ///< progress(what, done, best), or None
};

Tuning tune_python(const DelayArguments& arguments, const PythonTuneOptions& options) {
  const NamedDelays delays = delays_of(arguments);
  const DelayTable table = DelayTable::record(
      *delays.source, delays.recorded_rounds > 0 ? delays.recorded_rounds : kModelRounds);
  std::optional<py::error_already_set> raised;  // by `progress`
  auto tuning = interruptible([&](std::atomic<bool>& interrupted) {
    SearchControl control{.threads = options.threads, .interrupted = &interrupted};
    if (!options.progress.is_none()) {
      control.on_progress = [&](const SearchProgress& progress) {
        const py::gil_scoped_acquire acquire;
        if (raised) return;
        try {
          options.progress(progress.what, progress.done, progress.best);
        } catch (py::error_already_set& error) {
          raised.emplace(error);
          interrupted = true;
        }
      };
    }
    return tune(table, options.library, control);
  });
  if (raised) throw py::error_already_set(*raised);
  return must(std::move(tuning));
}

void check_tune_options(const TuneOptions& options) {
  if (options.max_delay < 0 || options.max_delay > 1000) {
    raise_value_error(fmt::format("max_delay={} is not allowed; 0 ... 1000", options.max_delay));
  }
  if (!(options.storage > 0 && options.storage <= 1)) {
    raise_value_error(
        fmt::format("storage={} is not allowed; a fraction of the data, above 0 and at most 1",
                    options.storage));
  }
  if (!(options.max_residual >= 0 && options.max_residual <= 1)) {
    raise_value_error(fmt::format("max_residual={} is not allowed; 0 ... 1", options.max_residual));
  }
}

void add_scheme_info(py::module_& module) {
  py::class_<SchemeInfo>(module, "Scheme", "What a scheme costs and asks for.")
      .def(py::init(&scheme_info),
           py::arg("text"),
           py::kw_only(),
           py::arg("workers"),
           py::arg("seed") = 0)
      .def_readonly("name", &SchemeInfo::name)
      .def_readonly("parameters", &SchemeInfo::parameters)
      .def_property_readonly("text", &SchemeInfo::label)
      .def_readonly("workers", &SchemeInfo::workers)
      .def_readonly("load", &SchemeInfo::load)
      .def_readonly("storage", &SchemeInfo::storage)
      .def_readonly("decode_delay", &SchemeInfo::decode_delay)
      .def_readonly("jobs_per_round", &SchemeInfo::jobs_per_round)
      .def_readonly("open_jobs", &SchemeInfo::open_jobs)
      .def_readonly("messages_per_round", &SchemeInfo::messages_per_round)
      .def_readonly("error_bound", &SchemeInfo::error_bound)
      .def("__repr__", [](const SchemeInfo& self) {
        return fmt::format("<paceline.Scheme {}, {} workers>", self.label(), self.workers);
      });
}

void add_simulator(py::module_& module) {
  py::class_<PythonSimulation>(module, "Simulation", "What a scheme did in virtual time.")
      .def_property_readonly("scheme",
                             [](const PythonSimulation& self) { return self.played.info; })
      .def_property_readonly(
          "total_seconds",
          [](const PythonSimulation& self) { return self.played.result.total.count(); })
      .def_property_readonly("seconds_per_job",
                             [](const PythonSimulation& self) {
                               return self.played.result.total.count() / self.played.result.jobs;
                             })
      .def_property_readonly("limit_seconds",
                             [](const PythonSimulation& self) { return self.limit; })
      .def_property_readonly("rounds",
                             [](const PythonSimulation& self) { return self.played.result.rounds; })
      .def_property_readonly("jobs",
                             [](const PythonSimulation& self) { return self.played.result.jobs; })
      .def_property_readonly(
          "wait_outs", [](const PythonSimulation& self) { return self.played.result.wait_outs; })
      .def_property_readonly(
          "mean_stragglers",
          [](const PythonSimulation& self) { return self.played.result.mean_stragglers; })
      .def_property_readonly(
          "mean_residual",
          [](const PythonSimulation& self) { return self.played.result.mean_residual; })
      .def_property_readonly(
          "opened", [](const PythonSimulation& self) { return to_array(self.rounds.opened); })
      .def_property_readonly(
          "closed", [](const PythonSimulation& self) { return to_array(self.rounds.closed); })
      .def_property_readonly(
          "stragglers",
          [](const PythonSimulation& self) { return to_array(self.rounds.straggler_counts); })
      .def_property_readonly("response_times", response_times_of)
      .def_property_readonly("decoded_at", [](const PythonSimulation& self) {
        return to_array(self.rounds.decoded_at);
      });

  module.def(
      "simulate",
      [](const std::string& scheme,
         py::object delays,
         std::optional<int> workers,
         int jobs,
         int models,
         const std::string& close,
         double slope,
         double load,
         bool proportional,
         bool persistent,
         bool cancel_stragglers,
         std::uint64_t seed,
         bool record) {
        return simulate_python(scheme,
                               {std::move(delays), workers, slope, load, proportional, seed},
                               jobs,
                               models,
                               close,
                               persistent,
                               cancel_stragglers,
                               record);
      },
      py::arg("scheme"),
      py::arg("delays"),
      py::kw_only(),
      py::arg("workers") = py::none(),
      py::arg("jobs") = 100,
      py::arg("models") = 0,
      py::arg("close") = "eager",
      py::arg("slope") = 0.0,
      py::arg("load") = 0.0,
      py::arg("proportional") = false,
      py::arg("persistent") = false,
      py::arg("cancel_stragglers") = false,
      py::arg("seed") = 1,
      py::arg("record") = true,
      "Plays a scheme in virtual time.");
}

void add_tuner(py::module_& module) {
  py::class_<TunedScheme>(module, "TunedScheme", "The best setting of a family of schemes.")
      .def_readonly("family", &TunedScheme::family)
      .def_property_readonly("text", [](const TunedScheme& self) { return self.candidate.scheme; })
      .def_property_readonly("close", [](const TunedScheme& self) { return self.candidate.close; })
      .def_readonly("scheme", &TunedScheme::info)
      .def_readonly("left_out", &TunedScheme::left_out)
      .def_readonly("folds", &TunedScheme::folds)
      .def_property_readonly("scores",
                             [](const TunedScheme& self) { return to_array(self.scores); })
      .def_property_readonly("seconds_per_job",
                             [](const TunedScheme& self) { return self.seconds_per_job.mean; })
      .def_property_readonly(
          "half_width", [](const TunedScheme& self) { return self.seconds_per_job.half_width; })
      .def_property_readonly("limit_seconds_per_job",
                             [](const TunedScheme& self) { return self.limit; })
      .def("__repr__", [](const TunedScheme& self) {
        return fmt::format("<paceline.TunedScheme {}, {:.4g} s per job>",
                           self.info.label(),
                           self.seconds_per_job.mean);
      });
  py::class_<Tuning>(module, "Tuning", "Which schemes suit a cluster.")
      .def_readonly("workers", &Tuning::workers)
      .def_readonly("recorded_rounds", &Tuning::recorded_rounds)
      .def_readonly("schemes", &Tuning::schemes)
      .def_property_readonly("recommended",
                             [](const Tuning& self) { return self.schemes.at(self.recommended); })
      .def_readonly("advice", &Tuning::advice)
      .def_readonly("slow_workers", &Tuning::slow_workers);

  module.def(
      "tune",
      [](py::object delays,
         std::optional<int> workers,
         const std::vector<std::string>& schemes,
         int max_delay,
         double storage,
         std::optional<int> jobs_per_round,
         double max_residual,
         int jobs,
         int folds,
         int block,
         int search_resamples,
         int score_resamples,
         double slope,
         double load,
         bool proportional,
         std::uint64_t seed,
         int threads,
         py::object progress) {
        PythonTuneOptions options{.library = {.schemes = schemes,
                                              .max_delay = max_delay,
                                              .storage = storage,
                                              .max_residual = max_residual,
                                              .jobs = jobs,
                                              .block = block,
                                              .folds = folds,
                                              .search_resamples = search_resamples,
                                              .score_resamples = score_resamples},
                                  .threads = threads,
                                  .progress = std::move(progress)};
        check_tune_options(options.library);
        const auto [fewest, most] = jobs_per_round_limits(jobs_per_round, max_delay);
        options.library.fewest_jobs_per_round = fewest;
        options.library.most_jobs_per_round = most;
        options.library.play.seed = seed;
        return tune_python({std::move(delays), workers, slope, load, proportional, seed}, options);
      },
      py::arg("delays"),
      py::kw_only(),
      py::arg("workers") = py::none(),
      py::arg("schemes") = std::vector<std::string>(),
      py::arg("max_delay") = 3,
      py::arg("storage") = 1.0,
      py::arg("jobs_per_round") = py::none(),
      py::arg("max_residual") = 0.0,
      py::arg("jobs") = 100,
      py::arg("folds") = 3,
      py::arg("block") = kBootstrapBlock,
      py::arg("search_resamples") = 6,
      py::arg("score_resamples") = 20,
      py::arg("slope") = 0.0,
      py::arg("load") = 0.0,
      py::arg("proportional") = false,
      py::arg("seed") = 1,
      py::arg("threads") = 0,
      py::arg("progress") = py::none(),
      "Finds the schemes and settings that suit recorded or modelled delays.");
}

}  // namespace

void add_simulations(py::module_& module) {
  module.def("schemes", list_schemes, "Every scheme: a list of dicts.");
  module.def(
      "load_profile",
      [](const std::string& path) {
        const DelayProfile profile = must(read_delay_profile(path));
        return to_array(profile.seconds,
                        {py::ssize_t{profile.rounds}, py::ssize_t{profile.workers}});
      },
      py::arg("path"),
      "A delay profile as an array (rounds, workers) of seconds.");
  add_scheme_info(module);
  add_simulator(module);
  add_tuner(module);
}

}  // namespace paceline::python
