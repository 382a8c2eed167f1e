#include <algorithm>
#include <atomic>
#include <numeric>

#include "test/unit/nn_testing.h"

using namespace kiln;
using nn_testing::error_of;

namespace {

Tensor numbers(int32_t n) {
  std::vector<int32_t> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return Tensor(values);
}

std::vector<int32_t> all_of(const Dataset<Tensor>& data) {
  std::vector<int32_t> values;
  for (const Tensor& x : data)
    for (int32_t v : x.to_vector<int32_t>()) values.push_back(v);
  return values;
}

}  // namespace

TEST_CASE("from_slices gives rows; batch stacks them") {
  const Tensor x = {{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}, y = {10, 20, 30};
  int rows = 0;
  for (auto [a, b] : from_slices(x, y)) {
    CHECK(a.shape() == Shape{2});
    CHECK(b.shape() == Shape{});
    CHECK(b.item<int32_t>() == 10 * ++rows);
    CHECK(a.to_vector<float>()[1] == 2.f * static_cast<float>(rows));
  }
  CHECK(rows == 3);

  std::vector<Shape> shapes;
  for (auto [a, b] : from_slices(x, y).batch(2)) {
    shapes.push_back(a.shape());
    CHECK(b.dim(0) == a.dim(0));
  }
  CHECK(shapes == std::vector<Shape>{{2, 2}, {1, 2}});
  CHECK(all_of(from_slices(numbers(5)).batch(2, {.drop_remainder = true})) == std::vector<int32_t>{0, 1, 2, 3});
  CHECK(all_of(from_slices(numbers(0)).batch(2)).empty());
  for (auto [a, b, c] : from_slices(x, y, x).batch(3)) CHECK(c.to_vector<float>() == a.to_vector<float>());
}

TEST_CASE("size says how many elements a pass has") {
  const auto data = from_slices(numbers(10));
  CHECK(data.size() == 10);
  CHECK(data.batch(3).size() == 4);
  CHECK(data.batch(3, {.drop_remainder = true}).size() == 3);
  CHECK(data.repeat(3).size() == 30);
  CHECK(data.repeat().size() == std::nullopt);
  CHECK(data.repeat().take(7).size() == 7);
  CHECK(data.take(99).shuffle(4).prefetch(1).size() == 10);
}

TEST_CASE("shuffle keeps all elements and is repeatable by its seed") {
  const auto data = from_slices(numbers(100));
  std::vector<int32_t> sorted(100);
  std::iota(sorted.begin(), sorted.end(), 0);
  for (int64_t buffer : {1, 7, 100, 1000}) {
    const auto shuffled = data.shuffle(buffer, {.seed = 1});
    const std::vector<int32_t> first = all_of(shuffled), second = all_of(shuffled);
    CHECK((first == sorted) == (buffer == 1));
    CHECK((first == second) == (buffer == 1));  // another order in each pass
    CHECK(all_of(data.shuffle(buffer, {.seed = 1})) == first);
    std::vector<int32_t> again = first;
    std::sort(again.begin(), again.end());
    CHECK(again == sorted);
    // An element comes from the next `buffer` ones.
    for (size_t i = 0; i < first.size(); ++i) CHECK(first[i] < static_cast<int64_t>(i) + buffer);
  }
  CHECK(all_of(data.shuffle(100, {.seed = 1})) != all_of(data.shuffle(100, {.seed = 2})));
  const auto fixed = data.shuffle(100, {.seed = 1, .reshuffle_each_iteration = false});
  CHECK(all_of(fixed) == all_of(fixed));
  const std::vector<int32_t> twice = all_of(data.shuffle(100, {.seed = 1}).repeat(2));
  CHECK(std::vector<int32_t>(twice.begin(), twice.begin() + 100) !=
        std::vector<int32_t>(twice.begin() + 100, twice.end()));
}

TEST_CASE("shuffle favours no place") {
  // Where element 0 of 5 lands in 20,000 passes: 4,000 each, standard deviation 57.
  const auto data = from_slices(numbers(5)).shuffle(5, {.seed = 3});
  std::vector<int> count(5);
  for (int pass = 0; pass < 20000; ++pass) {
    const std::vector<int32_t> order = all_of(data);
    ++count[static_cast<size_t>(std::find(order.begin(), order.end(), 0) - order.begin())];
  }
  for (int n : count) CHECK(std::abs(n - 4000) < 5 * 57);
}

TEST_CASE("repeat, take and map") {
  const auto data = from_slices(numbers(3));
  CHECK(all_of(data.repeat(2)) == std::vector<int32_t>{0, 1, 2, 0, 1, 2});
  CHECK(all_of(data.repeat(0)).empty());
  CHECK(all_of(data.repeat().take(4)) == std::vector<int32_t>{0, 1, 2, 0});
  CHECK(all_of(data.take(2)) == std::vector<int32_t>{0, 1});
  CHECK(all_of(from_slices(numbers(0)).repeat()).empty());  // and does not run for ever

  const Tensor x = numbers(3);
  const auto swapped = from_slices(x, x).map([](Tensor a, Tensor) { return std::pair(a, Tensor(7)); });
  for (auto [a, b] : swapped.batch(3)) {
    CHECK(a.to_vector<int32_t>() == std::vector<int32_t>{0, 1, 2});
    CHECK(b.to_vector<int32_t>() == std::vector<int32_t>{7, 7, 7});
  }
  CHECK(all_of(from_slices(x, x).map([](Tensor a, Tensor) { return a; })) == std::vector<int32_t>{0, 1, 2});
}

TEST_CASE("prefetch gives the same elements and can be left at any time") {
  const auto data = from_slices(numbers(1000)).shuffle(100, {.seed = 5, .reshuffle_each_iteration = false}).batch(7);
  for (int64_t count : {1, 3, 1000}) CHECK(all_of(data.prefetch(count)) == all_of(data));
  for (int stop : {0, 1, 5}) {
    int seen = 0;
    for (const Tensor& x : data.repeat().prefetch(2)) {
      static_cast<void>(x);
      if (seen++ == stop) break;
    }
    CHECK(seen == stop + 1);
  }
  {
    auto unused = data.repeat().prefetch(4).begin();
  }
  // An iterator outlives its Dataset.
  auto it = from_slices(numbers(4)).batch(2).prefetch(1).begin();
  CHECK(it->to_vector<int32_t>() == std::vector<int32_t>{0, 1});
  ++it;
  CHECK(it->to_vector<int32_t>() == std::vector<int32_t>{2, 3});
  ++it;
  CHECK(it == std::default_sentinel);
  CHECK(all_of(data.prefetch(2).prefetch(2)) == all_of(data));
}

TEST_CASE("an exception in a worker reaches the loop, after the elements before it") {
  const auto data = from_slices(numbers(10)).map([](Tensor x) {
    if (x.item<int32_t>() == 3) throw std::runtime_error("element 3 is bad");
    return x;
  });
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<int32_t> seen;
    CHECK_THROWS_WITH(
        [&] {
          for (const Tensor& x : data.prefetch(2)) seen.push_back(x.item<int32_t>());
        }(),
        "element 3 is bad");
    CHECK(seen == std::vector<int32_t>{0, 1, 2});
  }
  // Not asked for: not thrown.
  for (const Tensor& x : data.prefetch(8).take(2)) CHECK(x.item<int32_t>() < 2);
}

TEST_CASE("wrong datasets are errors that say what does not fit") {
  error_of(Code::invalid_argument, [] { from_slices(Tensor(1.f)); });
  error_of(Code::invalid_argument, [] { from_slices(Tensor()); });
  const std::string text = error_of(Code::invalid_argument, [] { from_slices(numbers(3), numbers(4)); });
  CHECK(text.find("[3]") != std::string::npos);
  CHECK(text.find("[4]") != std::string::npos);
  CHECK(text.find("data_dataset_test.cpp") != std::string::npos);
  const auto data = from_slices(numbers(4));
  error_of(Code::invalid_argument, [&] { data.batch(0); });
  error_of(Code::invalid_argument, [&] { data.shuffle(0); });
  error_of(Code::invalid_argument, [&] { data.prefetch(0); });
  error_of(Code::invalid_argument, [&] { data.take(-1); });
  error_of(Code::invalid_argument, [&] { data.repeat(-1); });
  const auto uneven = data.map([](Tensor x) { return numbers(x.item<int32_t>()); }).batch(2);
  const std::string shapes = error_of(Code::invalid_argument, [&] { uneven.begin(); });
  CHECK(shapes.find("i32[1]") != std::string::npos);
  CHECK(shapes.find("i32[0]") != std::string::npos);
}
