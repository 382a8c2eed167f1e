// The examples of docs/errors: each must give the code of its page, and a text that stands on it.
#include <filesystem>
#include <fstream>

#include "test/errors/errors_testing.h"

using namespace kiln;
using testing::refused;

namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The text up to where it names this file, which on the page has another name.
template <class F>
void on_page(Code code, F&& wrong) {
  const std::string page = content("docs/errors/" + std::string(code_name(code)) + ".md");
  REQUIRE(!page.empty());
  const std::string text = refused(code, {}, wrong), start = text.substr(0, text.find(" (page_errors.cpp:"));
  INFO(text);
  CHECK(page.find("```text\n" + start) != std::string::npos);
}

// An empty folder, and the work in it.
struct Folder {
  std::filesystem::path before = std::filesystem::current_path(), path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "kiln_page_errors_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  // The function, with relative paths from the folder.
  template <class F>
  auto inside(F f) const {
    return [this, f] {
      struct Back {
        const std::filesystem::path& to;
        ~Back() { std::filesystem::current_path(to); }
      } back{before};
      std::filesystem::current_path(path);
      f();
    };
  }
};

}  // namespace

TEST_CASE("docs/errors: invalid_argument") {
  constexpr Code code = Code::invalid_argument;
  on_page(code, [] { matmul(ones({2, 3}), ones({2, 3})); });
  on_page(code, [] { ones({2, 3}) + Tensor{1, 2, 3}; });
  on_page(code, [] { Tensor{1, 2} + 0.5; });
  auto serve = function([](Tensor x) { return x; }, {.name = "serve", .input_signature = {{f32, {"batch", 784}}}});
  on_page(code, [&] { serve(ones({5, 3})); });
}
TEST_CASE("docs/errors: failed_precondition") {
  constexpr Code code = Code::failed_precondition;
  auto f = function(
      [](Tensor x) {
        if (sum(x) > 0) return x;
        return -x;
      },
      {.name = "f"});
  on_page(code, [&] { f(ones({2})); });
  Tensor kept;
  auto keep = function([&](Tensor x) { return kept = x + 1, x; }, {.name = "f"});
  keep(ones({2}));
  on_page(code, [&] { kept * 2; });
  on_page(code, [] {
    Variable w{1.f};
    GradientTape tape;
    Tensor y = square(w);
    tape.gradient(y, w);
    tape.gradient(y, w);
  });
}
TEST_CASE("docs/errors: out_of_range") {
  constexpr Code code = Code::out_of_range;
  on_page(code, [] { ones({2, 3})[2]; });
  on_page(code, [] { gather(ones({2, 3}), Tensor{0, 5}); });
  SparseCategoricalCrossentropy loss({.from_logits = true});
  on_page(code, [&] { loss(Tensor{12}, ones({1, 10})); });
}
TEST_CASE("docs/errors: resource_exhausted") {
  on_page(Code::resource_exhausted, [] { ones({1LL << 40}); });
}
TEST_CASE("docs/errors: unimplemented") {
  auto f = function([](Tensor x) { return x[x > 0]; }, {.name = "f"});
  on_page(Code::unimplemented, [&] { f(ones({2})); });
  // "which is x86-64-v4": as the machine is.
  auto g = function([](Tensor x) { return x; }, {.name = "g", .input_signature = {{f32, {2}}}});
  refused(Code::unimplemented, {"save: code for armv9 cannot be made on this machine, which is x86-64-v"},
          [&] { save("none.kiln", {{"f", g}}, {.targets = {"armv9"}}); });
}
TEST_CASE("docs/errors: not_found and data_loss") {
  Folder folder;
  on_page(Code::not_found, folder.inside([] { load("model.kiln"); }));
  auto f = function([](Tensor x) { return x * 2; }, {.name = "double", .input_signature = {{f32, {"n"}}}});
  const std::string path = folder.path / "m.kiln";
  save(path, {{"double", f}});
  const LoadedModel model = load(path);
  on_page(Code::not_found, [&] { model["serve"]; });

  const std::string good = content(path);
  std::ofstream(folder.path / "cut.kiln", std::ios::binary) << good.substr(0, good.size() / 2);
  refused(Code::data_loss, {"'cut.kiln': the file is damaged: it has ", " bytes and should have "},
          folder.inside([] { load("cut.kiln"); }));
  std::ofstream(folder.path / "notes.kiln") << std::string(3000, 'x');
  on_page(Code::data_loss, folder.inside([] { load("notes.kiln"); }));
  std::filesystem::create_directory(folder.path / "data");
  for (const char* name :
       {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"})
    std::ofstream(folder.path / "data" / name, std::ios::binary)
        << std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x02", 16) << "abc";
  on_page(Code::data_loss, folder.inside([] { load_mnist("data"); }));
}
