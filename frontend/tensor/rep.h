// What a Tensor handle points to. Internal.
#pragma once
#include <memory>
#include <string>

#include "compiler/api/graph.h"
#include "frontend/tensor/tensor.h"

namespace kiln {
class TraceContext;
}

namespace kiln::detail {

// Outlives its trace, so that a symbolic Tensor that escaped can still say where it comes from.
struct TraceTag {
  std::string function;
  TraceContext* context = nullptr;  // null once the trace is over
};

struct TensorRep {
  DType dtype = DType::f32;
  Shape shape;
  // Concrete: elements [offset, offset + shape.size()) of the buffer.
  std::shared_ptr<Buffer> buffer;
  int64_t offset = 0;
  // Symbolic: a value of a trace.
  std::shared_ptr<TraceTag> trace;
  ValueId value = -1;
  int32_t region = 0;   // id of the region that made it
  const char* op = "";  // the op that made it, for errors
  SourceLocation made;

  std::byte* data() const { return buffer->data() + offset * static_cast<int64_t>(size_of(dtype)); }
  TensorType type() const { return {dtype, shape}; }
};

inline Tensor make_concrete(DType dtype, const Shape& shape, std::shared_ptr<Buffer> buffer, int64_t offset = 0) {
  auto rep = std::make_shared<TensorRep>();
  rep->dtype = dtype;
  rep->shape = shape;
  rep->buffer = std::move(buffer);
  rep->offset = offset;
  return Tensor(std::shared_ptr<const TensorRep>(std::move(rep)));
}

// A concrete Tensor with uninitialised elements, to be filled by the caller before anyone else sees it.
Tensor make_uninitialised(DType dtype, const Shape& shape, std::source_location where);

}  // namespace kiln::detail
