// Saving and loading: whatever goes wrong, the old file stays whole, nothing else is left, and the program goes on.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>

#include "test/errors/errors_testing.h"

using namespace kiln;
using testing::refused;
using testing::refuses;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "kiln_file_errors_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~Folder() {
    fs::permissions(path, fs::perms::owner_all);
    fs::remove_all(path);
  }
  std::string file(const char* name) const { return (path / name).string(); }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

auto scaled(const Variable& w) {
  return function([w](Tensor x) { return x * w; }, {.name = "scaled", .input_signature = {{f32, {"n"}, "x"}}});
}

}  // namespace

TEST_CASE("save: no space on disk; the old file stays whole and loads") {
  Folder folder;
  const std::string path = folder.file("m.kiln");
  Variable w{ones({1})}, heavy{ones({1, 50'000}), {.name = "heavy"}};
  save(path, {{"scaled", scaled(w)}});
  const std::string before = bytes_of(path);
  auto f = function([&](Tensor x) { return x * reduce_sum(heavy); }, {.name = "f", .input_signature = {{f32, {"n"}}}});
  // A limit on the size of files acts as a full disk does. In a child: it cannot be undone.
  f(ones({2}));
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
    try {
      save(path, {{"f", f}});
    } catch (const Error& e) {
      const std::string text = e.what();
      const bool right = e.code() == Code::resource_exhausted && text.find(path) != std::string::npos &&
                         text.find("file_errors.cpp:") != std::string::npos;
      _exit(right ? 0 : 1);
    }
    _exit(3);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(bytes_of(path) == before);
  CHECK(folder.files() == 1);
  CHECK(load(path)["scaled"].call(ones({2})).to_vector<float>() == std::vector<float>{1, 1});
}
TEST_CASE("save: a folder that is missing, is a file, or does not take files") {
  Folder folder;
  Variable w{ones({1})};
  auto f = scaled(w);
  refuses(Code::not_found, {"save", "missing/m.kiln"}, [&] { save(folder.file("missing/m.kiln"), {{"f", f}}); });
  write(folder.file("plain"), "x");
  refuses(Code::not_found, {"save", "plain/m.kiln"}, [&] { save(folder.file("plain/m.kiln"), {{"f", f}}); });
  refused(Code::not_found, {"save"}, [&] { save("", {{"f", f}}); });
  refuses(Code::unavailable, {"save"}, [&] { save(folder.path.string(), {{"f", f}}); });  // a folder
  CHECK(folder.files() == 1);
}
TEST_CASE("save: a folder that may not be written") {
  Folder folder;
  Variable w{ones({1})};
  auto f = scaled(w);
  f(ones({1}));
  fs::permissions(folder.path,
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && seteuid(65534) != 0) _exit(2);  // root may write everywhere
    try {
      save(folder.file("m.kiln"), {{"f", f}});
    } catch (const Error& e) {
      const std::string text = e.what();
      _exit(e.code() == Code::unavailable && text.find(folder.file("m.kiln")) != std::string::npos &&
                    text.find("file_errors.cpp:") != std::string::npos
                ? 0
                : 1);
    }
    _exit(3);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(folder.files() == 0);
}
TEST_CASE("save: onto a link; the link's target is not written") {
  Folder folder;
  Variable w{ones({1})};
  write(folder.file("secret"), "keep");
  fs::create_symlink("secret", folder.path / "m.kiln");
  save(folder.file("m.kiln"), {{"f", scaled(w)}});
  CHECK(bytes_of(folder.file("secret")) == "keep");
  CHECK(load(folder.file("m.kiln"))["f"].call(ones({1})).item<float>() == 1);
}
TEST_CASE("save: nothing, no signature, a name twice, another CPU") {
  Folder folder;
  const std::string path = folder.file("m.kiln");
  Variable w{ones({1})};
  auto f = scaled(w);
  auto untraced = function([](Tensor x) { return x; }, {.name = "untraced"});
  refuses(Code::invalid_argument, {"save", "no function"}, [&] { save(path, {}); });
  refuses(Code::invalid_argument, {"save", "untraced", "input_signature"},
          [&] { save(path, {{"untraced", untraced}}); });
  refuses(Code::invalid_argument, {"two functions", "'f'"}, [&] { save(path, {{"f", f}, {"f", f}}); });
  refuses(Code::unimplemented, {"save", "pdp-11"}, [&] { save(path, {{"f", f}}, {.targets = {"pdp-11"}}); });
  CHECK(folder.files() == 0);
}
TEST_CASE("load: a missing file, a folder, an empty file, a pipe, a device, other content") {
  Folder folder;
  refuses(Code::not_found, {"none.kiln"}, [&] { load(folder.file("none.kiln")); });
  refused(Code::not_found, {}, [&] { load(""); });
  const std::string as_folder =
      refused(Code::invalid_argument, {"file_errors.cpp:"}, [&] { load(folder.path.string()); });
  CHECK(as_folder.find(folder.path.string()) != std::string::npos);
  write(folder.file("empty"), "");
  refuses(Code::data_loss, {"empty"}, [&] { load(folder.file("empty")); });
  write(folder.file("text"), std::string(5000, 'x'));
  refuses(Code::data_loss, {"text", ".kiln"}, [&] { load(folder.file("text")); });
  REQUIRE(mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  refuses(Code::invalid_argument, {"pipe"}, [&] { load(folder.file("pipe")); });  // must not wait for a writer
  refuses(Code::invalid_argument, {"/dev/zero"}, [&] { load("/dev/zero"); });
}
TEST_CASE("load: a file cut short or changed, at places all over it") {
  Folder folder;
  const std::string path = folder.file("m.kiln");
  Variable w{Tensor{3.f}};
  save(path, {{"f", scaled(w)}});
  const std::string good = bytes_of(path);
  for (size_t at = 0; at < good.size(); at += 1 + good.size() / 61) {
    write(path, good.substr(0, at));
    CHECK_THROWS_AS(load(path), Error);
    std::string flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ 1 << at % 8);
    write(path, flipped);
    CHECK_THROWS_AS(load(path), Error);
  }
  write(path, good);
  CHECK(load(path)["f"].call(ones({2})).to_vector<float>() == std::vector<float>{3, 3});
}
TEST_CASE("a loaded function: another type, number, name, and in a trace") {
  Folder folder;
  const std::string path = folder.file("m.kiln");
  Variable w{Tensor{3.f}};
  save(path, {{"f", scaled(w)}});
  const LoadedModel model = load(path);
  const LoadedFunction f = model["f"];
  refuses(Code::invalid_argument, {"f", "i32[2]", "f32[n]"}, [&] { f({Tensor{1, 2}}); });
  refuses(Code::invalid_argument, {"f", "f32[1,2]", "f32[n]"}, [&] { f({ones({1, 2})}); });
  refuses(Code::invalid_argument, {"f", "0 tensors", "needs 1"}, [&] { f({}); });
  refuses(Code::invalid_argument, {"f", "empty"}, [&] { f({Tensor()}); });
  refused(Code::not_found, {"\"g\"", "f"}, [&] { model["g"]; });
  auto traced = function([&](Tensor x) { return f({x})[0]; }, {.name = "outer"});
  refused(Code::unimplemented, {"\"f\"", "trace", "file_errors.cpp:", "in \"outer\""}, [&] { traced(ones({2})); });
  CHECK(f({ones({1})})[0].item<float>() == 3);
}
TEST_CASE("the compiler library is missing: eager code works, a function says what is missing") {
  Folder cache;
  const pid_t child = fork();
  if (child == 0) {
    setenv("KILN_CACHE_DIR", cache.path.c_str(), 1);
    setenv("KILN_COMPILER", "/nonexistent/libkiln_compiler.so", 1);
    execl("/proc/self/exe", "kiln_error_tests", "[.no_compiler]", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
TEST_CASE("hidden: no compiler", "[.no_compiler]") {
  auto f = function([](Tensor x) { return x * 2 + 1; }, {.name = "f"});
  for (int again = 0; again < 2; ++again)
    refuses(Code::unavailable, {"compiler", "/nonexistent/libkiln_compiler.so"}, [&] { f(ones({2})); });
  CHECK((ones({2}) * 2 + 1).to_vector<float>() == std::vector<float>{3, 3});
  f.run_eagerly(true);
  CHECK(f(ones({2})).to_vector<float>() == std::vector<float>{3, 3});
}
