// Declared signatures that are not met, concrete functions, and dims that must agree at run time.
#include "test/errors/errors_testing.h"

using namespace kiln;
using testing::refused;
using testing::refuses;

namespace {

constexpr Code invalid = Code::invalid_argument;

}  // namespace

TEST_CASE("a declared signature: dtype, rank, a fixed size; the text names the argument, both types and the line") {
  auto f = function([](Tensor x, Tensor y) { return reduce_sum(x) + y; },
                    {.name = "f", .input_signature = {{f32, {"batch", 3}, "image"}, {f32, {}}}});
  refuses(invalid, {"f:", "argument 0", "image", "f32[batch,3]", "i32[2,3]"},
          [&] { f(Tensor{{1, 2, 3}, {4, 5, 6}}, 1.f); });
  refuses(invalid, {"argument 0", "image", "f32[batch,3]", "f32[3]"}, [&] { f(ones({3}), 1.f); });
  refuses(invalid, {"argument 0", "f32[batch,3]", "f32[2,4]"}, [&] { f(ones({2, 4}), 1.f); });
  refuses(invalid, {"argument 1", "f32[]", "f32[1]"}, [&] { f(ones({2, 3}), ones({1})); });
  CHECK(f.trace_count() == 0);
  CHECK(f(ones({2, 3}), 1.f).item<float>() == 7);
  refuses(invalid, {"argument 0", "f32[batch,3]", "f32[2,4]"}, [&] { f(ones({2, 4}), 1.f); });
  CHECK(f(ones({0, 3}), 1.f).item<float>() == 1);
  CHECK(f.trace_count() == 1);
}
TEST_CASE("a signature with too few, too many or impossible specs") {
  auto f = function([](Tensor x, Tensor y) { return x + y; }, {.name = "f", .input_signature = {{f32, {}}}});
  refuses(invalid, {"f:", "declares 1", "has 2"}, [&] { f(1.f, 2.f); });
  auto g = function([](Tensor x) { return x; }, {.name = "g", .input_signature = {{f32, {}}, {f32, {}}}});
  refuses(invalid, {"g:", "declares 2", "has 1"}, [&] { g(1.f); });
  refuses(invalid, {"g:", "2 specs", "1 parameter"}, [&] { g.concrete({{f32, {}}, {f32, {}}}); });
  auto nine = function([](Tensor x) { return x; }, {.name = "nine"});
  refuses(invalid, {"9 dims", "8"}, [&] { nine.concrete({{f32, {1, 1, 1, 1, 1, 1, 1, 1, 1}}}); });
}
TEST_CASE("unknown dims without a name need not agree: ? and -1") {
  auto f = function([](Tensor x, Tensor y) { return reduce_sum(x) + reduce_sum(y); },
                    {.input_signature = {{f32, {"?"}}, {f32, {-1}}}});
  CHECK(f(ones({2}), ones({3})).item<float>() == 5);
  auto g = function([](Tensor x, Tensor y) { return reduce_sum(x) + reduce_sum(y); });
  const ConcreteFunction c = g.concrete({{f32, {-1}}, {f32, {-1}}});
  CHECK(c({ones({2}), ones({3})})[0].item<float>() == 5);
}
TEST_CASE("dims of one name that differ at run time") {
  auto f = function([](Tensor x, Tensor y) { return reduce_sum(x) + reduce_sum(y); },
                    {.name = "f", .input_signature = {{f32, {"n"}}, {f32, {3, "n"}}}});
  CHECK(f(ones({2}), ones({3, 2})).item<float>() == 8);
  refuses(invalid, {"f:", "n", "2", "4"}, [&] { f(ones({2}), ones({3, 4})); });
  CHECK(f(ones({5}), ones({3, 5})).item<float>() == 20);
}
TEST_CASE("unknown dims that an op needs equal: refused in the trace, with both names") {
  auto f = function([](Tensor x, Tensor y) { return matmul(x, y); },
                    {.name = "f", .input_signature = {{f32, {2, "n"}}, {f32, {"m", 2}}}});
  refused(invalid, {"matmul", "f32[2,n]", "f32[m,2]", "signature_errors.cpp:"}, [&] { f(ones({2, 3}), ones({3, 2})); });
  auto g = function([](Tensor x, Tensor y) { return concat({x, y}, 0); },
                    {.name = "g", .input_signature = {{f32, {2, "n"}}, {f32, {2, "m"}}}});
  refused(invalid, {"concat", "f32[2,n]", "f32[2,m]"}, [&] { g(ones({2, 3}), ones({2, 3})); });
}
TEST_CASE("unknown dims that an element-wise op broadcasts: the sizes are checked at run time (32)") {
  auto f = function([](Tensor x, Tensor y) { return x + y; },
                    {.name = "f", .input_signature = {{f32, {"n"}}, {f32, {"m"}}}});
  refused(invalid, {"n", "m", "2", "3"}, [&] { f(ones({2}), ones({3})); });
  CHECK(f(ones({1}), ones({3})).shape() == Shape{3});
  CHECK(f(ones({1}), ones({0})).shape() == Shape{0});
  CHECK(f(ones({2}), ones({2})).to_vector<float>() == std::vector<float>{2, 2});
}
TEST_CASE("reshape of an unknown size that does not divide") {
  auto f = function([](Tensor x) { return reshape(x, {-1, 4}); }, {.name = "f", .input_signature = {{f32, {"n"}}}});
  refused(invalid, {"reshape", "f32[n]", "[-1,4]", "signature_errors.cpp:"}, [&] { f(ones({6})); });
}
TEST_CASE("a concrete function called with other types (31)") {
  auto f = function([](Tensor x) { return x * 2; }, {.name = "f"});
  const ConcreteFunction c = f.concrete({{f32, {1, "n"}, "x"}});
  refuses(invalid, {"f:", "argument 0", "f32[2,3]", "f32[1,n]"}, [&] { c({ones({2, 3})}); });
  refuses(invalid, {"argument 0", "f32[3]", "f32[1,n]"}, [&] { c({ones({3})}); });
  refuses(invalid, {"argument 0", "i32[1,2]", "f32[1,n]"}, [&] { c({Tensor{{1, 2}}}); });
  refuses(invalid, {"argument 0", "empty"}, [&] { c({Tensor()}); });
  refuses(invalid, {"f:", "2 tensors", "needs 1"}, [&] { c({ones({1, 3}), ones({1, 3})}); });
  CHECK(c({ones({1, 3})})[0].shape() == Shape{1, 3});
}
TEST_CASE("concrete specs against a declared signature") {
  auto f = function([](Tensor x) { return x * 2; }, {.name = "f", .input_signature = {{f32, {"n", 3}, "x"}}});
  refuses(invalid, {"f:", "argument 0", "f32[n,3]", "f32[2,4]"}, [&] { f.concrete({{f32, {2, 4}}}); });
  refuses(invalid, {"f:", "argument 0", "f32[n,3]", "f64[2,3]"}, [&] { f.concrete({{f64, {2, 3}}}); });
  CHECK(f.trace_count() == 0);
}
TEST_CASE("concrete by specs of a function with parameters that are no tensors") {
  auto f = function([](Tensor x, int k) { return x * k; }, {.name = "f"});
  refuses(invalid, {"f"}, [&] { f.concrete({{f32, {}}}); });
}
TEST_CASE("a Variable argument of another type than was traced is another signature, not an error") {
  auto f = function([](Variable v) { return v * 2; }, {.name = "f"});
  CHECK(f(Variable{1}).item<int>() == 2);
  CHECK(f(Variable{ones({2})}).shape() == Shape{2});
  CHECK(f.trace_count() == 2);
}
