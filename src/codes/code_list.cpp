// The catalogue of codes: who is in it, and how a text finds its entry.
#include <algorithm>
#include <numeric>

#include "codes/code_entry.hpp"
#include "codes/cyclic_mds.hpp"
#include "codes/parameters.hpp"
#include "codes/promise.hpp"
#include "paceline/check.hpp"
#include "paceline/suggest.hpp"

namespace paceline {
namespace {

/// The codes of CodeRequest, which take s= alone and exist for all n and s.
template <const char* const& name>
Expected<GradientCode> make_by_request(ParameterText& parameters, const CodeContext& context) {
  const int s = parameters.integer("s", 0, context.workers - 1);
  return make_code(CodeRequest{.name = name,
                               .workers = context.workers,
                               .stragglers = s,
                               .seed = context.seed,
                               .keep_promise = context.keep_promise,
                               .weights = context.weights,
                               .message_type = context.message_type});
}

/// As above, and stride=, in which the construction is deterministic and can be compared.
Expected<GradientCode> make_mds(ParameterText& parameters, const CodeContext& context) {
  const int n = context.workers;
  const int s = parameters.integer("s", 0, n - 1);
  if (!parameters.has("stride")) {
    return make_code(CodeRequest{.name = "mds",
                                 .workers = n,
                                 .stragglers = s,
                                 .seed = context.seed,
                                 .keep_promise = context.keep_promise,
                                 .weights = context.weights,
                                 .message_type = context.message_type});
  }
  const int stride = parameters.integer("stride", 1, std::max(1, n - 1));
  if (!parameters.ok()) return invalid("mds: wrong parameters");
  if (s == 0 || s == n - 1) return plain_code("mds", n, s);
  if (std::gcd(stride, n) != 1) {
    return invalid("mds: stride = " + std::to_string(stride) + " shares a divisor with " +
                   std::to_string(n) + " workers; the best is " +
                   std::to_string(best_stride(n, s)));
  }
  return promise(bare_cyclic_mds(n, s, stride), context.keep_promise, context.message_type);
}

constexpr const char* kRepetition = "repetition";
constexpr const char* kCyclic = "cyclic";
constexpr const char* kMds = "mds";

/// All entries; the order is that of `paceline codes`.
const std::vector<CodeEntry>& entries() {
  static const std::vector<CodeEntry> all = {
      repetition_code_entry(),
      cyclic_code_entry(),
      mds_code_entry(),
      real_mds_entry(),
      chebyshev_entry(),
      reed_solomon_entry(),
      speed_aware_entry(),
      short_messages_entry(),
      tree_entry(),
      ignore_entry(),
      erasure_head_entry(),
      graph_entry(),
      expander_entry(),
      bernoulli_entry(),
      regularized_bernoulli_entry(),
      stochastic_block_entry(),
      projective_plane_entry(),
      affine_plane_entry(),
      hadamard_entry(),
      biplane_entry(),
      steiner_entry(),
      pairs_entry(),
      subsets_entry(),
      soft_design_entry(),
      product_entry(),
      heterogeneous_entry(),
      stochastic_entry(),
  };
  return all;
}

const CodeEntry* find(std::string_view name) {
  const auto found = std::ranges::find_if(
      entries(), [&](const CodeEntry& entry) { return entry.description.name == name; });
  return found == entries().end() ? nullptr : &*found;
}

}  // namespace

CodeEntry repetition_code_entry() {
  return {{.name = kRepetition,
           .summary = "groups of workers send the same sum; one answer per group decodes",
           .exact = true,
           .parameters = {{"s", "0 <= s <= n-1", "stragglers tolerated"}},
           .load = "1/floor(n/(s+1))",
           .source = "Tandon, Lei, Dimakis, Karampatziakis, Gradient Coding (2017), section 3"},
          make_by_request<kRepetition>,
          exists_always};
}

CodeEntry cyclic_code_entry() {
  return {{.name = kCyclic,
           .summary = "each worker holds s+1 neighbouring chunks; random weights",
           .exact = true,
           .parameters = {{"s", "0 <= s <= n-1", "stragglers tolerated"}},
           .load = "(s+1)/n",
           .source = "Tandon, Lei, Dimakis, Karampatziakis, Gradient Coding (2017), section 4"},
          make_by_request<kCyclic>,
          exists_always};
}

CodeEntry mds_code_entry() {
  return {{.name = kMds,
           .summary = "cyclic MDS on strided roots of unity; complex weights, closed form",
           .exact = true,
           .parameters = {{"s", "0 <= s <= n-1", "stragglers tolerated"},
                          {"stride",
                           "1 <= stride < n, prime to n",
                           "steps around the circle between neighbours (the most accurate); 1: the "
                           "textbook code"}},
           .load = "(s+1)/n, two backward passes",
           .source = "Raviv, Tamo, Tandon, Dimakis, Gradient Coding from Cyclic MDS Codes and "
                     "Expander Graphs (2018)"},
          make_mds,
          exists_always};
}

const std::vector<CodeDescription>& code_catalog() {
  static const std::vector<CodeDescription> descriptions = [] {
    std::vector<CodeDescription> list;
    for (const CodeEntry& entry : entries()) list.push_back(entry.description);
    return list;
  }();
  return descriptions;
}

Expected<GradientCode> make_code(const std::string& name,
                                 ParameterText& parameters,
                                 const CodeContext& context) {
  PACELINE_CHECK(context.workers >= 1);
  const CodeEntry* entry = find(name);
  if (entry == nullptr) {
    std::vector<std::string> names;
    for (const CodeDescription& code : code_catalog()) names.push_back(code.name);
    return invalid(unknown_name("code", name, names));
  }
  return entry->make(parameters, context);
}

Expected<GradientCode> make_code(std::string_view text, const CodeContext& context) {
  Expected<ParameterText> parameters = ParameterText::parse(text);
  if (!parameters) return Unexpected(parameters.error());
  if (context.workers < 1) {
    return invalid(std::string(text) + ": " + std::to_string(context.workers) +
                   " workers; at least 1 is needed");
  }
  Expected<GradientCode> code = make_code(parameters->name(), *parameters, context);
  // A refusal comes first: it may come before all parameters were read, which finish() would name.
  if (!code && parameters->ok()) return code;
  if (auto fine = parameters->finish(); !fine) return Unexpected(fine.error());
  return code;
}

std::vector<std::string> code_settings(std::string_view name, int workers, int most_holders) {
  const CodeEntry* entry = find(name);
  PACELINE_CHECK(entry != nullptr && workers >= 1);
  if (entry->settings != nullptr) return entry->settings(workers, most_holders);
  const auto& parameters = entry->description.parameters;
  const bool replicated =
      std::ranges::find(parameters, "r", &CodeParameter::name) != parameters.end();
  if (!replicated) {
    return entry->exists(workers, 0) ? std::vector<std::string>{""} : std::vector<std::string>{};
  }
  std::vector<std::string> settings;
  for (int r = 1; r <= most_holders; ++r) settings.push_back("r=" + std::to_string(r));
  return settings;
}

int nearest_workers(std::string_view name, int workers, int stragglers) {
  const CodeEntry* entry = find(name);
  PACELINE_CHECK(entry != nullptr && stragglers >= 0);
  const int farthest = 10 * std::max(workers, stragglers) + 100;
  for (int distance = 0; distance <= farthest; ++distance) {
    for (const int n : {workers - distance, workers + distance}) {
      if (n >= 1 && stragglers < n && entry->exists(n, stragglers)) return n;
    }
  }
  return 0;
}

}  // namespace paceline
