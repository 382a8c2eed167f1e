// Wrong uses of tensors and ops, one each: the error has the right class, names the op and what it got, and the user's
// line.
#include "test/errors/errors_testing.h"

using namespace kiln;
using testing::refuses;

namespace {

const Tensor a = {{1.f, 2.f}, {3.f, 4.f}};

}  // namespace

TEST_CASE("add: shapes that do not broadcast") {
  refuses(Code::invalid_argument, {"add", "[2,2]", "[3]"}, [] { a + Tensor{1.f, 2.f, 3.f}; });
}
TEST_CASE("add: unlike dtypes") {
  refuses(Code::invalid_argument, {"add", "f32", "i32"}, [] { a + Tensor{1, 2}; });
}
TEST_CASE("add: a number that the dtype does not hold") {
  refuses(Code::invalid_argument, {"0.5", "i32"}, [] { Tensor{1} + 0.5; });
}
TEST_CASE("add: an empty Tensor") {
  refuses(Code::invalid_argument, {"add", "empty"}, [] { a + Tensor(); });
}
TEST_CASE("matmul: inner dims") {
  refuses(Code::invalid_argument, {"matmul", "[2,2]", "[3,2]"}, [] { matmul(a, ones({3, 2})); });
}
TEST_CASE("matmul: rank below 2") {
  refuses(Code::invalid_argument, {"matmul", "f32[2]"}, [] { matmul(Tensor{1.f, 2.f}, a); });
}
TEST_CASE("exp: integers") {
  refuses(Code::invalid_argument, {"exp", "i32"}, [] { exp(Tensor{1, 2}); });
}
TEST_CASE("where: a condition that is not bool") {
  refuses(Code::invalid_argument, {"where", "condition"}, [] { where(a, a, a); });
}
TEST_CASE("reshape: another number of elements") {
  refuses(Code::invalid_argument, {"reshape", "[2,2]", "[3]"}, [] { reshape(a, {3}); });
}
TEST_CASE("reduce_sum: an axis outside of the rank") {
  refuses(Code::invalid_argument, {"reduce_sum", "2"}, [] { reduce_sum(a, {.axis = {2}}); });
}
TEST_CASE("reduce_max: nothing to take the maximum of") {
  refuses(Code::invalid_argument, {"reduce_max", "empty"}, [] { reduce_max(zeros({0})); });
}
TEST_CASE("concat: unlike dims") {
  refuses(Code::invalid_argument, {"concat"}, [] { concat({a, ones({1, 3})}, 0); });
}
TEST_CASE("gather: an index out of range") {
  refuses(Code::out_of_range, {"gather", "7"}, [] { gather(a, Tensor(7)); });
}
TEST_CASE("gather: a negative index") {
  refuses(Code::out_of_range, {"gather", "-1"}, [] { gather(a, Tensor(-1)); });
}
TEST_CASE("conv2d: channels that do not fit") {
  refuses(Code::invalid_argument, {"conv2d"}, [] { conv2d(ones({1, 8, 8, 3}), ones({3, 3, 4, 5})); });
}
TEST_CASE("gelu: the error of a composite op names it") {
  refuses(Code::invalid_argument, {"gelu", "i32"}, [] { gelu(Tensor{1}); });
}
TEST_CASE("index: out of range") {
  refuses(Code::out_of_range, {"index 2", "axis 0", "size 2"}, [] { a[2]; });
}
TEST_CASE("index: a mask of another shape") {
  refuses(Code::invalid_argument, {"mask", "[3]"}, [] { a[Tensor{true, false, true}]; });
}
TEST_CASE("item: more than one element") {
  refuses(Code::invalid_argument, {"item", "[2,2]"}, [] { a.item<float>(); });
}
TEST_CASE("data: another dtype") {
  refuses(Code::invalid_argument, {"data", "f32", "f64"}, [] { a.data<double>(); });
}
TEST_CASE("Tensor: braces of unlike lengths") {
  refuses(Code::invalid_argument, {"Tensor", "lengths"}, [] { Tensor bad = {{1, 2}, {3}}; });
}
TEST_CASE("Variable: a value of another shape") {
  const Variable v{a, {.name = "weights"}};
  refuses(Code::invalid_argument, {"assign", "\"weights\"", "f32[2,2]", "f32[2]"}, [&] { v.assign(Tensor{1.f, 2.f}); });
}
TEST_CASE("dropout: a rate above 1") {
  refuses(Code::invalid_argument, {"dropout", "1.5"}, [] { dropout(a, random_state(1), 1.5); });
}
TEST_CASE("zeros: a tensor that cannot fit in memory") {
  refuses(Code::resource_exhausted, {"memory"}, [] { zeros({int64_t{1} << 40, int64_t{1} << 40}); });
}
