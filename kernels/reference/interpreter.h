// The reference interpreter: every op in the plainest way, one element after the other, with no code shared with
// kernels/cpu. The tests hold eager and compiled results against it bit for bit.
//
// This folder is the one place of the runtime that reads the trace (compiler/api/graph.h) and the generated scalar
// bodies: both are plain data and plain templates, and nothing of the compiler is linked.
#pragma once
#include <span>
#include <vector>

#include "compiler/api/graph.h"
#include "runtime/base/status.h"

namespace kiln {

// Runs a graph. `inputs`: one per graph.inputs, with known shapes; dims that must agree are checked. Gives one value
// per graph.outputs (results that update a variable too; the variable itself is not touched). Errors: wrong number,
// dtype or shape of inputs, an index out of range, no memory.
//   auto results = interpret(graph, inputs);
//   if (results.ok()) use((*results)[0].data->data());
Result<std::vector<Constant>> interpret(const Graph& graph, std::span<const Constant> inputs);

// Runs one op that is neither control nor constant; `results`: its result types, all dims known, as its shape rule
// gives them. Views share their operand's buffer.
//   auto sum = interpret_op(OpId::add, operands, {}, {&type, 1});
Result<std::vector<Constant>> interpret_op(OpId op, std::span<const Constant> operands,
                                           std::span<const Attribute> attributes, std::span<const TensorType> results);

}  // namespace kiln
