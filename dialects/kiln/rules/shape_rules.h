// What the records' `shape` and `call` snippets may use: written once over Dim, so they serve eager calls, traces and
// the verifier alike. Errors name what was got and what is needed; the caller adds the op's name and the user's line.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "compiler/api/graph.h"
#include "runtime/base/shape.h"
#include "runtime/base/status.h"

namespace kiln {

// "f32[2,3]"
std::string to_string(const TensorType& type);

// The common shape under NumPy broadcasting. Two unlike unknown dims give a DimOp::broadcast dim.
Result<Shape> broadcast_shapes(std::span<const Shape> shapes);

// axis in [-rank, rank) made non-negative; several: sorted, no repeats.
Result<int64_t> normalize_axis(int64_t axis, int rank);
Result<std::vector<int64_t>> normalize_axes(const std::vector<int64_t>& axes, int rank);  // empty: all

// A call of a library kernel (runtime/exec/kernel.h): the step's name and params.
struct LibraryCall {
  std::string name;
  std::vector<Dim> params;
};

}  // namespace kiln
