// An index out of its range: out_of_range with the index and the bound, eagerly and at the run of a compiled function;
// the next good call works.
#include <limits>

#include "test/errors/errors_testing.h"

using namespace kiln;
using testing::refused;
using testing::refuses;

namespace {

constexpr Code range = Code::out_of_range;

// Eagerly, compiled for known sizes, and compiled for unknown ones: the same class, the same parts, the op's line.
template <class F>
void out_of_range_everywhere(std::initializer_list<const char*> parts, F body, const Tensor& x, const Tensor& bad,
                             const Tensor& good) {
  const auto expected = body(x, good).template to_vector<float>();
  const std::string eager = refused(range, parts, [&] { body(x, bad); });
  CHECK(eager.find("index_errors.cpp:") != std::string::npos);
  auto check = [&](const auto& f) {
    for (int again = 0; again < 2; ++again) {
      const std::string text = refused(range, parts, [&] { f(x, bad); });
      INFO(text);
      CHECK(text.find("index_errors.cpp:") != std::string::npos);
      CHECK(f(x, good).template to_vector<float>() == expected);
    }
  };
  check(function([body](Tensor t, Tensor i) { return body(t, i); }, {.name = "known"}));
  TensorSpec indices{bad.dtype(), {}};  // as many as rows, where they are
  const char* count = bad.dim(0) == x.dim(0) ? "rows" : "n";
  for (int d = 0; d < bad.rank(); ++d) indices.dims.push_back(d == 0 ? DimSpec(count) : DimSpec(bad.dim(d).size()));
  check(function([body](Tensor t, Tensor i) { return body(t, i); },
                 {.name = "unknown", .input_signature = {{f32, {"rows", 2}}, indices}}));
}

const Tensor table = {{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}};

}  // namespace

TEST_CASE("gather: beyond the end and below 0, i32 and i64") {
  auto body = [](Tensor x, Tensor i) { return gather(x, i); };
  out_of_range_everywhere({"gather", "index 3", "3"}, body, table, Tensor{0, 3}, Tensor{0, 2});
  out_of_range_everywhere({"gather", "-1"}, body, table, Tensor{-1, 0}, Tensor{0, 2});
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  out_of_range_everywhere({"gather", "9223372036854775807"}, body, table, Tensor{most, int64_t{0}},
                          Tensor{int64_t{0}, int64_t{2}});
}
TEST_CASE("gather along the last axis, take_along_axis, gather_nd") {
  out_of_range_everywhere(
      {"gather", "index 2"}, [](Tensor x, Tensor i) { return gather(x, i, {1}); }, table, Tensor{1, 2}, Tensor{1, 1});
  out_of_range_everywhere(
      {"gather_nd", "5"}, [](Tensor x, Tensor i) { return gather_nd(x, i); }, table, Tensor{{0, 0}, {1, 5}},
      Tensor{{0, 0}, {1, 1}});
  auto along = [](Tensor i) { return take_along_axis(table, i, {0}); };
  auto compiled = function(along);
  refuses(range, {"take_along_axis", "7"}, [&] { take_along_axis(table, Tensor{{0, 7}}, {0}); });
  refused(range, {"take_along_axis", "7", "index_errors.cpp:"}, [&] { compiled(Tensor{{0, 7}}); });
  CHECK(compiled(Tensor{{0, 2}}).to_vector<float>() == std::vector<float>{1, 6});
}
TEST_CASE("scatter_add and tensor_scatter_nd_add") {
  auto add_rows = [](Tensor x, Tensor i) { return scatter_add(x, i, ones({2, 2})); };
  refuses(range, {"scatter_add", "3"}, [&] { scatter_add(table, Tensor{0, 3}, ones({2, 2})); });
  auto compiled = function(add_rows);
  refused(range, {"scatter_add", "3", "index_errors.cpp:"}, [&] { compiled(table, Tensor{0, 3}); });
  CHECK(compiled(table, Tensor{0, 0}).to_vector<float>() == std::vector<float>{3, 4, 3, 4, 5, 6});
  CHECK(table.to_vector<float>() == std::vector<float>{1, 2, 3, 4, 5, 6});  // a refused scatter wrote nothing
  refuses(range, {"tensor_scatter_nd_add", "-1"}, [] { tensor_scatter_nd_add(zeros({3}), Tensor{{-1}}, ones({1})); });
}
TEST_CASE("cross-entropy: labels out of range, eagerly and compiled") {
  out_of_range_everywhere(
      {"label 7", "[0, 2)"}, [](Tensor x, Tensor y) { return sparse_softmax_cross_entropy_with_logits(y, x); }, table,
      Tensor{0, 7, 1}, Tensor{0, 1, 1});
  out_of_range_everywhere(
      {"label -1", "[0, 2)"},
      [](Tensor x, Tensor y) { return SparseCategoricalCrossentropy({.from_logits = true})(y, x); }, table,
      Tensor{0, -1, 1}, Tensor{0, 1, 1});
}
TEST_CASE("a compiled training step with a bad label leaves the Variables as they were") {
  Variable w{ones({2, 2}), {.name = "w"}};
  auto step = function(
      [&](Tensor x, Tensor y) {
        GradientTape tape;
        Tensor loss = mean(sparse_softmax_cross_entropy_with_logits(y, x.matmul(w)));
        w.assign_sub(0.1f * tape.gradient(loss, w));
        return loss;
      },
      {.name = "step"});
  refused(range, {"5", "index_errors.cpp:"}, [&] { step(table, Tensor{0, 5, 1}); });
  CHECK(w.to_vector<float>() == std::vector<float>{1, 1, 1, 1});
  CHECK(step(table, Tensor{0, 1, 1}).item<float>() > 0);
  CHECK(w.to_vector<float>() != std::vector<float>{1, 1, 1, 1});
}
TEST_CASE("index in brackets: beyond an axis, too many, two ellipses, step 0") {
  refuses(range, {"index 3", "axis 0", "size 3"}, [] { table[3]; });
  refuses(range, {"index -4", "axis 0", "size 3"}, [] { table[-4]; });
  refuses(range, {"index 2", "axis 1", "size 2"}, [] { table[{all, 2}]; });
  refuses(Code::invalid_argument, {"index", "3", "rank 2"}, [] { table[{0, 0, 0}]; });
  refuses(Code::invalid_argument, {"ellipsis"}, [] { table[{ellipsis, ellipsis}]; });
  refuses(Code::invalid_argument, {"step"}, [] { table[slice(0, 2, 0)]; });
  auto f = function([](Tensor x) { return x[{all, 2}]; }, {.name = "column"});
  refused(range, {"index 2", "axis 1", "size 2", "in \"column\"", "index_errors.cpp:"}, [&] { f(table); });
}
TEST_CASE("index in brackets on an axis of unknown size") {
  auto f = function([](Tensor x) { return x[5]; }, {.input_signature = {{f32, {"rows", 2}}}});
  CHECK(f(ones({6, 2})).shape() == Shape{2});
  refused(range, {"index 5", "3", "index_errors.cpp:"}, [&] { f(table); });
  auto last = function([](Tensor x) { return x[{-2, 1}]; }, {.input_signature = {{f32, {"rows", "columns"}}}});
  CHECK(last(table).item<float>() == 4);
  refused(range, {"index -1", "1", "index_errors.cpp:"}, [&] { last(table[slice(0, 1)]); });
}
TEST_CASE("dim: an axis outside of the rank") {
  refuses(range, {"dim", "axis 2", "rank 2"}, [] { table.dim(2); });
  refuses(range, {"dim", "axis -3", "rank 2"}, [] { table.dim(-3); });
}
TEST_CASE("item and data: what cannot be had") {
  refuses(Code::invalid_argument, {"item", "f32", "i32"}, [] { table[{0, 0}].item<int>(); });
  refuses(Code::invalid_argument, {"item", "[3,2]"}, [] { table.item<float>(); });
  refuses(Code::failed_precondition, {"item", "empty"}, [] { Tensor().item<float>(); });
  refused(Code::invalid_argument, {"bool", "[3,2]", "any"}, [] { (void)static_cast<bool>(table); });
}
