// Hand-made Executables over the kernels of test/data/objects.
#pragma once
#include <catch2/catch.hpp>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/exec/executable.h"
#include "runtime/exec/session.h"

namespace kiln::testing {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string test_object() { return read_file(KILN_TEST_DATA "/objects/kernels.o"); }

inline std::shared_ptr<Buffer> buffer_of(const void* data, size_t bytes) {
  auto buffer = Buffer::allocate(bytes).value();
  std::memcpy(buffer->data(), data, bytes);
  return buffer;
}

inline Step kernel_step(std::string callee, std::vector<int32_t> buffers, Dim extent, std::vector<Dim> params = {}) {
  Step step;
  step.callee = std::move(callee);
  step.buffers = std::move(buffers);
  step.output_count = 1;
  step.extent = extent;
  step.params = std::move(params);
  return step;
}

inline Step copy_step(int32_t from, int32_t to) {
  Step step;
  step.kind = StepKind::copy;
  step.buffers = {from, to};
  step.output_count = 1;
  return step;
}

inline Step region_step(StepKind kind, int32_t predicate, std::vector<Step> first, std::vector<Step> second) {
  Step step;
  step.kind = kind;
  step.buffers = {predicate};
  step.first = std::move(first);
  step.second = std::move(second);
  return step;
}

// serve(x f32[batch,2]) = (x + 1) * 3, through one temp.
inline Executable serve_executable() {
  Executable e;
  e.name = "serve";
  const Dim batch = e.dims.symbol("batch", 0, 0);
  const Dim elements = e.dims.intern(DimOp::multiply, batch, 2);
  const Shape shape{batch, 2};
  e.inputs = {{"x", false, DType::f32, shape}};
  e.outputs = {{DType::f32, shape}};
  e.buffers = {{BufferKind::input, 0, DType::f32, shape},
               {BufferKind::temp, 0, DType::f32, shape},
               {BufferKind::output, 0, DType::f32, shape}};
  e.steps = {kernel_step("add_one", {0, 1}, elements), kernel_step("scale", {1, 2}, elements, {3})};
  e.code = {test_object()};
  return e;
}

// update(x f32[n], w variable f32[n]): w = w + x; gives w + 1 of the old w.
inline Executable update_executable() {
  Executable e;
  e.name = "update";
  const Dim n = e.dims.symbol("n", 0, 0);
  const Shape shape{n};
  e.inputs = {{"x", false, DType::f32, shape}, {"w", true, DType::f32, shape}};
  e.outputs = {{DType::f32, shape}, {DType::f32, shape, 1}};
  e.buffers = {{BufferKind::input, 0, DType::f32, shape},
               {BufferKind::input, 1, DType::f32, shape},
               {BufferKind::output, 0, DType::f32, shape},
               {BufferKind::output, 1, DType::f32, shape}};
  e.steps = {kernel_step("add_one", {1, 2}, n), kernel_step("add", {1, 0, 3}, n)};
  e.code = {test_object()};
  return e;
}

inline std::shared_ptr<const Program> load_program(Executable e) {
  auto program = Program::load(std::make_shared<const Executable>(std::move(e)));
  INFO(program.status().message());
  REQUIRE(program.ok());
  return *program;
}

// A tensor that owns its elements, to pass to a Session.
template <class T>
struct Values {
  std::vector<T> data;
  std::vector<int64_t> dims;
  Values(std::vector<int64_t> d, std::vector<T> v) : data(std::move(v)), dims(std::move(d)) {}
  explicit Values(std::vector<int64_t> d) : dims(std::move(d)) {
    int64_t n = 1;
    for (int64_t x : dims) n *= x;
    data.resize(static_cast<size_t>(n));
  }
  operator TensorRef() { return {data.data(), dtype_of<T>, dims.data(), static_cast<int>(dims.size())}; }
};
using Floats = Values<float>;
using Longs = Values<int64_t>;

}  // namespace kiln::testing
