#include "schemes/scheme_catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

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

}  // namespace

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
