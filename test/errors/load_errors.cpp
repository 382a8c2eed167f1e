// Many threads, many functions, many signatures: exact results, one trace each, bounded memory.
#include <sys/wait.h>
#include <unistd.h>
#include <barrier>
#include <fstream>
#include <set>
#include <thread>

#include "test/errors/errors_testing.h"

using namespace kiln;
using testing::refused;

namespace {

// Resident memory in KiB.
long resident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::strtol(line.c_str() + 6, nullptr, 10);
  FAIL("no VmRSS");
  return 0;
}

// body(i) on n threads that start together.
template <class F>
void together(int n, F body) {
  std::barrier start(n);
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace

TEST_CASE("16 threads race for the first call under 8 signatures: one trace each, exact results") {
  std::atomic<int> runs{0}, right{0};
  auto f = function([&](Tensor x) {
    ++runs;
    return sum(x * 3.f);
  });
  together(16, [&](int i) {
    for (int k = 0; k < 200; ++k) {
      const int n = 1 + (i + k) % 8;
      right += f(ones({n})).item<float>() == 3.f * static_cast<float>(n);
    }
  });
  CHECK(runs == 8);
  CHECK(f.trace_count() == 8);
  CHECK(right == 16 * 200);
}
TEST_CASE("16 threads race for a first call that throws: all see the error, the next call works") {
  std::atomic<bool> bad{true};
  std::atomic<int> thrown{0};
  auto f = function([&](Tensor x) {
    if (bad) throw std::runtime_error("not yet");
    return x * 2;
  });
  together(16, [&](int) {
    try {
      f(1);
    } catch (const std::runtime_error& e) {
      thrown += std::string(e.what()) == "not yet";
    }
  });
  CHECK(thrown == 16);
  CHECK(f.trace_count() == 0);
  bad = false;
  CHECK(f(1).item<int>() == 2);
}
TEST_CASE("two functions of one name in two threads; one dropped while another thread runs it") {
  std::atomic<int> right{0};
  together(2, [&](int i) {
    for (int k = 0; k < 20; ++k) {
      auto f = function([=](Tensor x) { return x * (i + 2) + k % 4; }, {.name = "same"});
      right += f(5).item<int>() == 5 * (i + 2) + k % 4;
    }
  });
  CHECK(right == 40);
  std::optional<Function<Tensor(Tensor)>> shared = function([](Tensor x) { return x + 1; });
  right = 0;
  std::thread runner([&, mine = *shared] {
    for (int k = 0; k < 2000; ++k) right += mine(k).item<int>() == k + 1;
  });
  shared.reset();
  runner.join();
  CHECK(right == 2000);
}
TEST_CASE("closures made on one thread and dropped on another keep their own values (D18)") {
  int right = 0;
  for (int i = 1; i <= 50; ++i) {
    std::optional<Function<Tensor(Tensor)>> f;
    std::thread([&] {
      f = function([i](Tensor a) { return a + static_cast<float>(i); });
      right += (*f)(zeros({1, 8})).to_vector<float>() == std::vector<float>(8, static_cast<float>(i));
    }).join();
    f.reset();
  }
  CHECK(right == 50);
}
TEST_CASE("errors on some threads do not touch the results of others") {
  auto f = function([](Tensor x, Tensor i) { return gather(x, i); });
  f(ones({4}), 0);
  std::atomic<int> right{0}, refusals{0};
  together(8, [&](int i) {
    for (int k = 0; k < 100; ++k) try {
        right += f(ones({4}), i % 2 ? 7 : 3).item<float>() == 1;
      } catch (const Error& e) {
        refusals += e.code() == Code::out_of_range;
      }
  });
  CHECK(right == 400);
  CHECK(refusals == 400);
}
TEST_CASE("10,000 functions made and dropped: each its own value, memory stays flat") {
  long before = 0;
  int right = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (i == 2'000) before = resident();
    auto f = function([i](Tensor x) { return x + i % 7; });
    right += f(i).item<int>() == i + i % 7;
  }
  CHECK(right == 10'000);
  CHECK(resident() - before < 8 * 1024);
}
TEST_CASE("2,000 shapes and 2,000 numbers through bounded caches: memory stays flat") {
  // In a process of its own, which writes no code to the disk.
  const pid_t child = fork();
  if (child == 0) {
    setenv("KILN_CACHE_DIR", "/proc/kiln_cannot_be_here", 1);
    execl("/proc/self/exe", "kiln_error_tests", "[.shapes]", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
TEST_CASE("hidden: many shapes", "[.shapes]") {
  auto f = function([](Tensor x) { return x + 1.f; }, {.max_signatures = 16});
  auto g = function([](Tensor x, int k) { return k < 0 ? x : x * 2; }, {.max_signatures = 16});
  long before = 0;
  int right = 0;
  const Tensor all_ones = ones({2'000});
  for (int i = 0; i < 2'000; ++i) {
    if (i == 500) before = resident();
    right += f(all_ones[slice(0, i)]).to_vector<float>() == std::vector<float>(static_cast<size_t>(i), 2.f);
    right += g(1, i).item<int>() == 2;
  }
  CHECK(right == 4'000);
  CHECK(f.concretes().size() == 16);
  CHECK(resident() - before < 8 * 1024);
}
TEST_CASE("10,000 failed traces: memory stays flat") {
  auto f = function([](Tensor x) { return matmul(x, x); });
  long before = 0;
  int refusals = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (i == 1'000) before = resident();
    try {
      f(1.f);
    } catch (const Error& e) {
      refusals += e.code() == Code::invalid_argument;
    }
  }
  CHECK(refusals == 10'000);
  CHECK(resident() - before < 8 * 1024);
}
