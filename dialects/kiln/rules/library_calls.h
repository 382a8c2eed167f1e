// Calls of library kernels (kernels/cpu/calls.h) for structured ops, generated from the records' `call`; and what those
// snippets use.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "compiler/api/graph.h"
#include "dialects/kiln/rules/image_rules.h"
#include "runtime/base/status.h"

namespace kiln {

// A call of a library kernel (runtime/exec/kernel.h): the step's name and params. Buffers: operands, then results.
struct LibraryCall {
  std::string name;
  std::vector<Dim> params;
};

Result<LibraryCall> library_call(OpId op, std::span<const TensorType> operands, std::span<const TensorType> results,
                                 std::span<const Attribute> attributes);

// Per kernel; types are those of operands and results that the op's shape rule has checked.
LibraryCall matmul_call(const TensorType& x, const TensorType& y, bool transpose_x, bool transpose_y,
                        const TensorType& result);
// name: of the kernel; x, filter, result: the three tensors of the forward convolution (or the gradients in their
// places).
Result<LibraryCall> conv2d_call(const std::string& name, const TensorType& x, const TensorType& filter,
                                const TensorType& result, const ConvAttributes& a);
Result<LibraryCall> pool2d_call(const std::string& name, const TensorType& x, const TensorType& result,
                                const PoolAttributes& a);
LibraryCall transpose_call(const TensorType& x, const std::vector<int64_t>& perm);
LibraryCall slice_call(const TensorType& x, const Shape& begin, const std::vector<int64_t>& strides,
                       const TensorType& result);
LibraryCall reverse_call(const TensorType& x, const std::vector<int64_t>& axis);
LibraryCall pad_call(const TensorType& x, const Shape& begin, const std::vector<int64_t>& strides, double value,
                     const TensorType& result);
LibraryCall concat_call(std::span<const TensorType> xs, int64_t axis, const TensorType& result);
LibraryCall gather_call(const TensorType& x, const TensorType& indices, int64_t axis);
LibraryCall gather_nd_call(const TensorType& x, const TensorType& indices);
LibraryCall take_along_axis_call(const TensorType& x, const TensorType& indices, int64_t axis);
LibraryCall scatter_call(const std::string& name, const TensorType& indices, int64_t axis, const TensorType& result);
LibraryCall check_range_call(const TensorType& x, const Shape& limit);
LibraryCall arg_call(const std::string& name, const TensorType& x, int64_t axis);
LibraryCall scan_call(const std::string& name, const TensorType& x, int64_t axis, bool exclusive, bool reverse);
LibraryCall sort_call(const std::string& name, const TensorType& x, bool descending);
LibraryCall top_k_call(const TensorType& x, int64_t k);

}  // namespace kiln
