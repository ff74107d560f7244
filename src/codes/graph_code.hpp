// The inside of the graph code: its decoder in linear time.
#pragma once

#include "codes/graphs.hpp"
#include "codes/sparse_code.hpp"

namespace paceline {

/// Worker e sends the sum of the two chunks that edge e joins.
SharedMatrix edge_sums(const Graph& graph);

/// The least squares of edge_sums, component by component of the graph of answered edges. With
/// sides of a and b vertices a bipartite component decodes its chunks with 1 -+ (a-b)/(a+b); any
/// other decodes them exactly. Weights follow from the leaves of a spanning tree to its root, with
/// one more edge where it closes an odd cycle. Not the shortest such weights.
/// Cost: O(n + k).
WeightDecoder component_decoder(const Graph& graph);

}  // namespace paceline
