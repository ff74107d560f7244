// What a scheme hands to the catalogue: its description, and how to build it from text.
//
// A scheme's .cpp defines one function that returns its entry (gc_entry(), m_sgc_entry(), ...), and
// scheme_catalog.cpp lists these functions. Nothing else in the library knows a scheme by name.
#pragma once

#include <functional>
#include <memory>

#include "paceline/expected.hpp"
#include "paceline/parameters.hpp"
#include "paceline/scheme.hpp"
#include "paceline/search_space.hpp"

namespace paceline {

struct SchemeEntry {
  SchemeDescription description;

  /// Builds the scheme for `context.workers` workers. Reads every parameter, then asks
  /// parameters.finish() once for the first error.
  std::function<Expected<std::unique_ptr<Scheme>>(ParameterText& parameters,
                                                  const SchemeContext& context)>
      make;

  /// Who handles bundle=m. True: the catalogue does. It adds the parameter to the description,
  /// takes it out of the text and builds m schemes for n/m workers each. False: the scheme itself,
  /// which then lists it among its parameters.
  bool bundle_by_catalog = true;

  /// The settings worth trying (search_space.hpp); empty: none, and `paceline tune` leaves the
  /// scheme out. Where the catalogue bundles, the limits are those of one of the m schemes: n/m
  /// workers, 1/m of the models, one job per round.
  std::function<std::vector<SearchFamily>(const SearchLimits& limits)> search = {};
};

}  // namespace paceline
