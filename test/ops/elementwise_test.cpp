// Every elementwise op on every dtype and on shapes of all kinds: eager = compiled = reference, bit for bit. All ops of
// one dtype are one compiled function.
#include <catch2/catch.hpp>

#include "test/ops/ops_testing.h"

using namespace kiln;
using namespace kiln::ops_testing;

namespace {

const DType every_dtype[] = {DType::bool_, DType::i32, DType::i64, DType::f32, DType::f64};

bool has_attribute(OpId op, AttributeKind kind) {
  for (const AttributeInfo& a : info(op).attributes)
    if (a.kind == kind) return true;
  return false;
}

// The inputs: x, y, z of the dtype, then a condition. Operand i of the dtype is input i, a bool operand the condition.
std::vector<Item> items_for(DType dtype) {
  std::vector<Item> items;
  for (const Row& row : rows()) {
    const OpId op = row.op;
    if (info(op).kind != OpKind::elementwise || !row.takes(dtype) || has_attribute(op, AttributeKind::dims)) continue;
    auto add = [&](std::string label, std::vector<Attribute> attributes) {
      items.push_back({std::move(label), [op, attributes](const std::vector<Tensor>& inputs) {
                         std::vector<Tensor> operands;
                         size_t next = 0;
                         for (const OperandInfo& o : info(op).operands)
                           operands.push_back(o.dtype == OperandDType::boolean ? inputs[3] : inputs[next++]);
                         return call_op(op, operands, attributes);
                       }});
    };
    const std::string name(name_of(op));
    std::vector<Attribute> attributes = default_attributes(op);
    if (op == OpId::cast) {
      for (const DType to : every_dtype) add("cast to " + std::string(name_of(to)), {to});
    } else {
      add(name, attributes);
      if (has_attribute(op, AttributeKind::boolean)) add(name + " (true)", {true});
      if (has_attribute(op, AttributeKind::floating)) add(name + " (0.7)", {0.7});
    }
  }
  return items;
}

std::vector<Tensor> inputs_for(DType dtype, const std::vector<Shape>& shapes) {
  // Small numbers: most ops are defined on them, and integer quotients and shifts vary.
  std::vector<Tensor> inputs;
  for (uint32_t i = 0; i < 3; ++i) inputs.push_back(numbers(dtype, shapes[i], -3, 5, 1 + i, true));
  inputs.push_back(numbers(DType::bool_, shapes.size() > 3 ? shapes[3] : shapes[0], 0, 1, 9));
  return inputs;
}

std::string name(const char* what, DType dtype) { return std::string(what) + "_" + std::string(name_of(dtype)); }

// One trace with unknown dims for all sizes: vectors, their scalar rest, empty, one element, several chunks.
void check_unknown_vectors(DType dtype, const std::vector<int64_t>& sizes) {
  std::vector<std::vector<Tensor>> sets;
  for (const int64_t n : sizes) sets.push_back(inputs_for(dtype, {{n}, {n}, {n}}));
  check_everywhere(name("elementwise", dtype), items_for(dtype), sets, {.dims = {{"n"}, {"n"}, {"n"}, {"n"}}});
}

void check_shapes(DType dtype, const std::vector<std::vector<Shape>>& shape_sets) {
  for (const std::vector<Shape>& shapes : shape_sets)
    check_everywhere(name("elementwise", dtype), items_for(dtype), {inputs_for(dtype, shapes)});
}

}  // namespace

TEST_CASE("elementwise ops on unknown sizes, quick", "[quick]") {
  check_unknown_vectors(GENERATE(DType::bool_, DType::i32, DType::f32), {0, 1, 5, 67});
}

TEST_CASE("elementwise ops on vectors of unknown size", "[slow]") {
  check_unknown_vectors(GENERATE(DType::bool_, DType::i32, DType::i64, DType::f32, DType::f64),
                        {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 47, 63, 64, 65, 70, 5000, 70001});
}

TEST_CASE("elementwise ops on known shapes", "[slow]") {
  check_shapes(GENERATE(DType::bool_, DType::i32, DType::i64, DType::f32, DType::f64),
               {{{}, {}, {}}, {{0}, {0}, {0}}, {{1}, {1}, {1}}, {{13}, {13}, {13}}, {{2, 3, 7}, {2, 3, 7}, {2, 3, 7}}});
}

TEST_CASE("elementwise ops broadcast both ways", "[slow]") {
  check_shapes(GENERATE(DType::bool_, DType::i32, DType::i64, DType::f32, DType::f64),
               {{{}, {19}, {19}},
                {{3, 5}, {5}, {3, 1}},
                {{5}, {2, 5}, {}},
                {{3, 1}, {1, 37}, {3, 37}},
                {{2, 3, 1}, {3, 4}, {4}},
                {{0, 3}, {1, 3}, {3}},
                {{1}, {5}, {1}},
                {{2, 1, 3, 1, 2}, {4, 1, 5, 1}, {2}}});
}

TEST_CASE("elementwise ops broadcast unknown dims") {
  const DType dtype = GENERATE(DType::i32, DType::f32);
  SECTION("a row over a matrix, and a column") {
    std::vector<std::vector<Tensor>> sets;
    for (const auto [a, b] : {std::pair{3, 5}, {1, 1}, {0, 4}, {4, 0}, {1, 33}, {70, 100}})
      sets.push_back(inputs_for(dtype, {{a, b}, {b}, {a, 1}}));
    check_everywhere(name("rows", dtype), items_for(dtype), sets, {.dims = {{"a", "b"}, {"b"}, {"a", 1}, {"a", "b"}}});
  }
  SECTION("any two sizes, of which one may be 1 at run time") {
    std::vector<std::vector<Tensor>> sets;
    for (const auto [n, m] : {std::pair{5, 5}, {1, 5}, {5, 1}, {1, 1}, {0, 1}, {1, 0}, {0, 0}})
      sets.push_back(inputs_for(dtype, {{2, n}, {m}, {2, 1}}));
    check_everywhere(name("sizes", dtype), items_for(dtype), sets, {.dims = {{2, "n"}, {"m"}, {2, 1}, {2, "n"}}});
  }
}

// Ops whose result has a shape of its own.
TEST_CASE("sources and ops with a shape attribute") {
  std::vector<Item> items;
  for (const DType t : every_dtype)
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{67}, Shape{3, 5}, Shape{2, 1, 4}, Shape{5003}}) {
      const std::string label = std::string(name_of(t)) + to_string(shape);
      for (const OpId op : {OpId::iota, OpId::zeros, OpId::ones})
        items.push_back({std::string(name_of(op)) + " " + label, [=](auto&) { return call_op(op, {}, {shape, t}); }});
      if (t == DType::f32 || t == DType::f64)
        for (const OpId op : {OpId::random_uniform, OpId::random_normal})
          items.push_back({std::string(name_of(op)) + " " + label,
                           [=](const std::vector<Tensor>& x) { return call_op(op, {x[0], x[1]}, {shape, t}); }});
    }
  for (const int64_t first : {0, 7})
    items.push_back({"philox", [=](const std::vector<Tensor>& x) {
                       return call_op(OpId::philox, {x[0], x[1], x[2]}, {Shape{4, 9}, first});
                     }});
  check_everywhere("sources", items, {{Tensor(int64_t{77}), Tensor(int64_t{-5}), Tensor(int64_t{1} << 40)}});
}

TEST_CASE("broadcast_to") {
  for (const DType t : every_dtype) {
    std::vector<Item> items;
    for (const auto& [input, shape] : {std::pair{0, Shape{}},
                                       {0, Shape{7}},
                                       {0, Shape{0}},
                                       {1, Shape{2, 5}},
                                       {2, Shape{3, 5}},
                                       {2, Shape{2, 3, 5}},
                                       {3, Shape{3, 4}},
                                       {3, Shape{2, 3, 70}},
                                       {1, Shape{5}}})
      items.push_back(
          {"input " + std::to_string(input) + " to " + to_string(shape),
           [input, shape](const std::vector<Tensor>& x) { return std::vector{broadcast_to(x[input], shape)}; }});
    check_everywhere(name("broadcast_to", t), items,
                     {{numbers(t, {}, -4, 4, 1), numbers(t, {5}, -4, 4, 2, true), numbers(t, {3, 5}, -4, 4, 3),
                       numbers(t, {3, 1}, -4, 4, 4, true)}});
  }
}
