// An entry of the catalogue of codes, and what the factories of approximate codes ask first.
#pragma once

#include <string>
#include <vector>

#include "paceline/code_catalog.hpp"

namespace paceline {

struct CodeEntry {
  CodeDescription description;
  /// Reads its parameters; the error of a wrong one may also be left in `parameters`.
  Expected<GradientCode> (*make)(ParameterText& parameters, const CodeContext& context);
  /// Whether the code exists with default parameters; the rest of the errors are the user's.
  bool (*exists)(int workers, int stragglers);
  /// As code_settings() has it. Null: every r where the code has one, else its defaults.
  std::vector<std::string> (*settings)(int workers, int most_holders) = nullptr;
};

/// The parameters s= and residual= of every approximate code.
struct Tolerance {
  int stragglers = 0;        ///< a set with more than these missing is not decoded
  double most_residual = 1;  ///< nor one that leaves more than this, unless all have answered
};

/// Reads s= and residual=; one of them must be there. Without s= any number may be missing.
Tolerance read_tolerance(ParameterText& parameters, int workers);

/// The descriptions of s=, residual= and seed= ... in front of a code's own.
std::vector<CodeParameter> with_tolerance(std::vector<CodeParameter> own);

/// For a value a code does not exist for: "r = 4 ... : 3 or 5", the nearest ones that fit.
/// @param fits  whether the code exists for the value; asked for 1 <= value <= most
std::string nearest_that_fit(int value, int most, bool (*fits)(int));

/// For codes that no search tries.
inline std::vector<std::string> no_settings(int /*workers*/, int /*most_holders*/) { return {}; }

/// For codes that exist for all n and s.
inline bool exists_always(int /*workers*/, int /*stragglers*/) { return true; }

CodeEntry repetition_code_entry();
CodeEntry cyclic_code_entry();
CodeEntry mds_code_entry();
CodeEntry real_mds_entry();
CodeEntry chebyshev_entry();
CodeEntry reed_solomon_entry();
CodeEntry speed_aware_entry();
CodeEntry short_messages_entry();
CodeEntry tree_entry();

CodeEntry ignore_entry();
CodeEntry bernoulli_entry();
CodeEntry regularized_bernoulli_entry();
CodeEntry stochastic_block_entry();
CodeEntry erasure_head_entry();
CodeEntry expander_entry();
CodeEntry graph_entry();
CodeEntry projective_plane_entry();
CodeEntry affine_plane_entry();
CodeEntry hadamard_entry();
CodeEntry biplane_entry();
CodeEntry steiner_entry();
CodeEntry pairs_entry();
CodeEntry subsets_entry();
CodeEntry soft_design_entry();
CodeEntry product_entry();
CodeEntry heterogeneous_entry();
CodeEntry stochastic_entry();

}  // namespace paceline
