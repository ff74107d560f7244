// Codes made from what their rows are orthogonal to. Choose N (s x n) with rows that sum to 0, and
// let every column x of G solve [1; N] x = (1, 0, ..., 0) on its s+1 workers: then 1 G = 1 and
// N G = 0, every solution of a G = 1 is a = 1 + beta N, and asking for a = 0 on the stragglers is a
// small system. Decompositions are slow to compile, so only null_space.cpp includes them.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "paceline/random.hpp"

namespace paceline {

/// Normal entries, less each row's mean; shape (s, n).
Eigen::MatrixXd draw_null_space(int workers, int stragglers, RandomStream& random);

/// The same row space, orthonormal: then the shortest beta makes the shortest a.
Eigen::MatrixXd orthonormal_rows(const Eigen::MatrixXd& rows);

/// The entries of a column of G on the workers that hold its chunk; not finite where the null space
/// is dependent on them.
/// @param null_space  N, shape (s, n)
/// @param holders     s+1 workers
Eigen::VectorXd column_on(const Eigen::MatrixXd& null_space, std::span<const int> holders);

/// The shortest a with a G = 1 and a = 0 on the stragglers.
/// @param null_space  N, shape (s, n), orthonormal rows
/// @param stragglers  at most s
std::vector<double> vanishing_weights(const Eigen::MatrixXd& null_space,
                                      const std::vector<int>& stragglers);

}  // namespace paceline
