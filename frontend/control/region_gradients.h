// How tapes differentiate cond and while_loop nodes: backward nodes with regions of their own. Internal.
#pragma once
#include <span>

#include "compiler/api/graph.h"
#include "frontend/control/control.h"

namespace kiln {
class TraceContext;
}

namespace kiln::detail {

// Adds the finished node to the tapes that depend on it. Part 0 of a loop's state counts its iterations.
void record_cond_on_tapes(TraceContext& trace, const Node& node, std::span<const Tensor> results);
void record_while_on_tapes(TraceContext& trace, const Node& node, std::span<const Tensor> results,
                           int64_t max_iterations);

}  // namespace kiln::detail
