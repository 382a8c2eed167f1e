// compile(): the disk cache and the compiler library. Each step is a process of its own: the compiler is opened once.
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kiln/kiln.h"

using namespace kiln;
namespace fs = std::filesystem;

namespace {

// Runs a hidden test case of this program with the environment; its exit status.
int run_case(const char* name, std::initializer_list<std::pair<const char*, std::string>> environment) {
  const pid_t pid = fork();
  if (pid == 0) {
    for (const auto& [key, value] : environment) setenv(key, value.c_str(), 1);
    execl("/proc/self/exe", "kiln_unit_tests", name, static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/kiln_compile_test_XXXXXX";
    REQUIRE(mkdtemp(name));
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(path)) found.push_back(entry.path());
    return found;
  }
};

ConcreteFunction compiled_function() {
  auto f = function([](Tensor x) { return x * 12345 + 1; }, {.name = "cached"});
  CHECK(f(2).item<int>() == 24691);
  return f.concretes()[0];
}

}  // namespace

TEST_CASE("hidden: compiles", "[.compiles]") { CHECK_FALSE(compiled_function().compiled().from_cache); }
TEST_CASE("hidden: comes from the cache", "[.from_cache]") {
  CHECK(compiled_function().compiled().from_cache);
  std::ifstream maps("/proc/self/maps");
  const std::string text((std::istreambuf_iterator<char>(maps)), std::istreambuf_iterator<char>());
  CHECK(text.find("libMLIR") == std::string::npos);
}
TEST_CASE("hidden: no compiler", "[.no_compiler]") {
  auto f = function([](Tensor x) { return x * 12345; }, {.name = "uncached"});
  try {
    f(2);
  } catch (const Error& e) {
    CHECK(e.code() == Code::unavailable);
    CHECK_THAT(e.what(), Catch::Matchers::Contains("/nonexistent/libkiln_compiler.so"));
    return;
  }
  FAIL("no error");
}

TEST_CASE("compile: the second process takes the code from the disk cache, without LLVM") {
  Folder cache;
  CHECK(run_case("[.compiles]", {{"KILN_CACHE_DIR", cache.path}}) == 0);
  CHECK(cache.files().size() == 1);
  CHECK(run_case("[.from_cache]", {{"KILN_CACHE_DIR", cache.path}}) == 0);
}

TEST_CASE("compile: a damaged or truncated cache entry is compiled again") {
  Folder cache;
  REQUIRE(run_case("[.compiles]", {{"KILN_CACHE_DIR", cache.path}}) == 0);
  const fs::path file = cache.files().at(0);
  const auto size = fs::file_size(file);
  {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(size / 2));
    const int old = bytes.get();
    bytes.seekp(static_cast<std::streamoff>(size / 2));
    bytes.put(static_cast<char>(old ^ 0x10));
  }
  CHECK(run_case("[.compiles]", {{"KILN_CACHE_DIR", cache.path}}) == 0);
  CHECK(run_case("[.from_cache]", {{"KILN_CACHE_DIR", cache.path}}) == 0);
  fs::resize_file(file, size / 3);
  CHECK(run_case("[.compiles]", {{"KILN_CACHE_DIR", cache.path}}) == 0);
}

TEST_CASE("compile: a cache folder that cannot be written costs only time") {
  CHECK(run_case("[.compiles]", {{"KILN_CACHE_DIR", "/proc/kiln_cannot_be_here"}}) == 0);
}

TEST_CASE("compile: a missing compiler library is a clear error") {
  Folder cache;
  CHECK(run_case("[.no_compiler]",
                 {{"KILN_CACHE_DIR", cache.path}, {"KILN_COMPILER", "/nonexistent/libkiln_compiler.so"}}) == 0);
}

TEST_CASE("compile: KILN_DUMP writes the stages asked for") {
  Folder cache, dump;
  CHECK(run_case("[.compiles]",
                 {{"KILN_CACHE_DIR", cache.path}, {"KILN_DUMP", dump.path}, {"KILN_DUMP_STAGES", "kiln,linalg"}}) == 0);
  CHECK(fs::exists(dump.path + "/cached.0.kiln.mlir"));
  CHECK(fs::exists(dump.path + "/cached.0.linalg.mlir"));
  CHECK_FALSE(fs::exists(dump.path + "/cached.0.fused.mlir"));
}
