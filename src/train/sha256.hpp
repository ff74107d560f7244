// SHA-256 (FIPS 180-4) of bytes in memory: tells a damaged data file from a right one.
//
// Our own, since it is all that Paceline would need of a cryptographic library, whose headers every
// user of the library would then have to install.
#pragma once

#include <string>
#include <string_view>

namespace paceline {

/// The digest as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace paceline
