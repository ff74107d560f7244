// The link between the ranks of an MPI job. The only part of the library that knows MPI.
#pragma once

#include <memory>
#include <string>

#include "paceline/expected.hpp"
#include "paceline/launch.hpp"
#include "paceline/link.hpp"

namespace paceline {

/// Starts MPI and connects this process with the others that the launcher started. Once per
/// process, and from the thread that will use the link.
///
/// From here on the process ends when its launcher ends.
/// @return an error if MPI finds another number of processes than the launcher started
Expected<std::unique_ptr<Link>> connect_mpi(const Launch& launch);

/// The MPI that is loaded, in its own words, one line: "Open MPI v4.1.4". Needs no running MPI.
std::string mpi_library();

}  // namespace paceline
