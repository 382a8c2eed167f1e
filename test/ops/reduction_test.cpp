// Every reduction on every dtype, shape and axis: eager = compiled = reference, bit for bit.
#include <catch2/catch.hpp>

#include "test/ops/ops_testing.h"

using namespace kiln;
using namespace kiln::ops_testing;

namespace {

using Axes = std::vector<int64_t>;

// Reductions, and the composite ops that end in one.
bool reduces(OpId op) {
  const auto attributes = info(op).attributes;
  return attributes.size() == 2 && attributes[0].name == "axis" && attributes[1].name == "keepdims";
}
bool needs_elements(OpId op) {
  return op == OpId::reduce_max || op == OpId::reduce_min || op == OpId::reduce_logsumexp;
}

std::vector<Item> items_for(DType dtype, const std::vector<Axes>& axes, bool may_be_empty) {
  std::vector<Item> items;
  for (const Row& row : rows()) {
    const OpId op = row.op;
    if (!reduces(op) || !row.takes(dtype) || (may_be_empty && needs_elements(op))) continue;
    for (const Axes& axis : axes)
      for (const bool keepdims : {false, true}) {
        std::string label(name_of(op));
        for (const int64_t a : axis) label += " " + std::to_string(a);
        items.push_back({label + (keepdims ? " keepdims" : ""), [=](const std::vector<Tensor>& inputs) {
                           return call_op(op, {inputs[0]}, {axis, keepdims});
                         }});
      }
  }
  // Those that give positions, and running sums.
  for (const Axes& axis : axes) {
    if (axis.size() != 1) continue;
    const std::string label = " " + std::to_string(axis[0]);
    for (const OpId op : {OpId::argmax, OpId::argmin})
      if (row_of(op).takes(dtype) && !may_be_empty)
        items.push_back({std::string(name_of(op)) + label,
                         [=](const std::vector<Tensor>& inputs) { return call_op(op, {inputs[0]}, {axis[0]}); }});
    for (const OpId op : {OpId::cumsum, OpId::cumprod})
      for (const bool exclusive : {false, true})
        for (const bool reverse : {false, true})
          items.push_back({std::string(name_of(op)) + label, [=](const std::vector<Tensor>& inputs) {
                             return call_op(op, {inputs[0]}, {axis[0], exclusive, reverse});
                           }});
  }
  return items;
}

// Near 1: products stay finite, sums cancel.
std::vector<std::vector<Tensor>> inputs_for(DType dtype, const std::vector<Shape>& shapes, bool specials = false) {
  std::vector<std::vector<Tensor>> sets;
  for (const Shape& s : shapes)
    sets.push_back({numbers(dtype, s, -1.5, 1.5, static_cast<uint32_t>(s.size()), specials)});
  return sets;
}

void check(DType dtype, const std::vector<Axes>& axes, const std::vector<DimSpec>& dims,
           const std::vector<Shape>& shapes, bool may_be_empty = false) {
  const std::string name = "reduce_" + std::string(name_of(dtype));
  const std::vector<Item> items = items_for(dtype, axes, may_be_empty);
  CheckOptions options;
  if (!dims.empty()) options.dims = {dims};
  check_everywhere(name, items, inputs_for(dtype, shapes), options);
}

}  // namespace

TEST_CASE("reductions of vectors of unknown size, quick", "[quick]") {
  check(GENERATE(DType::bool_, DType::i32, DType::f32), {{}, {-1}}, {"n"}, {{1}, {37}, {1000}});
}

TEST_CASE("reductions of vectors of unknown size") {
  const DType dtype = GENERATE(DType::bool_, DType::i32, DType::i64, DType::f32, DType::f64);
  check(dtype, {{}, {0}}, {"n"},
        {{1}, {2}, {3}, {7}, {8}, {9}, {31}, {32}, {33}, {63}, {65}, {70}, {1024}, {1025}, {10000}, {70001}});
  check(dtype, {{}, {-1}}, {"n"}, {{0}, {1}, {5}}, true);
}

TEST_CASE("reductions of special values") {
  const DType dtype = GENERATE(DType::i32, DType::i64, DType::f32, DType::f64);
  check_everywhere("reduce_specials", items_for(dtype, {{}, {-1}, {0}}, false),
                   inputs_for(dtype, {{1, 1}, {1, 70}, {9, 5}, {40, 3}}, true), {.dims = {{"a", "b"}}});
}

TEST_CASE("reductions along each axis of unknown sizes", "[slow]") {
  const DType dtype = GENERATE(DType::bool_, DType::i32, DType::i64, DType::f32, DType::f64);
  check(dtype, {{}, {0}, {1}, {-1}, {-2}, {0, 1}}, {"a", "b"},
        {{1, 1}, {3, 5}, {5, 3}, {1, 70}, {70, 1}, {33, 17}, {100, 101}, {2, 5000}, {5000, 2}, {1200, 33}});
  check(dtype, {{}, {0}, {1}}, {"a", "b"}, {{0, 3}, {3, 0}, {0, 0}, {2, 2}}, true);
}

// Sums of nothing have a value, the largest of nothing has none: an error in both worlds, also where only the call
// shows it.
TEST_CASE("the largest of no elements is an error", "[quick]") {
  for (const OpId op : {OpId::reduce_max, OpId::reduce_min, OpId::argmax, OpId::argmin}) {
    INFO(name_of(op));
    const bool position = op == OpId::argmax || op == OpId::argmin;
    const auto call = [&](const Tensor& x) {
      const std::vector<Attribute> reduce = {Axes{0}, false}, place = {int64_t{0}};
      return call_op(op, {x}, position ? place : reduce)[0];
    };
    const auto f =
        function([&](Tensor x) -> Tensor { return call(x); }, {.input_signature = {{DType::f32, {"n", "m"}}}});
    CHECK_THROWS_AS(call(zeros({0, 3})), Error);
    CHECK_THROWS_AS(f(zeros({0, 3})), Error);
    CHECK(f(zeros({3, 0})).shape() == Shape{0});
    CHECK(difference(call(ones({3, 2})), f(ones({3, 2}))) == "");
  }
}

TEST_CASE("reductions of known shapes", "[slow]") {
  const DType dtype = GENERATE(DType::bool_, DType::i32, DType::i64, DType::f32, DType::f64);
  check(dtype, {{}}, {}, {{}}, true);
  check(dtype, {{}, {0, 1}}, {}, {{0, 3}}, true);
  for (const Shape& shape : {Shape{1}, Shape{70}}) check(dtype, {{}, {-1}}, {}, {shape});
  for (const Shape& shape : {Shape{2, 3, 5}, Shape{4, 1, 6}, Shape{3, 40, 33}})
    check(dtype, {{}, {0}, {1}, {-1}, {0, 2}, {0, 1}, {-1, 1}}, {}, {shape});
}

TEST_CASE("reductions of big known shapes") {
  const DType dtype = GENERATE(DType::i64, DType::f32);
  for (const Shape& shape : {Shape{10000, 7}, Shape{7, 10000}}) check(dtype, {{}, {0}, {1}}, {}, {shape});
}
