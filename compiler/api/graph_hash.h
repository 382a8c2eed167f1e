// The disk cache's key for a graph: equal for graphs that give equal code and equal error texts.
#pragma once
#include <string>

#include "compiler/api/graph.h"

namespace kiln {

// All that a Graph holds, as bytes: ops, types, attributes, constants, names, the user's lines.
std::string graph_bytes(const Graph& graph);

}  // namespace kiln
