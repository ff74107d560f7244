// What all pages are made of: a template whose places are filled in one pass, so that nothing
// filled in is ever looked at again, and texts made harmless.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace paceline {

/// Puts each value in the place {{key}}. @pre every place has a value
std::string filled(std::string_view page,
                   const std::map<std::string, std::string, std::less<>>& places);

/// As text inside an element or an attribute.
std::string escape(std::string_view text);

/// JSON as it may stand inside a <script> element: no '<' is left in it.
std::string script_safe(std::string_view json);

/// A line of the page's list of facts; nothing for an empty value.
std::string fact(std::string_view name, std::string_view value, bool code = false);

}  // namespace paceline
