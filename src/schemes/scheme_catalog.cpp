#include "schemes/scheme_catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "paceline/search_space.hpp"
#include "paceline/suggest.hpp"
#include "schemes/bundle.hpp"
#include "schemes/relay.hpp"

namespace paceline {
namespace {

/// All entries; the order is that of `paceline schemes`.
const std::vector<SchemeEntry>& entries() {
  static const std::vector<SchemeEntry> all = [] {
    std::vector<SchemeEntry> list = {
        uncoded_entry(),
        gc_entry(),
        partial_entry(),
        partial_gc_entry(),
        nested_entry(),
        clusters_entry(),
        sr_sgc_entry(),
        m_sgc_entry(),
        relay_entry(),
    };
    for (SchemeEntry& entry : list) {
      if (!entry.bundle_by_catalog) continue;
      entry.description.parameters.push_back(
          {"bundle", "m >= 1, m divides n", "m jobs per round, each on n/m of the workers"});
    }
    return list;
  }();
  return all;
}

/// The divisor of n that is nearest to m; the smaller of two.
int nearest_divisor(int n, int m) {
  int best = 1;
  for (int d = 2; d <= n; ++d) {
    if (n % d == 0 && std::abs(d - m) < std::abs(best - m)) best = d;
  }
  return best;
}

Expected<std::unique_ptr<Scheme>> make_bundled(const SchemeEntry& entry,
                                               ParameterText& parameters,
                                               const SchemeContext& context) {
  const int n = context.workers;
  int m = parameters.integer("bundle", 1, n, 1);
  if (n % m != 0) {
    parameters.fail(fmt::format("bundle={} does not divide {} workers; the nearest that does is {}",
                                m,
                                n,
                                nearest_divisor(n, m)));
    m = 1;
  }
  SchemeContext inner = context;
  inner.workers = n / m;
  if (context.jobs != kEndless) inner.jobs = (context.jobs + m - 1) / m;
  Expected<std::unique_ptr<Scheme>> scheme = entry.make(parameters, inner);
  if (!scheme || m == 1) return scheme;
  return make_bundle(std::move(scheme).value(), m);
}

/// The same line for m schemes side by side.
SearchLine bundled(SearchLine line, int m) {
  line.text = [text = std::move(line.text), m](int value) {
    const std::string inner = text(value);
    const char* separator = inner.find(':') == std::string::npos ? ":" : ",";
    return fmt::format("{}{}bundle={}", inner, separator, m);
  };
  return line;
}

/// Adds what `entry` tries with m jobs per round to the families of the same name.
void add_families(const SchemeEntry& entry,
                  const SearchLimits& limits,
                  int m,
                  std::vector<SearchFamily>& families) {
  SearchLimits inner = limits;
  inner.fewest_jobs_per_round = inner.most_jobs_per_round = m;
  if (entry.bundle_by_catalog) {
    inner = {.workers = limits.workers / m,
             .models = limits.models / m,
             .storage = limits.storage,
             .max_residual = limits.max_residual};
  }
  for (SearchFamily& family : entry.search(inner)) {
    auto known = std::ranges::find(families, family.name, &SearchFamily::name);
    if (known == families.end()) {
      SearchFamily fresh = family;
      fresh.lines.clear();
      known = families.insert(families.end(), std::move(fresh));
    }
    for (SearchLine& line : family.lines) {
      if (line.low > line.high) continue;
      const bool bundle = entry.bundle_by_catalog && m > 1;
      known->lines.push_back(bundle ? bundled(std::move(line), m) : std::move(line));
    }
  }
}

}  // namespace

std::vector<SearchFamily> search_space(const SearchLimits& limits) {
  std::vector<SearchFamily> families;
  for (const SchemeEntry& entry : entries()) {
    if (!entry.search) continue;
    const int most = std::min({limits.most_jobs_per_round, limits.models, limits.workers});
    for (int m = limits.fewest_jobs_per_round; m <= most; ++m) {
      const int dividend = entry.bundle_by_catalog ? limits.workers : limits.models;
      if (dividend % m == 0) add_families(entry, limits, m, families);
    }
  }
  std::erase_if(families, [](const SearchFamily& family) { return family.lines.empty(); });
  return families;
}

Expected<std::unique_ptr<Scheme>> make_scheme(std::string_view text, const SchemeContext& context) {
  Expected<ParameterText> parameters = ParameterText::parse(text);
  if (!parameters) return Unexpected(parameters.error());
  if (context.workers < 1) {
    return invalid(fmt::format("{}: {} workers; at least 1 is needed", text, context.workers));
  }
  std::vector<std::string> names;
  for (const SchemeEntry& entry : entries()) {
    if (entry.description.name != parameters->name()) {
      names.push_back(entry.description.name);
    } else if (entry.bundle_by_catalog) {
      return make_bundled(entry, *parameters, context);
    } else {
      return entry.make(*parameters, context);
    }
  }
  return invalid(unknown_name("scheme", parameters->name(), names));
}

const std::vector<SchemeDescription>& scheme_catalog() {
  static const std::vector<SchemeDescription> descriptions = [] {
    std::vector<SchemeDescription> list;
    for (const SchemeEntry& entry : entries()) list.push_back(entry.description);
    return list;
  }();
  return descriptions;
}

}  // namespace paceline
