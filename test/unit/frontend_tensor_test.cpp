// Tensors, numbers, printing, indexing, eager ops, Variables. Expected values: NumPy, or exact arithmetic.
#include <catch2/catch.hpp>
#include <sstream>

#include "kiln/kiln.h"

using namespace kiln;
using Catch::Matchers::Contains;

namespace {
template <class T>
std::vector<T> values(const Tensor& x) {
  return x.to_vector<T>();
}
std::string printed(const Tensor& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}
// The text of the Error that f throws.
template <class F>
std::string error_of(F&& f, Code code) {
  try {
    f();
  } catch (const Error& e) {
    CHECK(e.code() == code);
    return e.what();
  }
  FAIL("no error");
  return {};
}
}  // namespace

TEST_CASE("tensor: dtype and shape come from the literal") {
  Tensor a = {{1.f, 2.f}, {3.f, 4.f}};
  CHECK(a.dtype() == f32);
  CHECK(a.shape() == Shape{2, 2});
  CHECK(Tensor(1).dtype() == i32);
  CHECK(Tensor(1.0).dtype() == f64);
  CHECK(Tensor(true).dtype() == bool_);
  CHECK(Tensor(int64_t{1}).dtype() == i64);
  CHECK(Tensor({1, 2.5f}).dtype() == f32);
  CHECK(Tensor{1.f}.shape() == Shape{1});
  CHECK(Tensor(std::vector<int>{1, 2, 3, 4}, {2, 2}).shape() == Shape{2, 2});
  CHECK(values<bool>(Tensor(std::vector<bool>{true, false})) == std::vector<bool>{true, false});
  CHECK_THAT(error_of([] { Tensor bad = {{1, 2}, {3}}; }, Code::invalid_argument), Contains("different lengths"));
  CHECK_THAT(error_of([] { Tensor(std::vector<int>{1, 2, 3}, {2, 2}); }, Code::invalid_argument),
             Contains("3 elements do not fill shape [2,2]"));
}

TEST_CASE("tensor: item, data and bool check what they are asked") {
  Tensor a = {1.f, 2.f};
  CHECK(a[1].item<float>() == 2.f);
  CHECK_THAT(error_of([&] { a.item<float>(); }, Code::invalid_argument), Contains("needs one element"));
  CHECK_THAT(error_of([&] { a[0].item<int>(); }, Code::invalid_argument), Contains("the tensor is f32, not i32"));
  CHECK_THAT(error_of([&] { (void)bool(a); }, Code::invalid_argument), Contains("no single truth value"));
  CHECK_THAT(error_of([] { Tensor().dtype(); }, Code::failed_precondition), Contains("empty"));
  CHECK(bool(Tensor(2)));
  CHECK_FALSE(bool(Tensor(0.f)));
}

TEST_CASE("tensor: prints as NumPy does") {
  CHECK(printed(Tensor{{2.f, 3.f}}) == "[[2, 3]]  f32[1,2] cpu");
  CHECK(printed(Tensor{1.5f, 3.f, -10.f}) == "[  1.5,   3. , -10. ]  f32[3] cpu");
  CHECK(printed(Tensor(7)) == "7  i32[] cpu");
  CHECK(printed(Tensor{true, false}) == "[ true, false]  bool[2] cpu");
  CHECK(printed(Tensor{{1, 2}, {3, 40}}) == "[[ 1,  2],\n [ 3, 40]]  i32[2,2] cpu");
  CHECK(printed(Tensor{0.1f, 1e-10f}) == "[1.e-01, 1.e-10]  f32[2] cpu");
  CHECK(printed(zeros({0, 3})) == "[]  f32[0,3] cpu");
  // More than 1000 elements: three from each end.
  CHECK(printed(iota({2000})) == "[   0,    1,    2, ..., 1997, 1998, 1999]  i32[2000] cpu");
}

TEST_CASE("tensor: indexing follows NumPy") {
  Tensor a = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}};
  CHECK(values<int>(a[1]) == std::vector<int>{4, 5, 6, 7});
  CHECK(values<int>(a[-1]) == std::vector<int>{8, 9, 10, 11});
  CHECK(a[{1, 2}].item<int>() == 6);
  CHECK(values<int>(a[{all, -1}]) == std::vector<int>{3, 7, 11});
  CHECK(a[{slice(0, 1), newaxis, ellipsis}].shape() == Shape{1, 1, 4});
  CHECK(values<int>(a[slice(1, std::nullopt)]) == std::vector<int>{4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(values<int>(a[{0, slice(std::nullopt, std::nullopt, 2)}]) == std::vector<int>{0, 2});
  CHECK(values<int>(a[{0, slice(std::nullopt, std::nullopt, -1)}]) == std::vector<int>{3, 2, 1, 0});
  CHECK(values<int>(a[{0, slice(3, 0, -2)}]) == std::vector<int>{3, 1});
  CHECK(a[slice(5, 9)].shape() == Shape{0, 4});
  CHECK(values<int>(a[a > 8]) == std::vector<int>{9, 10, 11});
  CHECK(values<int>(a[Tensor{true, false, true}]) == std::vector<int>{0, 1, 2, 3, 8, 9, 10, 11});
  CHECK_THAT(error_of([&] { a[3]; }, Code::out_of_range), Contains("index 3 is out of range for axis 0 of size 3"));
  CHECK_THAT(error_of([&] { a[{0, -5}]; }, Code::out_of_range), Contains("axis 1 of size 4"));
  CHECK_THAT(error_of([&] { a[{0, 0, 0}]; }, Code::invalid_argument), Contains("3 indices for a tensor of rank 2"));
}

TEST_CASE("ops: numbers take the tensor's dtype or are refused") {
  CHECK((Tensor{1.0, 2.0} * 2).dtype() == f64);
  CHECK((2 * Tensor{1.f}).dtype() == f32);
  CHECK((Tensor{1, 2} + 1).dtype() == i32);
  CHECK_THAT(error_of([] { Tensor{1, 2} + 0.5; }, Code::invalid_argument), Contains("0.5") && Contains("i32"));
  CHECK_THAT(error_of([] { Tensor{1, 2} + Tensor{1.f, 2.f}; }, Code::invalid_argument), Contains("add: "));
  CHECK_THAT(error_of([] { Tensor{1, 2} + int64_t{1} * 4'000'000'000; }, Code::invalid_argument),
             Contains("does not fit in"));
}

TEST_CASE("ops: broadcasting in both directions, over merged and separate dims") {
  Tensor rows = {{1.f}, {2.f}}, columns = {10.f, 20.f, 30.f};
  CHECK(values<float>(rows + columns) == std::vector<float>{11, 21, 31, 12, 22, 32});
  CHECK(values<float>(columns - rows) == std::vector<float>{9, 19, 29, 8, 18, 28});
  Tensor x = reshape(cast(iota({24}), f32), {2, 3, 4}), y = reshape(cast(iota({8}), f32), {2, 1, 4});
  std::vector<float> expected;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) expected.push_back(float((i * 12 + j * 4 + k) * (i * 4 + k)));
  CHECK(values<float>(x * y) == expected);
  CHECK((zeros({0, 3}) + ones({3})).shape() == Shape{0, 3});
  CHECK((Tensor(1.f) + Tensor(2.f)).shape() == Shape{});
}

TEST_CASE("ops: reductions along any axes") {
  Tensor x = reshape(iota({24}, {.dtype = i64}), {2, 3, 4});
  CHECK(sum(x).item<int64_t>() == 276);
  CHECK(values<int64_t>(sum(x, {.axis = {1}})) == std::vector<int64_t>{12, 15, 18, 21, 48, 51, 54, 57});
  CHECK(values<int64_t>(sum(x, {.axis = {0, 2}})) == std::vector<int64_t>{60, 92, 124});
  CHECK(sum(x, {.axis = {-1}, .keepdims = true}).shape() == Shape{2, 3, 1});
  CHECK(sum(zeros({0, 3}), {.axis = {0}}).shape() == Shape{3});
  CHECK(values<float>(mean(Tensor{{1.f, 2.f}, {3.f, 4.f}}, {.axis = {0}, .keepdims = true})) ==
        std::vector<float>{2, 3});
}

TEST_CASE("ops: errors name the op, the types and the user's line") {
  const std::string text = error_of([] { Tensor{{1.f, 2.f}}.matmul(Tensor{{1.f, 2.f}}); }, Code::invalid_argument);
  CHECK_THAT(text, Contains("matmul: ") && Contains("frontend_tensor_test.cpp:" + std::to_string(__LINE__ - 1)));
}

TEST_CASE("variable: assign changes it, earlier reads keep their value") {
  Variable v{Tensor{1.f, 2.f}, {.name = "v"}};
  const Tensor before = v.read();
  v.assign_add(Tensor{1.f, 1.f});
  v.assign_sub(0.5f);
  CHECK(values<float>(v) == std::vector<float>{1.5f, 2.5f});
  CHECK(values<float>(before) == std::vector<float>{1, 2});
  Variable same = v;
  same.assign(7.f);
  CHECK(values<float>(v) == std::vector<float>{7, 7});
  CHECK(same.id() == v.id());
  CHECK(values<float>(2 * v + v) == std::vector<float>{21, 21});
  CHECK_THAT(error_of([&] { v.assign(Tensor{1.f}); }, Code::invalid_argument),
             Contains("Variable \"v\" is f32[2], the value is f32[1]"));
  CHECK_THAT(error_of([&] { v.assign(Tensor{1, 2}); }, Code::invalid_argument), Contains("i32[2]"));
  CHECK_THAT(error_of([] { Variable().read(); }, Code::failed_precondition), Contains("empty"));
}
