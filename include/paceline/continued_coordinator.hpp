// Jobs that are left of an earlier run, played by a coordinator that knows nothing of it.
//
// It counts its jobs from 0; here they are those from the first one on that is not decoded. Of
// later ones some may be decoded already, where a scheme decoded out of order: their work is taken
// out of the orders (a task without a row computes nothing), and what is decoded of them is not
// applied.
#pragma once

#include <memory>
#include <vector>

#include "paceline/coordinator.hpp"

namespace paceline {

/// The first job that is not decoded when model m has had versions[m] updates.
JobId first_open_job(const std::vector<Version>& versions);

/// @param inner     plays the jobs from first_open_job(versions) on, with as many models
/// @param versions  updates that each model has had, shape (M)
std::unique_ptr<Coordinator> continue_jobs(std::unique_ptr<Coordinator> inner,
                                           std::vector<Version> versions);

}  // namespace paceline
