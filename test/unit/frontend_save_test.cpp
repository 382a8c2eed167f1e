// Functions saved and loaded again in this process.
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>

#include "kiln/kiln.h"

using namespace kiln;
using Catch::Matchers::Contains;

namespace {
struct TemporaryFile {
  std::string path =
      (std::filesystem::temp_directory_path() / ("kiln_save_test_" + std::to_string(::getpid()) + ".kiln")).string();
  ~TemporaryFile() { std::filesystem::remove(path); }
};
}  // namespace

TEST_CASE("save: a loaded function gives the same bits and shares its Variables") {
  TemporaryFile file;
  Variable w{random::normal({3, 2}, {.seed = 5}), {.name = "w"}}, calls{0, {.name = "calls"}};
  const Tensor table = random::normal({300}, {.seed = 6});
  auto serve = function(
      [&](Tensor x) {
        calls.assign_add(1);
        return tanh(x.matmul(w)) + reduce_sum(table);
      },
      {.name = "serve", .input_signature = {{f32, {"batch", 3}}}});
  auto count = function([&] { return calls; }, {.name = "count"});
  const Tensor x = random::normal({4, 3}, {.seed = 7});
  const auto expected = serve(x).to_vector<float>();
  count();
  save(file.path, {{"serve", serve}, {"count", count}});

  LoadedModel model = load(file.path);
  CHECK(model["serve"].call(x).to_vector<float>() == expected);
  CHECK(model["serve"].call(x[slice(0, 1)]).shape() == Shape{1, 2});
  CHECK(model["count"].call().item<int>() == 3);
  CHECK(model.variables().size() == 2);
  CHECK_THAT(model["serve"].signature(), Contains("f32[batch,3]"));
  CHECK_THAT(model["serve"].ir(), Contains("kiln.matmul"));
  CHECK_THROWS_WITH(model["serve"].call(ones({4, 4})), Contains("f32[4,4]"));
  CHECK_THROWS_WITH(model["nothing"], Contains("serve") && Contains("count"));
}

TEST_CASE("save: what cannot be saved is refused") {
  TemporaryFile file;
  auto two = function([](Tensor x) { return x; }, {.name = "two"});
  CHECK_THROWS_WITH(save(file.path, {{"two", two}}), Contains("0 signatures"));
  two(1), two(1.f);
  CHECK_THROWS_WITH(save(file.path, {{"two", two}}), Contains("2 signatures"));
  auto takes_variable = function([](Variable& v) { return v * 2; });
  Variable v{1};
  takes_variable(v);
  CHECK_THROWS_WITH(save(file.path, {{"f", takes_variable}}), Contains("Variable among its parameters"));
  CHECK_THROWS_WITH(load("/nonexistent/model.kiln"), Contains("model.kiln"));
  CHECK_FALSE(std::filesystem::exists(file.path));
}
