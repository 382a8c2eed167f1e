#include "frontend/ops/eager.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "dialects/kiln/rules/library_calls.h"
#include "dialects/kiln/rules/shape_rules.h"
#include "frontend/tensor/rep.h"
#include "runtime/base/fp_environment.h"
#include "runtime/base/thread_pool.h"
#include "runtime/exec/kernel.h"
#include "runtime/exec/launch.h"

namespace kiln::detail {
namespace {

constexpr size_t max_operands = 4;    // of an element-wise op
constexpr double element_cost = 0.1;  // ns, rough; only decides how work is cut
constexpr int64_t column_block = 64;  // columns of one work item of a column reduction

// Fails where no address space could hold a result of the type.
Result<size_t> bytes_of(const TensorType& type) {
  size_t bytes = size_of(type.dtype);
  for (Dim d : type.shape)
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(d.size()), &bytes))
      return Status(Code::resource_exhausted, "a result of shape " + to_string(type.shape) + " does not fit in memory");
  return bytes;
}

Result<Tensor> make_result(const TensorType& type) {
  KILN_ASSIGN_OR_RETURN(const size_t bytes, bytes_of(type));
  KILN_ASSIGN_OR_RETURN(auto buffer, Buffer::allocate(bytes));
  return make_concrete(type.dtype, type.shape, std::move(buffer));
}

// Kernels by op, dtype and variant: names are looked up once.
KernelFunction cached_kernel(OpId op, DType dtype, int variant, const auto& make_name) {
  constexpr int variants = 256;  // four bits for the pattern, four for the result's dtype
  static std::atomic<KernelFunction> table[op_count][dtype_count][variants];
  static const KernelFunction missing = [](void* const*, const int64_t*, int64_t, int64_t, CallContext*) { return 0; };
  std::atomic<KernelFunction>& slot = table[static_cast<size_t>(op)][static_cast<size_t>(dtype)][variant];
  KernelFunction kernel = slot.load(std::memory_order_relaxed);
  if (!kernel) {
    kernel = find_prebuilt_kernel(make_name().c_str());
    slot.store(kernel ? kernel : missing, std::memory_order_relaxed);
  }
  return kernel == missing ? nullptr : kernel;
}

// The index space of an element-wise op: adjacent dims in which each operand behaves alike are one.
struct Space {
  int rank = 0;
  std::array<int64_t, max_rank> sizes;
  std::array<std::array<int64_t, max_operands>, max_rank> strides;  // in elements; 0: broadcast
};

Space merge_dims(std::span<const Tensor> operands, const Shape& result) {
  Space space;
  std::array<int64_t, max_operands> next{};  // stride of the dim to the left of those seen, per operand
  next.fill(1);
  // From the last dim to the first; collected in reverse.
  for (int axis = result.rank() - 1; axis >= 0; --axis) {
    const int64_t size = result[axis].size();
    std::array<int64_t, max_operands> strides{};
    bool joins = space.rank > 0;
    for (size_t i = 0; i < operands.size(); ++i) {
      const Shape& shape = operands[i].rep()->shape;
      const int own = axis - (result.rank() - shape.rank());
      const int64_t own_size = own < 0 ? 1 : shape[own].size();
      strides[i] = own_size == 1 ? 0 : next[i];
      next[i] *= own_size;
      if (joins) {
        const int64_t inner = space.strides[space.rank - 1][i];
        joins = inner == 0 ? strides[i] == 0 : strides[i] == inner * space.sizes[space.rank - 1];
      }
    }
    if (size == 1) continue;
    if (joins) {
      space.sizes[space.rank - 1] *= size;
    } else {
      space.sizes[space.rank] = size;
      space.strides[space.rank] = strides;
      ++space.rank;
    }
  }
  if (space.rank == 0) {  // one element
    space.rank = 1;
    space.sizes[0] = 1;
    space.strides[0].fill(1);
  }
  return space;
}

// The dtype that names the kernel: that of the first operand that is not the condition of a where.
DType kernel_dtype(OpId op, std::span<const Tensor> operands) {
  const OpInfo& row = info(op);
  for (size_t i = 0; i < operands.size(); ++i)
    if (row.operands[i].dtype == OperandDType::same || row.operands[i].dtype == OperandDType::any)
      return operands[i].rep()->dtype;
  return operands[0].rep()->dtype;
}

KernelFunction elementwise_kernel(OpId op, std::span<const Tensor> operands, DType result, unsigned broadcast_bits) {
  const DType dtype = operands.empty() ? result : kernel_dtype(op, operands);
  bool names_result = false;
  for (const AttributeInfo& a : info(op).attributes) names_result |= a.kind == AttributeKind::dtype;
  const int variant = static_cast<int>(broadcast_bits) | static_cast<int>(result) << 4;
  return cached_kernel(op, dtype, variant, [&] {
    std::string name(info(op).name);
    if (!operands.empty()) name += "." + std::string(name_of(dtype));
    if (names_result) name += "." + std::string(name_of(result));
    name += ".";
    for (size_t i = 0; i < operands.size(); ++i) name += broadcast_bits >> i & 1 ? 's' : 'v';
    return name;
  });
}

// Prebuilt kernels need no attribute values: dtypes are in their names, dims are their extent. They see an element's
// number only where the whole space is one run.
bool may_be_prebuilt(OpId op, size_t operands, const Space& space) {
  if (operands > max_operands || (info(op).uses_index && space.rank > 1)) return false;
  for (const AttributeInfo& a : info(op).attributes)
    if (a.kind != AttributeKind::dtype && a.kind != AttributeKind::dims) return false;
  return true;
}

Result<Tensor> run_elementwise(OpId op, std::span<const Tensor> operands, const TensorType& type,
                               std::span<const Attribute> attributes) {
  KILN_ASSIGN_OR_RETURN(const size_t bytes, bytes_of(type));
  if (bytes == 0) return make_result(type);
  KernelFunction kernel = nullptr;
  const Space space = operands.size() <= max_operands ? merge_dims(operands, type.shape) : Space{};
  if (may_be_prebuilt(op, operands.size(), space)) {
    unsigned bits = 0;
    for (size_t i = 0; i < operands.size(); ++i) bits |= unsigned(space.strides[0][i] == 0) << i;
    kernel = elementwise_kernel(op, operands, type.dtype, bits);
  }
  if (!kernel) {
    KILN_ASSIGN_OR_RETURN(auto made, run_compiled_op(op, operands, attributes, {&type, 1}));
    return std::move(made[0]);
  }
  KILN_ASSIGN_OR_RETURN(Tensor result, make_result(type));
  std::array<std::byte*, max_operands + 1> base;
  for (size_t i = 0; i < operands.size(); ++i) base[i] = operands[i].rep()->data();
  base[operands.size()] = result.rep()->data();
  if (space.rank == 1) {
    void* buffers[max_operands + 1];
    std::copy(base.begin(), base.begin() + operands.size() + 1, buffers);
    KILN_RETURN_IF_ERROR(kiln::run_kernel(kernel, buffers, nullptr, space.sizes[0], element_cost));
    return result;
  }
  // Rows: the innermost merged dim; the outer ones are walked.
  const int64_t row = space.sizes[0];
  int64_t rows = 1;
  for (int d = 1; d < space.rank; ++d) rows *= space.sizes[d];
  std::atomic<int32_t> failed{0};
  const FpEnvironment environment;
  parallel_for(rows, row * element_cost, [&](int64_t begin, int64_t end) {
    CallContext context;
    for (int64_t r = begin; r < end; ++r) {
      void* buffers[max_operands + 1];
      std::array<int64_t, max_operands> offset{};
      int64_t rest = r;
      for (int d = 1; d < space.rank; ++d) {
        const int64_t i = rest % space.sizes[d];
        rest /= space.sizes[d];
        for (size_t k = 0; k < operands.size(); ++k) offset[k] += i * space.strides[d][k];
      }
      for (size_t k = 0; k < operands.size(); ++k)
        buffers[k] = base[k] + offset[k] * static_cast<int64_t>(size_of(operands[k].rep()->dtype));
      buffers[operands.size()] = base[operands.size()] + r * row * static_cast<int64_t>(size_of(type.dtype));
      if (const int32_t code = kernel(buffers, nullptr, 0, row, &context)) failed = code;
    }
  });
  if (failed) return Status(static_cast<Code>(failed.load()), std::string(info(op).name) + ": the kernel failed");
  return result;
}

// One run of adjacent reduced axes at a time, the last run first.
Result<Tensor> run_reduction(OpId op, const Tensor& x, const TensorType& type, std::span<const Attribute> attributes) {
  const auto* axes_given = std::get_if<std::vector<int64_t>>(&attributes[0]);
  const Shape& shape = x.rep()->shape;
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, normalize_axes(*axes_given, shape.rank()));
  const DType dtype = x.rep()->dtype;
  auto kernel_for = [&](bool row) {
    return cached_kernel(op, dtype, row ? 0 : 1, [&] {
      return std::string(info(op).name) + "." + std::string(name_of(dtype)) + (row ? ".row" : ".column");
    });
  };
  if (type.dtype != dtype || !kernel_for(true) || !kernel_for(false)) {
    KILN_ASSIGN_OR_RETURN(auto made, run_compiled_op(op, {&x, 1}, attributes, {&type, 1}));
    return std::move(made[0]);
  }
  std::vector<int64_t> dims;
  for (Dim d : shape) dims.push_back(d.size());
  Tensor current = x;
  size_t last = axes.size();
  while (last > 0) {
    size_t first = last - 1;
    while (first > 0 && axes[first - 1] + 1 == axes[first]) --first;
    int64_t outer = 1, reduced = 1, inner = 1;
    for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d)
      (d < axes[first] ? outer : d <= axes[last - 1] ? reduced : inner) *= dims[d];
    const bool row = axes[last - 1] + 1 == static_cast<int64_t>(dims.size());
    dims.erase(dims.begin() + axes[first], dims.begin() + axes[last - 1] + 1);
    KILN_ASSIGN_OR_RETURN(Tensor next, make_result({dtype, Shape(std::span<const int64_t>(dims))}));
    void* buffers[] = {current.rep()->data(), next.rep()->data()};
    const int64_t params[] = {outer, reduced, inner};
    if (outer * inner > 0) {
      if (row)
        KILN_RETURN_IF_ERROR(kiln::run_kernel(kernel_for(true), buffers, params, outer, reduced * element_cost + 1));
      else
        KILN_RETURN_IF_ERROR(kiln::run_kernel(kernel_for(false), buffers, params,
                                              outer * ((inner + column_block - 1) / column_block),
                                              reduced * column_block * element_cost / 4 + 1));
    }
    current = std::move(next);
    last = first;
  }
  // keepdims, or no axis at all: the same elements under the inferred shape.
  return make_concrete(dtype, type.shape, current.rep()->buffer, current.rep()->offset);
}

// A slice whose elements lie together is a view. Nothing if they do not.
Tensor contiguous_slice(const Tensor& x, std::span<const Attribute> attributes, const TensorType& type) {
  const detail::TensorRep& rep = *x.rep();
  const Shape& begin = std::get<Shape>(attributes[0]);
  for (int64_t stride : std::get<std::vector<int64_t>>(attributes[2]))
    if (stride != 1) return {};
  int64_t offset = 0;
  bool whole = false;  // behind the first axis with more than one element all must be whole
  for (int d = 0; d < type.shape.rank(); ++d) {
    if (whole && type.shape[d] != rep.shape[d]) return {};
    whole |= type.shape[d].size() > 1;
    offset = offset * rep.shape[d].size() + begin[d].size();
  }
  return make_concrete(type.dtype, type.shape, rep.buffer, rep.offset + offset);
}

Result<std::vector<Tensor>> run_structured(OpId op, std::span<const Tensor> operands,
                                           std::span<const Attribute> attributes, std::span<const TensorType> results) {
  if (op == OpId::slice)
    if (Tensor view = contiguous_slice(operands[0], attributes, results[0]); view.defined())
      return std::vector<Tensor>{std::move(view)};
  std::vector<TensorType> types;
  for (const Tensor& x : operands) types.push_back(x.rep()->type());
  KILN_ASSIGN_OR_RETURN(const LibraryCall call, library_call(op, types, results, attributes));
  const LibraryKernel* kernel = find_library_kernel(call.name.c_str());
  if (!kernel) return run_compiled_op(op, operands, attributes, results);
  std::vector<int64_t> params;
  for (Dim d : call.params) params.push_back(d.raw());
  std::vector<void*> buffers;
  for (const Tensor& x : operands) buffers.push_back(x.rep()->data());
  std::vector<Tensor> made;
  for (const TensorType& type : results) {
    KILN_ASSIGN_OR_RETURN(Tensor result, make_result(type));
    buffers.push_back(result.rep()->data());
    made.push_back(std::move(result));
  }
  std::shared_ptr<Buffer> workspace;
  if (const size_t bytes = workspace_bytes(*kernel, params.data())) {
    KILN_ASSIGN_OR_RETURN(workspace, Buffer::allocate(bytes));
    buffers.push_back(workspace->data());
  }
  if (Status status = kiln::run_library_kernel(*kernel, buffers.data(), params.data()); !status.ok())
    return Status(status.code(), std::string(info(op).name) + ": " + std::string(status.message()));
  return made;
}

}  // namespace

Result<std::vector<Tensor>> run_eager(OpId op, std::span<const Tensor> operands, std::span<const Attribute> attributes,
                                      std::span<const TensorType> results) {
  auto one = [](Result<Tensor> made) -> Result<std::vector<Tensor>> {
    if (!made.ok()) return made.status();
    std::vector<Tensor> list;
    list.push_back(std::move(made).value());
    return list;
  };
  switch (info(op).kind) {
    case OpKind::elementwise:
    case OpKind::source:
      return one(run_elementwise(op, operands, results[0], attributes));
    case OpKind::reduction:
      return one(run_reduction(op, operands[0], results[0], attributes));
    case OpKind::view:
      return one(
          make_concrete(results[0].dtype, results[0].shape, operands[0].rep()->buffer, operands[0].rep()->offset));
    case OpKind::structured:
      return run_structured(op, operands, attributes, results);
    default:
      return run_compiled_op(op, operands, attributes, results);
  }
}

}  // namespace kiln::detail
