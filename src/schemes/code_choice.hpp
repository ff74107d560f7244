// What the schemes with a gradient code inside have in common: the parameter code=, building the
// code, and what it costs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "paceline/expected.hpp"
#include "paceline/gradient_code.hpp"
#include "paceline/parameters.hpp"
#include "paceline/scheme.hpp"

namespace paceline {

/// A code that copies of a scheme share.
using SharedCode = std::shared_ptr<const GradientCode>;

/// The description of code=. @param others  codes that are allowed beside code_names()
SchemeParameter code_parameter(const std::vector<std::string>& others = {});

/// Reads code=, code_names() or one of `others`. Without it: "cyclic" where the published numbers
/// are wanted (they are for its loads (s+1)/n), else "auto".
std::string read_code_name(ParameterText& parameters,
                           const SchemeContext& context,
                           const std::vector<std::string>& others = {});

/// What `make` returns, a code for all workers of the context; or the same code again, if one of
/// this text was built for such a context not long ago.
Expected<SharedCode> build_code(const std::string& text,
                                const SchemeContext& context,
                                const std::function<Expected<GradientCode>()>& make);

/// Builds the code for all workers of the context.
Expected<SharedCode> build_code(const std::string& name,
                                int stragglers,
                                const SchemeContext& context);

/// What worker i's message costs, shape (n): the share of the data it touches, times the number of
/// backward passes (2 for complex weights).
std::vector<double> message_costs(const GradientCode& code);

/// Appends the terms of a combination. @param message_of  the MessageId of the message that a
/// worker answered with
template <class MessageOf>
void add_terms(const Combination& combination, const MessageOf& message_of, Decoding& decoding) {
  for (const WorkerWeight& term : combination.terms) {
    decoding.terms.push_back({message_of(term.worker), term.weight, term.segment, term.part});
  }
}

/// The fewest answers that can hold every chunk; a cheap necessary condition before decodable().
/// 1 for approximate codes, which may go without some.
int fewest_answers(const GradientCode& code);

/// The largest s for which a code of this name keeps at most `storage` of the data on a worker; -1:
/// there is none.
int most_stragglers(const std::string& code_name, int workers, double storage);

/// The codes that a search tries. Not "mds": it costs twice as much as "cyclic" and decodes from
/// the same answers, so it is for those who need its accuracy.
std::vector<std::string> searched_codes();

/// Fills the fields of `info` that only depend on the code: parts, amplification_limit and
/// error_bound for the context's messages (approximate codes have neither). `code` may be null:
/// plain sums. `chunks` is the number of chunks of the whole job.
void describe_code(const GradientCode* code,
                   const SchemeContext& context,
                   int chunks,
                   SchemeInfo& info);

}  // namespace paceline
