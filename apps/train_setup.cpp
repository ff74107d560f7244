#include "train_setup.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "checkpoints.hpp"
#include "paceline/auto_scheme.hpp"
#include "paceline/close_policy.hpp"
#include "paceline/cluster.hpp"
#include "paceline/continued_coordinator.hpp"
#include "paceline/round_coordinator.hpp"
#include "paceline/simulator.hpp"

#ifdef PACELINE_HAVE_TORCH
#include "paceline/torch_plugin.hpp"
#endif

namespace paceline::app {
namespace {

constexpr int kDefaultWorkers = 16;
constexpr int kMostWorkers = 256;
/// A worker of a run does one order at a time, and the runtime stops it at once.
const SimulatorOptions kLiveWorkers{.workers = WorkerKind::kPersistent};

Expected<void> check_numbers(const TrainOptions& options, int processes) {
  const auto at_least_one = [](const char* name, int value) -> Expected<void> {
    if (value >= 1) return {};
    return invalid(fmt::format("--{} {} is not allowed; at least 1", name, value));
  };
  if (const auto type = parse_message_type(options.messages); !type) {
    return Unexpected(type.error());
  }
  for (const auto& [name, value] : {std::pair{"models", options.models},
                                    std::pair{"updates", options.updates},
                                    std::pair{"batch", options.batch}}) {
    if (auto good = at_least_one(name, value); !good) return good;
  }
  if (options.workers > kMostWorkers * processes) {
    return invalid(fmt::format(
        "--workers {} is too many for {}; at most {}",
        options.workers,
        processes == 1 ? std::string("one process") : fmt::format("{} ranks", processes),
        kMostWorkers * processes));
  }
  return {};
}

/// Updates that each model had when the scheme's first job began.
std::vector<Version> first_versions(const Setup& setup, const Plan& plan) {
  std::vector<Version> versions(static_cast<std::size_t>(setup.options.models));
  if (setup.resume == nullptr || !plan.resumes) return versions;
  if (plan.exactly) return setup.resume->state.begun;
  for (std::size_t m = 0; m < versions.size(); ++m) {
    versions[m] = setup.resume->state.bank.models[m].version;
  }
  return versions;
}

/// How the scheme of that number begins: from the checkpoint, or as new.
Expected<Plan> begin_plan(const std::string& text, int number, const Setup& setup) {
  const TrainOptions& options = setup.options;
  Plan plan;
  plan.facts = play_facts(options, setup.delays.workers, text);
  if (setup.resume != nullptr && number == setup.resume->scheme_number) {
    plan.resumes = true;
    plan.exactly = text != "auto" && difference(setup.resume->play, plan.facts).empty();
  }
  const std::vector<Version> versions = first_versions(setup, plan);
  plan.first_job = first_open_job(versions).value;
  if (plan.first_job >= options.jobs()) {
    return invalid(fmt::format(
        "the checkpoint has {} updates of every model already; --updates {} leaves nothing "
        "to do",
        plan.first_job / options.models,
        options.updates));
  }
  return plan;
}

/// The coordinator of the jobs that are left.
void continue_plan(Plan& plan, const Setup& setup) {
  if (!plan.resumes) return;
  plan.coordinator = continue_jobs(std::move(plan.coordinator), first_versions(setup, plan));
}

Expected<Plan> make_auto_plan(Plan plan, const Setup& setup) {
  const TrainOptions& options = setup.options;
  auto switching = SwitchingCoordinator::make(
      measuring_choice(setup.delays.workers, auto_options(options).models, options.close),
      {.workers = setup.delays.workers,
       .jobs = options.jobs() - plan.first_job,
       .models = options.models,
       .batch_size = options.batch,
       .seed = options.seed,
       .study_between_rounds = false,
       .message_type = message_type(options)});
  if (!switching) return Unexpected(switching.error());
  plan.info = (*switching)->segments().front().info;
  plan.info.name = "auto";
  plan.info.parameters.clear();
  plan.info.shape = {SwitchingCoordinator::kParts};
  plan.info.chunk_size = (*switching)->chunk_size();
  plan.switching = switching->get();
  plan.coordinator = std::move(*switching);
  continue_plan(plan, setup);
  return plan;
}

Expected<Plan> make_plan(const std::string& text, int number, const Setup& setup) {
  auto begun = begin_plan(text, number, setup);
  if (!begun) return begun;
  if (text == "auto") return make_auto_plan(std::move(*begun), setup);
  Plan plan = std::move(*begun);
  const TrainOptions& options = setup.options;
  const int jobs = options.jobs() - plan.first_job;
  auto policy = make_close_policy(options.close);
  if (!policy) return Unexpected(policy.error());
  auto scheme = make_scheme(text,
                            {.workers = setup.delays.workers,
                             .jobs = jobs,
                             .rule = (*policy)->rule(),
                             .seed = options.seed,
                             .stops_stragglers = true,
                             .message_type = message_type(options)});
  if (!scheme) return Unexpected(scheme.error());
  plan.info = (*scheme)->info();
  RoundOptions rounds{.jobs = jobs, .models = options.models};
  auto twin = make_round_coordinator((*scheme)->clone(), (*policy)->clone(), rounds);
  rounds.study_between_rounds = false;  // the master studies while it waits
  auto coordinator = make_round_coordinator(std::move(*scheme), std::move(*policy), rounds);
  if (!coordinator) return Unexpected(coordinator.error());
  plan.coordinator = std::move(*coordinator);
  continue_plan(plan, setup);
  if (setup.delays.source) {
    auto simulated = simulate(**twin, *setup.delays.source, kLiveWorkers);
    if (!simulated) return Unexpected(simulated.error());
    plan.predicted = simulated->total;
    plan.limit = clairvoyant_total(*setup.delays.source, jobs, plan.info.jobs_per_round);
  }
  return plan;
}

Expected<void> make_plans(Setup& setup, const SetupFor& what) {
  const TrainOptions& options = setup.options;
  setup.resume = what.resume;
  if (what.resume != nullptr) {
    if (const auto why = difference(what.resume->models, model_facts(options, setup));
        !why.empty()) {
      return invalid(fmt::format(
          "the checkpoint belongs to other models: {}; give the options of its run", why));
    }
    const RunState& state = what.resume->state;
    if (static_cast<int>(state.bank.models.size()) != options.models ||
        state.begun.size() != state.bank.models.size()) {
      return invalid("the checkpoint does not hold all models");
    }
  }
  std::vector<std::string> texts;
  for (const std::string& list : options.schemes) {
    for (std::string& text : split_schemes(list)) texts.push_back(std::move(text));
  }
  const auto count = static_cast<int>(texts.size());
  if (what.resume != nullptr && what.resume->scheme_number > count) {
    return invalid(
        fmt::format("the checkpoint was taken while scheme {} was played; --scheme lists {}",
                    what.resume->scheme_number,
                    count));
  }
  for (int number = 1; number <= count; ++number) {
    auto plan = make_plan(texts[static_cast<std::size_t>(number - 1)], number, setup);
    if (!plan) return Unexpected(plan.error());
    setup.plans.push_back(std::move(*plan));
  }
  return {};
}

}  // namespace

MessageType message_type(const TrainOptions& options) {
  return parse_message_type(options.messages).value();
}

AutoOptions auto_options(const TrainOptions& options) {
  AutoOptions automatic;
  automatic.models =
      options.max_delay < 0 ? options.models : std::min(options.models, options.max_delay + 1);
  automatic.close = options.close;
  automatic.seed = options.seed;
  automatic.message_type = message_type(options);
  return automatic;
}

void register_models() {
#ifdef PACELINE_HAVE_TORCH
  register_torch_plugin().value();  // on the CPU; --device comes later
#endif
}

Expected<void> use_device(const std::string& device) {
#ifdef PACELINE_HAVE_TORCH
  return register_torch_plugin(device);
#else
  if (device == "cpu") return {};
  return invalid(fmt::format(
      "device '{}' cannot be used: this build has no LibTorch; cpu always can", device));
#endif
}

Expected<Setup> make_setup(const TrainOptions& options, const SetupFor& what) {
  if (auto good = check_numbers(options, what.processes); !good) return Unexpected(good.error());
  Setup setup;
  setup.options = options;
  const bool profile = !options.delays.profile.empty();
  const int workers = options.workers > 0 || profile ? options.workers : kDefaultWorkers;
  auto delays =
      make_delays(options.delays, workers, options.jobs() + options.models + 64, options.seed);
  if (!delays) return Unexpected(delays.error());
  setup.delays = std::move(*delays);
  auto faults = parse_faults(options.faults, setup.delays.workers, options.jobs());
  if (!faults) return Unexpected(faults.error());
  setup.faults = std::move(*faults);

  auto data = load_training_data(options);
  if (!data) return Unexpected(data.error());
  setup.data = *std::move(data);
  const DataSet& train = setup.data.samples->train;
  setup.data_digest = digest(std::as_bytes(std::span(train.labels)),
                             digest(std::as_bytes(std::span(train.inputs))));
  if (options.batch > train.samples) {
    return invalid(fmt::format(
        "--batch {} is more than the {} training samples", options.batch, train.samples));
  }
  for (const std::string& text : options.optimizers) {
    if (auto optimizer = make_optimizer(text); !optimizer) return Unexpected(optimizer.error());
  }

  auto model = make_training_model(options.model, train);
  if (!model) return Unexpected(model.error());
  setup.model = std::move(*model);
  setup.sampler = make_permutation_sampler(train.samples, options.batch, options.seed);
  if (!what.plans) return setup;
  if (auto planned = make_plans(setup, what); !planned) return Unexpected(planned.error());
  return setup;
}

Expected<Setup> prepare(const TrainOptions& options, const SetupFor& what) {
  if (auto ready = use_device(options.device); !ready) return Unexpected(ready.error());
  return make_setup(options, what);
}

std::vector<std::unique_ptr<Optimizer>> make_optimizers(const TrainOptions& options) {
  const auto& texts = options.optimizers;
  std::vector<std::unique_ptr<Optimizer>> optimizers;
  for (int m = 0; m < options.models; ++m) {
    optimizers.push_back(
        std::move(make_optimizer(texts[static_cast<std::size_t>(m) % texts.size()]).value()));
  }
  return optimizers;
}

ModelBank make_bank(const Setup& setup, const SchemeInfo& info) {
  std::vector<std::vector<float>> initial;
  for (int m = 0; m < setup.options.models; ++m) {
    initial.push_back(
        setup.model->initial_parameters(setup.options.seed + static_cast<std::uint64_t>(m)));
  }
  return {{.length = setup.model->length(),
           .shape = info.shape,
           .batch_size = setup.options.batch,
           .skip_above = setup.options.skip_above},
          std::move(initial),
          make_optimizers(setup.options)};
}

}  // namespace paceline::app
