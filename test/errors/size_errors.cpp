// Ranks above 8, sizes that overflow, sizes beyond memory: an error, never a crash or a wrong shape.
#include <limits>

#include "test/errors/errors_testing.h"

using namespace kiln;
using testing::refused;
using testing::refuses;
using testing::refuses_both;

namespace {

constexpr Code invalid = Code::invalid_argument;
constexpr Code memory = Code::resource_exhausted;
constexpr int64_t big = int64_t{1} << 40;
constexpr int64_t most = std::numeric_limits<int64_t>::max();
const Shape nine{1, 1, 1, 1, 1, 1, 1, 1, 1};
const Tensor rank8 = ones({1, 1, 1, 1, 1, 1, 1, 2});

}  // namespace

TEST_CASE("rank above 8: a shape that the user gives") {
  refuses(invalid, {"zeros", "9 dims", "8"}, [] { zeros(nine); });
  refuses(invalid, {"iota", "9 dims"}, [] { iota(nine); });
  refuses(invalid, {"full", "9 dims"}, [] { full(nine, 1.f); });
  refuses(invalid, {"Tensor", "9 dims"}, [] { Tensor(std::vector<float>{1}, nine); });
  refuses(invalid, {"normal", "9 dims"}, [] { random::normal(nine); });
  refuses(invalid, {"uniform", "9 dims"}, [] { random::uniform(nine, {.seed = 1}); });
  refuses_both(invalid, {"reshape", "9 dims"}, [](auto x) { return reshape(x, nine); }, Tensor(1.f));
  refuses_both(invalid, {"broadcast_to", "9 dims"}, [](auto x) { return broadcast_to(x, nine); }, Tensor(1.f));
  refuses_both(invalid, {"slice", "9 dims"}, [](auto x) { return slice(x, nine, nine); }, rank8);
  refuses_both(invalid, {"scatter_nd", "9 dims"}, [](auto i) { return scatter_nd(i, Tensor{1.f}, nine); }, Tensor{{0}});
}
TEST_CASE("rank above 8: an op that adds axes") {
  refuses_both(invalid, {"expand_dims", "rank 9", "8"}, [](auto x) { return expand_dims(x, 0); }, rank8);
  refuses_both(invalid, {"stack", "rank 9", "8"}, [](auto x) { return stack({x, x}); }, rank8);
  refuses_both(invalid, {"one_hot", "rank", "8"}, [](auto x) { return one_hot(x, 3); }, cast(rank8, i32));
  refuses_both(
      invalid, {"tensordot", "rank", "8"}, [](auto x) { return tensordot(x, x, {}, {}); }, ones({1, 1, 1, 1, 1}));
  refuses_both(invalid, {"gather", "rank", "8"}, [](auto x) { return gather(x, cast(x, i32)); }, ones({1, 1, 1, 1, 1}));
  refuses_both(invalid, {"index", "9 dims", "8"}, [](auto x) { return x[{newaxis, ellipsis}]; }, rank8);
  refuses(invalid, {"Tensor", "8"}, [] { Tensor bad = {{{{{{{{{1}}}}}}}}}; });
}
TEST_CASE("rank 8 itself works") {
  CHECK(sum(rank8 + 1.f).item<float>() == 4);
  CHECK(transpose(rank8).shape() == Shape{2, 1, 1, 1, 1, 1, 1, 1});
  auto f = function([](Tensor x) { return transpose(x) * 2; });
  CHECK(f(rank8).to_vector<float>() == std::vector<float>{2, 2});
}
TEST_CASE("sizes beyond memory, eagerly") {
  refuses(memory, {"memory"}, [] { zeros({big}); });
  refuses(memory, {"memory"}, [] { zeros({most, most}); });
  refuses(memory, {"memory"}, [] { zeros({most, 8}); });  // the product of bytes wraps to a small number
  refuses(memory, {"memory"}, [] { zeros({int64_t{1} << 32, int64_t{1} << 32}); });
  refuses(memory, {"memory"}, [] { full({big, big}, 1); });
  refuses(memory, {"memory"}, [] { random::normal({big, 4}); });
  refuses(memory, {"memory"}, [] { eye(big); });
  refuses(memory, {"memory"}, [] { arange(0, 1e15); });
  refuses(memory, {"memory"}, [] { one_hot(ones({1024, 1024}, {.dtype = i32}), big); });
  refuses(memory, {"memory"}, [] { broadcast_to(ones({1}), {big, big}); });
  refuses(memory, {"memory"}, [] { outer(ones({1 << 22}), ones({1 << 22})); });
  refuses(memory, {"memory"}, [] { pad(ones({1}), {most / 2, most / 2}); });
  refuses(memory, {"memory"}, [] { tile(ones({2, 2}), {big, big}); });
  CHECK(sum(ones({3})).item<float>() == 3);
}
TEST_CASE("sizes that overflow int64") {
  refuses(invalid, {"reshape", "too many"}, [] { reshape(ones({4}), {big, big}); });
  refused(memory, {"memory"}, [] {
    expand_dims(zeros({0, most, most}), 0) + ones({1});
    pad(zeros({0}), {most, most});
  });
  CHECK_THROWS_AS(pad(ones({1}), {most, most}), Error);
  CHECK_THROWS_AS(tile(ones({2}), {most}), Error);
  CHECK_THROWS_AS(arange(0, 1e300), Error);
  CHECK_THROWS_AS(concat({zeros({most, 0}), zeros({most, 0})}, 0), Error);
  CHECK_THROWS_AS(slice(ones({4}), {1}, {most}), Error);
  CHECK_THROWS_AS(slice(ones({4}), {0}, {2}, {{most}}), Error);
  CHECK_THROWS_AS(conv2d(ones({1, 4, 4, 1}), ones({2, 2, 1, 1}), {.dilations = {most, most}}), Error);
  CHECK_THROWS_AS(conv2d(ones({1, 4, 4, 1}), ones({2, 2, 1, 1}), {.groups = most}), Error);
  CHECK_THROWS_AS(max_pool2d(ones({1, 4, 4, 1}), {.strides = {most, most}}), Error);
  CHECK_THROWS_AS(one_hot(Tensor{0, 1}, most), Error);
  CHECK_THROWS_AS(expand_dims(ones({1}), most), Error);
  CHECK_THROWS_AS(reduce_sum(ones({1}), {{std::numeric_limits<int64_t>::min()}}), Error);
  CHECK_THROWS_AS(split(ones({4}), {most, most}), Error);
  CHECK_THROWS_AS(eye(3, {.columns = most}), Error);
  CHECK_THROWS_AS(linspace(0, 1, most), Error);
}
TEST_CASE("empty tensors whose other dims are huge are no error") {
  CHECK(zeros({0, most}).size() == 0);
  CHECK(sum(zeros({big, 0})).item<float>() == 0);
}
TEST_CASE("huge numbers as steps, shifts and indices") {
  const Tensor x = {1.f, 2.f, 3.f};
  CHECK(x[slice(0, 3, most)].to_vector<float>() == std::vector<float>{1});
  CHECK(x[slice(std::nullopt, std::nullopt, -most)].to_vector<float>() == std::vector<float>{3});
  CHECK(x[slice(-most, most)].to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK(roll(x, most, 0).size() == 3);
  CHECK(roll(x, -most, 0).size() == 3);
  CHECK(tril(ones({2, 2}), {most}).to_vector<float>() == std::vector<float>{1, 1, 1, 1});
  CHECK(tril(ones({2, 2}), {-most}).to_vector<float>() == std::vector<float>{0, 0, 0, 0});
}
TEST_CASE("sizes beyond memory in a compiled function: at the trace or at the run, and it works afterwards") {
  auto constant = function([](Tensor x) { return sum(x + zeros({big, 4})); }, {.name = "constant"});
  refused(memory, {"memory"}, [&] { constant(1.f); });
  auto f = function([](Tensor x, Tensor y) { return reshape(x, {-1, 1}) + y; },
                    {.name = "outer_sum", .input_signature = {{f32, {"n"}}, {f32, {"m"}}}});
  const Tensor long_one = zeros({1 << 22});
  refused(memory, {"memory"}, [&] { f(long_one, long_one); });
  CHECK(f(ones({2}), ones({3})).shape() == Shape{2, 3});
}
