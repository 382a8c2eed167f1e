#include "test/unit/kernels_testing.h"

using namespace kiln;
using namespace kiln::testing;

namespace {

constexpr int32_t out_of_range = 11;

struct Fixture {
  std::mt19937 random{7};
  CallContext context{};
  int32_t run(const std::string& name, std::vector<void*> buffers, const std::vector<int64_t>& params) {
    return run_kernel(name, true, std::move(buffers), params, random, &context);
  }
  template <class I>
  std::vector<I> indices(int64_t n, int64_t size) {
    std::vector<I> v(n);
    for (I& i : v) i = static_cast<I>(random() % static_cast<uint64_t>(size));
    return v;
  }
};

template <class I>
void check_gather_and_scatter(Fixture& f, const std::string& index, int64_t outer, int64_t axis, int64_t inner,
                              int64_t count) {
  auto x = random_values<float>(outer * axis * inner, f.random);
  auto at = f.indices<I>(count, axis);
  std::vector<float> want, got(outer * count * inner);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = 0; k < inner; ++k) want.push_back(x[(o * axis + at[i]) * inner + k]);
  const std::vector<int64_t> params{outer, axis, inner, count};
  REQUIRE(f.run("gather.b4." + index, {x.data(), at.data(), got.data()}, params) == 0);
  REQUIRE(first_difference(got, want) == -1);

  auto updates = random_values<float>(outer * count * inner, f.random);
  std::vector<float> sums(outer * axis * inner), onto = x, result(x.size(), 3.0f);
  for (std::vector<float>* to : {&sums, &onto})
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < count; ++i)
        for (int64_t k = 0; k < inner; ++k)
          (*to)[(o * axis + at[i]) * inner + k] += updates[(o * count + i) * inner + k];
  REQUIRE(f.run("scatter_add.f32." + index, {updates.data(), at.data(), result.data()}, params) == 0);
  REQUIRE(first_difference(result, sums) == -1);
  REQUIRE(f.run("tensor_scatter_add.f32." + index, {x.data(), at.data(), updates.data(), result.data()}, params) == 0);
  REQUIRE(first_difference(result, onto) == -1);

  auto each = f.indices<I>(outer * count * inner, axis);
  for (int64_t i = 0; i < outer * count * inner; ++i)
    want[i] = x[(i / inner / count * axis + each[i]) * inner + i % inner];
  REQUIRE(f.run("take_along_axis.b4." + index, {x.data(), each.data(), got.data()}, params) == 0);
  REQUIRE(first_difference(got, want) == -1);
}

}  // namespace

TEST_CASE("gather, take_along_axis and scatter_add, equal indices in order") {
  Fixture f;
  for (int64_t outer : {0, 1, 3})
    for (int64_t axis : {1, 5, 100})
      for (int64_t inner : {0, 1, 7, 1500})
        for (int64_t count : {0, 1, 40}) {
          check_gather_and_scatter<int32_t>(f, "i32", outer, axis, inner, count);
          check_gather_and_scatter<int64_t>(f, "i64", outer, axis, inner, count);
        }
}

TEST_CASE("integers wrap in scatter_add") {
  Fixture f;
  std::vector<int32_t> at{0, 0}, updates{2147483647, 1}, result(1);
  REQUIRE(f.run("scatter_add.i32.i32", {updates.data(), at.data(), result.data()}, {1, 1, 1, 2}) == 0);
  CHECK(result[0] == -2147483647 - 1);
}

TEST_CASE("an index outside the axis is an error that names the first one") {
  Fixture f;
  std::vector<float> x(6), y(10);
  std::vector<int64_t> at{0, 2, 1, 7, 9};
  CHECK(f.run("gather.b4.i64", {x.data(), at.data(), y.data()}, {1, 3, 2, 5}) == out_of_range);
  CHECK(std::string(f.context.message) == "index 7 at position 3 is out of range for axis size 3");
  std::vector<int32_t> negative{0, -1};
  CHECK(f.run("gather.b4.i32", {x.data(), negative.data(), y.data()}, {1, 3, 2, 2}) == out_of_range);
  CHECK(std::string(f.context.message) == "index -1 at position 1 is out of range for axis size 3");
  CHECK(f.run("scatter_add.f32.i32", {y.data(), negative.data(), x.data()}, {1, 3, 2, 2}) == out_of_range);
  CHECK(f.run("tensor_scatter_add.f32.i32", {x.data(), negative.data(), y.data(), x.data()}, {1, 3, 2, 2}) ==
        out_of_range);
  CHECK(f.run("take_along_axis.b4.i32", {x.data(), negative.data(), y.data()}, {1, 3, 2, 1}) == out_of_range);
  std::vector<int32_t> none{0};
  CHECK(f.run("gather.b4.i32", {x.data(), none.data(), y.data()}, {1, 0, 2, 1}) == out_of_range);  // an empty axis
}

TEST_CASE("gather_nd takes rows by several indices") {
  Fixture f;
  std::vector<int32_t> x(3 * 4 * 2), y(3 * 2), want;
  for (int i = 0; i < 24; ++i) x[i] = i;
  std::vector<int32_t> at{0, 0, 2, 3, 1, 2};
  REQUIRE(f.run("gather_nd.b4.i32", {x.data(), at.data(), y.data()}, {3, 2, 2, 3, 4}) == 0);
  CHECK(y == std::vector<int32_t>{0, 1, 22, 23, 12, 13});
  at[3] = 4;
  CHECK(f.run("gather_nd.b4.i32", {x.data(), at.data(), y.data()}, {3, 2, 2, 3, 4}) == out_of_range);
  CHECK(std::string(f.context.message) == "index 4 at position 1 is out of range for axis size 4");
}

TEST_CASE("check_range copies good labels and names the first bad one") {
  Fixture f;
  std::vector<int64_t> labels{0, 9, 3}, copy(3);
  REQUIRE(f.run("check_range.i64", {labels.data(), copy.data()}, {3, 0, 10}) == 0);
  CHECK(copy == labels);
  std::vector<int32_t> bad{12, 3, 99}, bad_copy(3);
  CHECK(f.run("check_range.i32", {bad.data(), bad_copy.data()}, {3, 0, 10}) == out_of_range);
  CHECK(std::string(f.context.message) == "label 12 at position 0 is out of range [0, 10)");
  CHECK(f.run("check_range.i32", {bad.data(), bad_copy.data()}, {0, 0, 10}) == 0);
}
