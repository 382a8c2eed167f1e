// Shape rules: result types, unknown dims, and the texts of errors; and the library calls made from them.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "dialects/kiln/rules/infer_types.h"
#include "dialects/kiln/rules/library_calls.h"
#include "dialects/kiln/rules/shape_rules.h"

using namespace kiln;

namespace {

using Types = std::vector<TensorType>;
using Attributes = std::vector<Attribute>;
using Ints = std::vector<int64_t>;

TensorType f32(Shape s) { return {DType::f32, s}; }
TensorType i32(Shape s) { return {DType::i32, s}; }
TensorType i64(Shape s) { return {DType::i64, s}; }
TensorType boolean(Shape s) { return {DType::bool_, s}; }

// The (first) result's type as text, or the error's.
std::string infer(OpId op, const Types& operands, const Attributes& attributes = {}) {
  const auto types = infer_types(op, operands, attributes);
  if (!types.ok()) return std::string(types.status().message());
  std::string text;
  for (const TensorType& t : *types) text += (text.empty() ? "" : " ") + to_string(t);
  return text;
}

std::string call(OpId op, const Types& operands, const Attributes& attributes = {}) {
  const auto types = infer_types(op, operands, attributes);
  if (!types.ok()) return std::string(types.status().message());
  const auto made = library_call(op, operands, *types, attributes);
  if (!made.ok()) return std::string(made.status().message());
  std::string text = made->name;
  for (Dim d : made->params) text += " " + (d.known() ? std::to_string(d.size()) : DimTable::current()->to_string(d));
  return text;
}

const Attributes conv_same = {Ints{2, 2}, std::string("same"), Ints{}, Ints{1, 1}, int64_t{1}};

}  // namespace

TEST_CASE("operands are checked before all else") {
  CHECK(infer(OpId::add, {boolean({2}), boolean({2})}) ==
        "add: x is bool[2]: dtype bool is not supported (i32, i64, f32, f64)");
  CHECK(infer(OpId::add, {f32({2, 3}), i32({3})}) == "add: x is f32[2,3] but y is i32[3]: the dtypes must be equal");
  CHECK(infer(OpId::add, {f32({2})}) == "add: got 1 operands, needs 2");
  CHECK(infer(OpId::where, {f32({2}), f32({2}), f32({2})}) == "where: condition is f32[2], it must be bool");
  CHECK(infer(OpId::gather, {f32({2}), f32({2})}, {int64_t{0}}) == "gather: indices is f32[2], it must be i32 or i64");
  CHECK(infer(OpId::reduce_sum, {i32({2})}, {Ints{}, false}) ==
        "reduce_sum: x is i32[2]: dtype i32 is not supported (bool, i32, i64, f32, f64)");
  CHECK(promoted(OpId::reduce_sum, DType::i32) == DType::i64);
  CHECK(infer(OpId::concat, {f32({2}), i32({2})}, {int64_t{0}}) ==
        "concat: xs[0] is f32[2] but xs[1] is i32[2]: the dtypes must be equal");
  CHECK(infer(OpId::reduce_sum, {f32({2})}, {Ints{}}) == "reduce_sum: got 1 attributes, needs 2");
}

TEST_CASE("broadcasting") {
  CHECK(infer(OpId::add, {f32({2, 1, 3}), f32({4, 1})}) == "f32[2,4,3]");
  CHECK(infer(OpId::add, {f32({0}), f32({1})}) == "f32[0]");
  CHECK(infer(OpId::add, {f32({2, 3}), f32({2})}) == "add: x is f32[2,3] and y is f32[2]: the shapes do not broadcast");
  CHECK(infer(OpId::less, {f32({}), f32({2})}) == "bool[2]");
  CHECK(infer(OpId::where, {boolean({2, 1}), i64({3}), i64({})}) == "i64[2,3]");
  CHECK(infer(OpId::cast, {f32({2})}, {DType::i32}) == "i32[2]");
  CHECK(infer(OpId::broadcast_to, {f32({3})}, {Shape{2, 3}}) == "f32[2,3]");
  CHECK(infer(OpId::broadcast_to, {f32({2})}, {Shape{2, 3}}) ==
        "broadcast_to: x is f32[2], which does not broadcast to [2,3]");
  CHECK(infer(OpId::zeros, {}, {Shape{2, -3}, DType::f32}) == "zeros: shape [2,-1] has a negative size");
}

TEST_CASE("reductions") {
  CHECK(infer(OpId::reduce_sum, {f32({2, 3, 4})}, {Ints{-1, 0}, false}) == "f32[3]");
  CHECK(infer(OpId::reduce_sum, {f32({2, 3, 4})}, {Ints{}, true}) == "f32[1,1,1]");
  CHECK(infer(OpId::reduce_sum, {f32({2, 2, 0, 3})}, {Ints{2}, false}) == "f32[2,2,3]");
  CHECK(infer(OpId::reduce_sum, {f32({})}, {Ints{0}, false}) == "reduce_sum: axis 0 is out of range for rank 0");
  CHECK(infer(OpId::reduce_sum, {f32({2, 3})}, {Ints{1, -1}, false}) == "reduce_sum: axis -1 is given twice");
  CHECK(infer(OpId::reduce_max, {f32({2, 0})}, {Ints{1}, false}) ==
        "reduce_max: x is f32[2,0] and axis 1 is empty: the largest of no elements has no value");
  CHECK(infer(OpId::reduce_max, {f32({2, 0})}, {Ints{0}, false}) == "f32[0]");
  CHECK(infer(OpId::argmax, {f32({2, 5})}, {int64_t{-1}}) == "i64[2]");
  CHECK(infer(OpId::top_k, {f32({2, 5})}, {int64_t{3}}) == "f32[2,3] i64[2,3]");
}

TEST_CASE("shapes") {
  CHECK(infer(OpId::reshape, {f32({2, 6})}, {Shape{-1, 3}}) == "f32[4,3]");
  CHECK(infer(OpId::reshape, {f32({2, 6})}, {Shape{5, -1}}) ==
        "reshape: x is f32[2,6], whose elements do not fit shape [5,-1]");
  CHECK(infer(OpId::reshape, {f32({2, 6})}, {Shape{-1, -1}}) == "reshape: shape [-1,-1] has more than one -1");
  CHECK(infer(OpId::reshape, {f32({0, 4})}, {Shape{-1, 4}}) == "f32[0,4]");
  CHECK(infer(OpId::reshape, {f32({0, 4})}, {Shape{-1, 0}}) ==
        "reshape: shape [-1,0] has a -1 beside a 0: it could be any size");
  CHECK(infer(OpId::expand_dims, {f32({2})}, {int64_t{-1}}) == "f32[2,1]");
  CHECK(infer(OpId::squeeze, {f32({1, 2, 1})}, {Ints{}}) == "f32[2]");
  CHECK(infer(OpId::squeeze, {f32({1, 2})}, {Ints{1}}) == "squeeze: x is f32[1,2] and axis 1 is not of size 1");
  CHECK(infer(OpId::transpose, {f32({2, 3, 4})}, {Ints{}}) == "f32[4,3,2]");
  CHECK(infer(OpId::transpose, {f32({2, 3})}, {Ints{0, 0}}) ==
        "transpose: x is f32[2,3] and perm is [0,0]: it must name each of the 2 axes of x once");
  CHECK(infer(OpId::slice, {f32({5})}, {Shape{1}, Shape{-1}, Ints{2}}) == "f32[2]");
  CHECK(infer(OpId::slice, {f32({5})}, {Shape{3}, Shape{3}, Ints{}}) ==
        "slice: begin 3, size 3, stride 1 in axis 0 of x, which is f32[5]: the box leaves x");
  CHECK(infer(OpId::slice_backward, {f32({2})}, {Shape{5}, Shape{1}, Ints{2}}) == "f32[5]");
  CHECK(infer(OpId::concat, {f32({2, 3}), f32({2, 0}), f32({2, 4})}, {int64_t{-1}}) == "f32[2,7]");
  CHECK(infer(OpId::pad, {f32({2})}, {Ints{1, 2}, 0.0}) == "f32[5]");
}

TEST_CASE("unknown dims") {
  DimTable table;
  const DimTable::Scope scope(&table);
  const Dim batch = table.symbol("batch", 0, 0), n = table.symbol("n", 1, 0);
  CHECK(infer(OpId::reshape, {f32({batch, 28, 28})}, {Shape{-1, 784}}) == "f32[batch,784]");
  CHECK(infer(OpId::reshape, {f32({batch, 28, 28})}, {Shape{batch, -1}}) == "f32[batch,784]");
  CHECK(infer(OpId::reshape, {f32({batch, n, 4})}, {Shape{-1, 2}}) == "f32[batch*n*2,2]");
  CHECK(infer(OpId::reshape, {f32({batch * n, 4})}, {Shape{batch, n, 4}}) == "f32[batch,n,4]");
  CHECK(infer(OpId::reshape, {f32({batch, 4})}, {Shape{2, 8}}).find("write -1") != std::string::npos);
  CHECK(infer(OpId::add, {f32({batch, 4}), f32({4})}) == "f32[batch,4]");
  CHECK(infer(OpId::add, {f32({batch}), f32({1})}) == "f32[batch]");
  CHECK(infer(OpId::add, {f32({batch}), f32({n})}) == "f32[broadcast(batch,n)]");
  CHECK(infer(OpId::matmul, {f32({batch, 4}), f32({4, 2})}, {false, false}) == "f32[batch,2]");
  CHECK(infer(OpId::matmul, {f32({2, batch}), f32({n, 2})}, {false, false}) ==
        "matmul: x is f32[2,batch] with batch columns, y is f32[n,2] with n rows: they must be equal");
  CHECK(infer(OpId::slice, {f32({batch, 4})}, {Shape{0, 1}, Shape{-1, 2}, Ints{}}) == "f32[batch,2]");
  CHECK(infer(OpId::concat, {f32({batch}), f32({3})}, {int64_t{0}}) == "f32[batch+3]");
  CHECK(infer(OpId::conv2d, {f32({batch, 5, 5, 1}), f32({3, 3, 1, 2})}, conv_same) == "f32[batch,3,3,2]");
  CHECK(call(OpId::matmul, {f32({batch, 4}), f32({4, 2})}, {false, false}) == "matmul.f32 batch 2 4 0 0 0");
}

TEST_CASE("images") {
  CHECK(infer(OpId::conv2d, {f32({1, 6, 6, 1}), f32({3, 3, 1, 4})}, conv_same) == "f32[1,3,3,4]");
  CHECK(infer(OpId::conv2d, {f32({1, 6, 6, 2}), f32({3, 3, 1, 4})}, conv_same) ==
        "conv2d: x is f32[1,6,6,2] and filter is f32[3,3,1,4] with 1 groups: x's channels must be groups times the "
        "filter's third dim");
  CHECK(infer(OpId::conv2d, {f32({1, 2, 2, 1}), f32({3, 3, 1, 4})},
              {Ints{1, 1}, std::string("valid"), Ints{}, Ints{1, 1}, int64_t{1}}) ==
        "conv2d: the window is 3 long, axis 1 of x only 2 with its padding");
  CHECK(infer(OpId::conv2d, {f32({1, 2, 2, 1}), f32({3, 3, 1, 4})},
              {Ints{1, 1}, std::string("full"), Ints{}, Ints{1, 1}, int64_t{1}}) ==
        "conv2d: padding is \"full\", it must be \"valid\", \"same\" or \"explicit\"");
  // D30: "same" at stride 2 pads 0 before and 1 after; kernel 1, stride 3 starts at 0.
  CHECK(call(OpId::conv2d, {f32({1, 6, 6, 1}), f32({3, 3, 1, 1})}, conv_same) ==
        "conv2d.f32 1 6 6 1 3 3 1 3 3 2 2 1 1 0 0 1");
  CHECK(call(OpId::conv2d_backward_filter, {f32({1, 6, 6, 1}), f32({1, 3, 3, 1})},
             {Shape{3, 3, 1, 1}, Ints{2, 2}, std::string("same"), Ints{}, Ints{1, 1}, int64_t{1}}) ==
        "conv2d_backward_filter.f32 1 6 6 1 3 3 1 3 3 2 2 1 1 0 0 1");
  CHECK(call(OpId::max_pool2d, {f32({2, 4, 4, 3})}, {Ints{2, 2}, Ints{}, std::string("valid"), Ints{}}) ==
        "max_pool2d.f32 2 4 4 3 2 2 2 2 2 2 0 0");
  CHECK(call(OpId::avg_pool2d, {f32({1, 5, 5, 1})},
             {Ints{2, 2}, Ints{1, 1}, std::string("explicit"), Ints{1, 0, 0, 1}}) ==
        "avg_pool2d.f32 1 5 5 1 2 2 5 5 1 1 1 0");
}

TEST_CASE("library calls") {
  CHECK(call(OpId::matmul, {f32({5, 1, 2, 3}), f32({4, 7, 3})}, {false, true}) == "matmul.f32 2 7 3 0 1 2 5 1 1 4");
  CHECK(call(OpId::transpose, {i64({2, 3})}, {Ints{}}) == "transpose.b8 2 2 3 1 0");
  CHECK(call(OpId::slice, {f32({5, 4})}, {Shape{1, 0}, Shape{2, 4}, Ints{2, 1}}) == "slice.b4 2 5 4 2 4 1 0 2 1 0 0");
  CHECK(call(OpId::reverse, {boolean({5, 4})}, {Ints{-2}}) == "slice.b1 2 5 4 5 4 4 0 1 1 1 0");
  CHECK(call(OpId::pad, {f32({2})}, {Ints{1, 2}, 1.0}) == "pad.b4 1 2 5 1 1 0 1065353216 0");
  CHECK(call(OpId::concat, {f32({2, 3, 4}), f32({2, 5, 4})}, {int64_t{1}}) == "concat.b4 2 2 4 3 5");
  CHECK(call(OpId::gather, {f32({2, 3, 4}), i32({5, 2})}, {int64_t{1}}) == "gather.b4.i32 2 3 4 10");
  CHECK(call(OpId::gather_backward, {f32({5}), i64({5})}, {Shape{3}, int64_t{0}}) == "scatter_add.f32.i64 1 3 1 5");
  CHECK(call(OpId::check_range, {i32({5})}, {Shape{10}}) == "check_range.i32 5 0 10");
  CHECK(call(OpId::argmax, {f32({2, 3, 4})}, {int64_t{1}}) == "argmax.f32 2 3 4");
  CHECK(call(OpId::cumsum, {i64({2, 3})}, {int64_t{-1}, true, false}) == "cumsum.i64 2 3 1 1 0");
  CHECK(call(OpId::top_k, {f32({2, 5})}, {int64_t{3}}) == "top_k.f32 2 5 3");
}
