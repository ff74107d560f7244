// All gradient codes by name, built from text as schemes are: "graph:r=3,s=4".
//
// Exact codes decode the gradient itself from any n - s answers. Approximate codes hold each chunk
// on few workers, whatever s is, and decode as much of the gradient as the answers allow; every
// decoding says in its residual how much is missing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/expected.hpp"
#include "paceline/gradient_code.hpp"
#include "paceline/parameters.hpp"

namespace paceline {

/// What a code is built for; the rest is in its text.
struct CodeContext {
  int workers = 0;
  std::uint64_t seed = 0;
  bool keep_promise = true;  ///< of exact codes, as in CodeRequest
  bool weights = true;       ///< as in CodeRequest
  MessageType message_type = MessageType::kFloat32;
};

struct CodeParameter {
  std::string name;     ///< "r"
  std::string allowed;  ///< "1 <= r <= n"
  std::string meaning;  ///< one line
};

/// One row of `paceline codes`.
struct CodeDescription {
  std::string name;
  std::string summary;  ///< one line
  bool exact = true;
  std::vector<CodeParameter> parameters;
  std::string load;    ///< formula: "r/n"
  std::string source;  ///< paper, section
};

const std::vector<CodeDescription>& code_catalog();

/// Builds "graph:r=3,s=4" for the context's workers. A construction that does not exist for these
/// parameters is an error that names the nearest ones for which it does.
Expected<GradientCode> make_code(std::string_view text, const CodeContext& context);

/// The same for a text that holds other parameters too: reads the code's own, and leaves it to the
/// caller to finish() the text.
Expected<GradientCode> make_code(const std::string& name,
                                 ParameterText& parameters,
                                 const CodeContext& context);

/// The settings of an approximate code that are worth trying, for a given tolerance: what follows
/// its name, "r=4", "graph=petersen,r=3", or nothing, "". The load grows from one to the next.
/// Empty where the code does not exist for so many workers, and for codes that decode nothing,
/// since more answers do not make those better.
/// @param most_holders  of a chunk, where the code can choose
/// @pre name is in the catalogue
std::vector<std::string> code_settings(std::string_view name, int workers, int most_holders);

/// The number of workers nearest to `workers` (the smaller of two) for which the code exists with
/// `s` stragglers and otherwise default parameters; 0: there is none up to ten times as many.
/// @pre name is in the catalogue
int nearest_workers(std::string_view name, int workers, int stragglers);

}  // namespace paceline
