// Whole graphs through the reference interpreter: control flow, unknown dims, the order of sums, bad input.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <numeric>

#include "kernels/reference/interpreter.h"

using namespace kiln;

namespace {

template <class T>
Constant tensor(const Shape& shape, const std::vector<T>& values) {
  Constant c{{dtype_of<T>, shape}, Buffer::allocate(values.size() * sizeof(T)).value()};
  for (size_t i = 0; i < values.size(); ++i) {
    const T v = values[i];
    std::memcpy(c.data->data() + i * sizeof(T), &v, sizeof(T));
  }
  return c;
}
template <class T>
std::vector<T> values_of(const Constant& c) {
  std::vector<T> v(static_cast<size_t>(c.type.shape.size()));
  std::memcpy(v.data(), c.data->data(), v.size() * sizeof(T));
  return v;
}

// Builds graphs by hand, as a trace would.
struct Builder {
  Graph graph;
  std::vector<Region*> stack;

  Builder() {
    graph.name = "test";
    stack.push_back(&graph.body);
  }
  ValueId value(DType dtype, const Shape& shape) {
    graph.values.push_back({dtype, shape});
    return static_cast<ValueId>(graph.values.size() - 1);
  }
  ValueId input(DType dtype, const Shape& shape) {
    const ValueId id = value(dtype, shape);
    graph.inputs.push_back({id, "x" + std::to_string(graph.inputs.size())});
    graph.body.arguments.push_back(id);
    return id;
  }
  ValueId constant(const Constant& c) {
    graph.constants.push_back(c);
    return op(OpId::constant, {}, c.type.dtype, c.type.shape, {static_cast<int64_t>(graph.constants.size() - 1)});
  }
  ValueId op(OpId id, std::vector<ValueId> operands, DType dtype, const Shape& shape,
             std::vector<Attribute> attributes = {}) {
    const ValueId result = value(dtype, shape);
    Node node{id, std::move(operands), std::move(attributes), {result}, {}, {}};
    stack.back()->nodes.push_back(std::move(node));
    return result;
  }
  void output(ValueId id) { graph.outputs.push_back({id}); }
};

Result<std::vector<Constant>> reduce(OpId op, const Constant& x, std::vector<int64_t> axis, const Shape& shape) {
  const TensorType type{x.type.dtype, shape};
  return interpret_op(op, {&x, 1}, std::vector<Attribute>{std::move(axis), false}, {&type, 1});
}

std::vector<float> wavy(int64_t n) {
  std::vector<float> v(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    v[i] = std::ldexp(static_cast<float>((i * 7919 + 13) % 1009) / 1009 - 0.5f, static_cast<int>(i % 11));
  return v;
}

}  // namespace

TEST_CASE("reference while_loop and cond run their regions") {
  // i = 0; total = 0; while (i < n) { total = total + (i is odd ? i * 10 : i); i = i + 1; }
  Builder b;
  const ValueId n = b.input(DType::i32, {});
  const ValueId zero = b.constant(tensor<int32_t>({}, {0})), one = b.constant(tensor<int32_t>({}, {1}));
  const ValueId ten = b.constant(tensor<int32_t>({}, {10}));
  Node loop{OpId::while_loop, {zero, zero}, {}, {b.value(DType::i32, {}), b.value(DType::i32, {})}, {}, {}};
  loop.regions.resize(2);

  Region& condition = loop.regions[0];
  condition.arguments = {b.value(DType::i32, {}), b.value(DType::i32, {})};
  b.stack.push_back(&condition);
  condition.results = {b.op(OpId::less, {condition.arguments[0], n}, DType::bool_, {})};
  b.stack.pop_back();

  Region& body = loop.regions[1];
  body.arguments = {b.value(DType::i32, {}), b.value(DType::i32, {})};
  b.stack.push_back(&body);
  const ValueId i = body.arguments[0];
  const ValueId odd = b.op(OpId::equal, {b.op(OpId::bitwise_and, {i, one}, DType::i32, {}), one}, DType::bool_, {});
  Node branch{OpId::cond, {odd}, {}, {b.value(DType::i32, {})}, {}, {}};
  branch.regions.resize(2);
  b.stack.push_back(&branch.regions[0]);
  branch.regions[0].results = {b.op(OpId::multiply, {i, ten}, DType::i32, {})};
  b.stack.pop_back();
  branch.regions[1].results = {i};
  const ValueId term = branch.results[0];
  body.nodes.push_back(std::move(branch));
  const ValueId total = b.op(OpId::add, {body.arguments[1], term}, DType::i32, {});
  body.results = {b.op(OpId::add, {i, one}, DType::i32, {}), total};
  b.stack.pop_back();

  b.output(loop.results[0]);
  b.output(loop.results[1]);
  b.graph.body.nodes.push_back(std::move(loop));
  for (auto [count, want] : {std::pair{0, 0}, {1, 0}, {5, 46}, {10, 270}}) {
    const Constant input = tensor<int32_t>({}, {count});
    const auto results = interpret(b.graph, {&input, 1});
    REQUIRE(results.ok());
    CHECK(values_of<int32_t>((*results)[0]) == std::vector<int32_t>{count});
    CHECK(values_of<int32_t>((*results)[1]) == std::vector<int32_t>{want});
  }
}

TEST_CASE("reference graphs resolve unknown dims from their inputs") {
  Builder b;
  const Dim rows = b.graph.dims.symbol("rows", 0, 0);
  const ValueId x = b.input(DType::f32, {rows, 2}), y = b.input(DType::f32, {rows, 1});
  const ValueId sum = b.op(OpId::add, {x, y}, DType::f32, {rows, 2});
  DimTable::Scope scope(&b.graph.dims);
  b.output(b.op(OpId::reshape, {sum}, DType::f32, {rows * Dim(2)}, {Shape{rows * Dim(2)}}));
  b.output(b.op(OpId::broadcast_to, {b.constant(tensor<float>({}, {7}))}, DType::f32, {rows}, {Shape{rows}}));

  const std::vector<Constant> good = {tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6}), tensor<float>({3, 1}, {10, 20, 30})};
  const auto results = interpret(b.graph, good);
  REQUIRE(results.ok());
  CHECK((*results)[0].type.shape == Shape{6});
  CHECK(values_of<float>((*results)[0]) == std::vector<float>{11, 12, 23, 24, 35, 36});
  CHECK(values_of<float>((*results)[1]) == std::vector<float>{7, 7, 7});

  const std::vector<Constant> uneven = {good[0], tensor<float>({2, 1}, {1, 2})};
  CHECK(interpret(b.graph, uneven).status().message() == "test: input 1 ('x1') has shape [2,1], it needs [rows,1]");
  const std::vector<Constant> wrong_dtype = {good[0], tensor<double>({3, 1}, {1, 2, 3})};
  CHECK(interpret(b.graph, wrong_dtype).status().message() == "test: input 1 ('x1') is f64, it needs f32");
  CHECK(interpret(b.graph, {good.data(), 1}).status().message() == "test: 1 inputs are given, it needs 2");
}

TEST_CASE("reference row sums follow chunks of 4096, 32 lanes and the tree") {
  for (int64_t n : {0, 1, 31, 32, 33, 1000, 4096, 4097, 9000}) {
    const std::vector<float> x = wavy(n);
    float want = 0;
    for (int64_t begin = 0; begin < n; begin += 4096) {
      float lane[32] = {};
      for (int64_t i = begin; i < std::min(begin + 4096, n); ++i) lane[i % 32] += x[i];
      for (int h = 16; h > 0; h /= 2)
        for (int j = 0; j < h; ++j) lane[j] += lane[j + h];
      want = begin == 0 ? lane[0] : want + lane[0];
    }
    const auto got = reduce(OpId::reduce_sum, tensor({Dim(n)}, x), {}, {});
    REQUIRE(got.ok());
    CHECK(values_of<float>((*got)[0])[0] == want);
  }
}

TEST_CASE("reference column sums follow chunks of 1024 rows, separate runs of axes the last first") {
  const int64_t rows = 2500, columns = 3;
  const std::vector<float> x = wavy(rows * columns);
  std::vector<float> want(columns);
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t begin = 0; begin < rows; begin += 1024) {
      float chunk = 0;
      for (int64_t r = begin; r < std::min(begin + 1024, rows); ++r) chunk += x[r * columns + c];
      want[c] = begin == 0 ? chunk : want[c] + chunk;
    }
  auto got = reduce(OpId::reduce_sum, tensor({rows, columns}, x), {0}, {columns});
  REQUIRE(got.ok());
  CHECK(values_of<float>((*got)[0]) == want);

  // Axes 0 and 2 of [50, 10, 15]: first the rows of 15, then the columns of 50.
  const Constant cube = tensor({50, 10, 15}, wavy(7500));
  const auto inner = reduce(OpId::reduce_sum, cube, {2}, {50, 10});
  const auto both = reduce(OpId::reduce_sum, (*inner)[0], {0}, {10});
  got = reduce(OpId::reduce_sum, cube, {0, -1}, {10});
  REQUIRE(got.ok());
  CHECK(values_of<float>((*got)[0]) == values_of<float>((*both)[0]));
}

TEST_CASE("reference matrix product is one chain of fma from zero") {
  const std::vector<float> x = wavy(40), y = wavy(40);
  float want = 0;
  for (int k = 0; k < 40; ++k) want = std::fma(x[k], y[k], want);
  const std::vector<Constant> operands = {tensor({1, 40}, x), tensor({40, 1}, y)};
  const TensorType type{DType::f32, {1, 1}};
  const auto got = interpret_op(OpId::matmul, operands, std::vector<Attribute>{false, false}, {&type, 1});
  REQUIRE(got.ok());
  CHECK(values_of<float>((*got)[0])[0] == want);
}

TEST_CASE("reference views share memory and bad indices are errors") {
  const Constant x = tensor<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const TensorType flat{DType::i32, {6}};
  const auto view = interpret_op(OpId::reshape, {&x, 1}, std::vector<Attribute>{Shape{6}}, {&flat, 1});
  REQUIRE(view.ok());
  CHECK((*view)[0].data == x.data);

  const std::vector<Constant> operands = {x, tensor<int64_t>({2}, {0, 7})};
  const TensorType type{DType::i32, {2, 3}};
  const auto bad = interpret_op(OpId::gather, operands, std::vector<Attribute>{int64_t{0}}, {&type, 1});
  CHECK(bad.status().code() == Code::out_of_range);
  CHECK(bad.status().message() == "gather: index 7 at position 1 is out of range for axis size 2");
  const Constant labels = tensor<int32_t>({2}, {3, -1});
  const TensorType same{DType::i32, {2}};
  const auto range = interpret_op(OpId::check_range, {&labels, 1}, std::vector<Attribute>{Shape{10}}, {&same, 1});
  CHECK(range.status().message() == "check_range: label -1 at position 1 is out of range [0, 10)");
}

TEST_CASE("reference interpreter works in the default floating-point mode and restores the caller's") {
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);  // flush subnormals, as other libraries do
  const Constant x = tensor<float>({2}, {1e-40f, 1e-45f});
  const TensorType type = x.type;
  const std::vector<Constant> operands = {x, x};
  const auto sum = interpret_op(OpId::add, operands, {}, {&type, 1});
  CHECK((__builtin_ia32_stmxcsr() & 0x8040) == 0x8040);
  __builtin_ia32_ldmxcsr(before);
  REQUIRE(sum.ok());
  CHECK(values_of<float>((*sum)[0]) == std::vector<float>{2 * 1e-40f, 2 * 1e-45f});
}
