// How M-SGC cuts the data of a job, and the messages this makes.
//
// K = W-1+B mini-tasks per worker and job cost the same. W-1 of them are pieces of the data that
// only this worker holds (D1), the other B are one message each for B groups of coded data (D2),
// all groups with the same gradient code on n workers. With c = what a message of the code costs,
// as a share of the data it codes, the sizes that make all mini-tasks equal are
//
//     one group  f = 1 / ((W-1) n c + B),     one D1 piece  c f,     load  L = K c f.
//
// For a cyclic code c = (lambda+1)/n, and these are the paper's (lambda+1)/Q and n/Q with
// Q = n (B + (W-1)(lambda+1)). For lambda = n there is no D2: pieces of 1/((W-1) n).
#pragma once

#include <vector>

#include "paceline/message.hpp"
#include "schemes/code_choice.hpp"

namespace paceline {

struct MSgcParameters {
  int workers = 0;
  int B = 1;
  int W = 2;
  int lambda = 0;
};

struct MSgcLayout {
  SharedCode code;                 ///< of every group; empty for lambda = n
  std::vector<double> chunk_size;  ///< D1 of worker 0, of worker 1, ..., then D2 group by group
  double data_load = 0;            ///< of one D1 mini-task
  std::vector<Row> data_rows;      ///< worker i, piece c: entry i (W-1) + c
  std::vector<Row> coded_rows;     ///< group q, worker i: entry q n + i
  std::vector<double> coded_load;  ///< of worker i's message for a group, shape (n)
};

/// @param code  empty exactly for lambda = n
MSgcLayout make_m_sgc_layout(const MSgcParameters& parameters, SharedCode code);

}  // namespace paceline
