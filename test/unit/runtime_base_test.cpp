#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "runtime/base/shape.h"
#include "runtime/base/thread_pool.h"
#include "runtime/memory/buffer.h"
#include "runtime/memory/planner.h"
#include "test/unit/runtime_testing.h"

namespace kiln {
namespace {

struct PoolThreads {
  explicit PoolThreads(int n) { set_thread_count(n); }
  ~PoolThreads() { set_thread_count(0); }
};

}  // namespace

TEST_CASE("dim: known dims fold") {
  CHECK(Dim(3) + Dim(4) == Dim(7));
  CHECK(Dim(3) - Dim(4) == Dim(0));
  CHECK(Dim(3) * Dim(4) == Dim(12));
  CHECK(floor_div(Dim(7), Dim(2)) == Dim(3));
  CHECK(floor_div(Dim(7), Dim(0)) == Dim(0));
  CHECK(maximum(Dim(3), Dim(4)) == Dim(4));
  const Dim large(int64_t{1} << 40);
  CHECK((large * large).size() == std::numeric_limits<int64_t>::max());
}

TEST_CASE("dim: equal expressions of unknown dims are one dim, however they are written") {
  DimTable table;
  const DimTable::Scope scope(&table);
  const Dim n = table.symbol("n", 0, 0), m = table.symbol("m", 1, 0);
  CHECK(table.symbol("n", 1, 1) == n);
  CHECK(!(table.symbol("", 0, 1) == table.symbol("", 0, 2)));
  CHECK(table.symbol("", 0, 1) == table.symbol("", 0, 1));
  CHECK(n * m == m * n);
  CHECK(n + 0 == n);
  CHECK(n * 1 == n);
  CHECK(n * 0 == Dim(0));
  CHECK(n - n == Dim(0));
  CHECK((n + 2) + 3 == n + 5);
  CHECK((n + 5) - 2 == n + 3);
  CHECK((n + 2) - 5 == n - 3);
  CHECK((n - 2) - 3 == n - 5);
  CHECK((n - 3) + 5 == n + 2);
  CHECK((n + m) - m == n);
  CHECK((n - m) + m == n);
  CHECK(Dim(2) * n * 3 == n * 6);
  CHECK(floor_div(n * 6, 3) == n * 2);
  CHECK(floor_div(floor_div(n, 2), 3) == floor_div(n, 6));
  CHECK(maximum(n, n) == n);
  CHECK(maximum(n, 0) == n);
  CHECK(table.intern(DimOp::broadcast, n, 1) == n);
  CHECK(table.intern(DimOp::broadcast, n, m) == table.intern(DimOp::broadcast, m, n));
  CHECK((n + Dim(-1)).inferred());
}

TEST_CASE("dim: printed as the user would write it") {
  DimTable table;
  const DimTable::Scope scope(&table);
  const Dim n = table.symbol("batch", 0, 0), m = table.symbol("m", 0, 1);
  CHECK(to_string(Shape{}) == "[]");
  CHECK(to_string(Shape{2, 3}) == "[2,3]");
  CHECK(to_string(Shape{n, 784}) == "[batch,784]");
  CHECK(to_string(Shape{n, 784}, nullptr) == "[?,784]");
  CHECK(to_string(Shape{Dim(-1), 784}) == "[-1,784]");
  CHECK(table.to_string(n * 784) == "batch*784");
  CHECK(table.to_string((n + 1) * m) == "m*(batch+1)");
  CHECK(table.to_string(floor_div(n - 1, m * 2)) == "(batch-1)/(m*2)");
  CHECK(table.to_string(n - (m - 1)) == "batch-(m-1)");
  CHECK(table.to_string(maximum(n, m)) == "max(batch,m)");
  CHECK(table.to_string(Dim::symbol(99)) == "?");
}

TEST_CASE("dim: values from the inputs' shapes") {
  DimTable table;
  const DimTable::Scope scope(&table);
  const Dim n = table.symbol("n", 0, 1), m = table.symbol("m", 1, 0);
  const Dim dims[] = {n + m, n - m, n * m, floor_div(n - m, 4), maximum(n, m), table.intern(DimOp::broadcast, n, m)};
  const auto values = [&](int64_t a, int64_t b) {
    const int64_t x[] = {9, a}, y[] = {b};
    const std::span<const int64_t> inputs[] = {x, y};
    return table.evaluate(inputs);
  };
  const auto v = values(7, 1);
  REQUIRE(v.ok());
  const int64_t expected[] = {8, 6, 7, 1, 7, 7};
  for (int i = 0; i < 6; ++i) CHECK((*v)[dims[i].id()] == expected[i]);
  const auto w = values(1, 7);
  REQUIRE(w.ok());
  CHECK((*w)[dims[1].id()] == -6);
  CHECK((*w)[dims[3].id()] == -2);  // rounded down
  CHECK((*w)[dims[5].id()] == 7);
  const Status wrong = values(2, 3).status();
  CHECK(wrong.code() == Code::invalid_argument);
  CHECK(wrong.message() == "dims n and m are 2 and 3: they must be equal, or one of them 1");
  CHECK(values(int64_t{1} << 40, int64_t{1} << 40).status().code() == Code::invalid_argument);
  const int64_t x[] = {9};
  const std::span<const int64_t> short_inputs[] = {x, x};
  CHECK(table.evaluate(short_inputs).status().code() == Code::invalid_argument);
}

TEST_CASE("buffer: aligned, distinct, of the size asked for") {
  std::vector<std::shared_ptr<Buffer>> held;
  for (int round = 0; round < 3; ++round) {
    for (size_t bytes : {0, 1, 63, 64, 65, 1000, 5000, 70000, 1 << 20}) {
      auto b = Buffer::allocate(bytes);
      REQUIRE(b.ok());
      CHECK(reinterpret_cast<uintptr_t>((*b)->data()) % 64 == 0);
      CHECK((*b)->bytes() == bytes);
      std::memset((*b)->data(), static_cast<int>(held.size()), bytes);
      held.push_back(*b);
    }
  }
  for (size_t i = 0; i < held.size(); ++i)
    for (size_t k = 0; k < held[i]->bytes(); k += 61) REQUIRE(held[i]->data()[k] == std::byte(i));
  CHECK(Buffer::allocate(SIZE_MAX).status().code() == Code::resource_exhausted);
  CHECK(Buffer::allocate(size_t{1} << 45).status().message() == "no memory for a buffer of 35184372088832 bytes");
}

TEST_CASE("buffer: freed on other threads, and after their end") {
  std::vector<std::shared_ptr<Buffer>> held;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3000; ++i) {
        auto b = Buffer::allocate(static_cast<size_t>((i * 37 + t) % 3000)).value();
        if (b->bytes()) b->data()[0] = std::byte(t);
        std::lock_guard lock(mutex);
        held.push_back(std::move(b));
        if (held.size() > 100) {
          held[static_cast<size_t>(i) % held.size()] = held.back();
          held.pop_back();
        }
      }
    });
  for (auto& t : threads) t.join();
  CHECK(!held.empty());
  held.clear();
  // A thread-local owner may free its buffer after the thread's free lists are gone.
  std::thread([] {
    struct Owner {
      std::shared_ptr<Buffer> buffer;
      ~Owner() { buffer.reset(); }
    };
    thread_local Owner owner;
    owner.buffer = Buffer::allocate(100).value();
    Buffer::allocate(100).value().reset();
  }).join();
}

TEST_CASE("buffer: wrapped memory keeps its owner") {
  auto owner = std::make_shared<std::vector<int>>(10, 7);
  std::weak_ptr<std::vector<int>> alive = owner;
  auto buffer = Buffer::wrap(owner->data(), 40, owner);
  owner.reset();
  CHECK(reinterpret_cast<int*>(buffer->data())[9] == 7);
  CHECK(!alive.expired());
  buffer.reset();
  CHECK(alive.expired());
}

TEST_CASE("planner: values alive together never overlap, and memory is used again") {
  uint64_t seed = 1;
  const auto random = [&](uint64_t n) {
    return static_cast<int64_t>((seed = seed * 6364136223846793005 + 1442695) >> 33) % static_cast<int64_t>(n);
  };
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> values;
    for (int i = 0; i < 60; ++i) {
      const auto first = static_cast<int32_t>(random(100));
      values.push_back({static_cast<size_t>(random(5000)), first, static_cast<int32_t>(first + random(12))});
    }
    const auto plan = plan_arena(values);
    REQUIRE(plan.ok());
    size_t sum = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      sum += (values[i].bytes + 63) / 64 * 64;
      REQUIRE(plan->offsets[i] % 64 == 0);
      REQUIRE(plan->offsets[i] + values[i].bytes <= plan->bytes);
      for (size_t k = 0; k < i; ++k) {
        if (values[i].last < values[k].first || values[k].last < values[i].first) continue;
        if (!values[i].bytes || !values[k].bytes) continue;
        const bool apart = plan->offsets[i] + values[i].bytes <= plan->offsets[k] ||
                           plan->offsets[k] + values[k].bytes <= plan->offsets[i];
        REQUIRE(apart);
      }
    }
    CHECK(plan->bytes < sum / 2);
  }
  const Lifetime chain[] = {{1000, 0, 1}, {1000, 1, 2}, {1000, 2, 3}, {1000, 3, 4}, {0, 0, 9}, {64, 5, 4}};
  CHECK(plan_arena(chain)->bytes == 2048);
  const Lifetime huge[] = {{SIZE_MAX, 0, 1}};
  CHECK(plan_arena(huge).status().code() == Code::resource_exhausted);
}

TEST_CASE("pool: chunks cover the range once") {
  for (int threads : {1, 2, 3, 8}) {
    const PoolThreads pool(threads);
    CHECK(thread_count() == threads);
    for (int64_t extent : {0, 1, 2, 63, 64, 1000, 12345, 100000})
      for (int64_t cost : {0, 1, 50, 3000, 100000}) {
        std::vector<std::atomic<uint8_t>> hits(static_cast<size_t>(extent));
        parallel_for(extent, cost, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) hits[i].fetch_add(1, std::memory_order_relaxed);
        });
        int64_t wrong = 0;
        for (auto& h : hits) wrong += h != 1;
        REQUIRE(wrong == 0);
      }
  }
}

TEST_CASE("pool: how work is cut") {
  CHECK(choose_chunks(1000, 1, 8).chunks == 1);  // 1 us
  CHECK(choose_chunks(3999, 1, 8).chunks == 1);
  CHECK(choose_chunks(1 << 30, 1, 1).chunks == 1);
  CHECK(choose_chunks(1, 1 << 30, 8).chunks == 1);
  for (int threads : {2, 4, 16})
    for (int64_t extent : {3, 100, 10000, 1000000, 100000000})
      for (int64_t cost : {1, 10, 1000, 1000000}) {
        const Chunking c = choose_chunks(extent, cost, threads);
        if (c.chunks == 1) continue;
        REQUIRE(c.size >= 1);
        REQUIRE((c.chunks - 1) * c.size < extent);
        REQUIRE(c.chunks * c.size >= extent);
        REQUIRE(c.size * cost >= std::min<int64_t>(2000, cost));  // not below the grain
        REQUIRE((c.size == 1 || c.size * cost <= 2 * 25000));     // nor far above the bound
      }
  // The largest numbers do not overflow.
  const int64_t most = std::numeric_limits<int64_t>::max();
  const Chunking c = choose_chunks(most, most, 16);
  CHECK(c.chunks >= 1);
  CHECK(c.chunks <= 2000000000);
}

TEST_CASE("pool: several threads may work through it") {
  const PoolThreads pool(2);
  std::atomic<int> outer{0};
  parallel_for(64, 10000, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::atomic<int64_t> sum{0};
      parallel_for(1000, 100, [&](int64_t b, int64_t e) { sum += e - b; });  // inline
      outer += sum == 1000;
    }
  });
  CHECK(outer == 64);
  // A worker takes part in the end: chunks wait for each other, which one thread alone could never finish.
  std::atomic<int> inside{0};
  detail::run_chunks(
      2,
      [](void* p, int64_t) {
        auto& n = *static_cast<std::atomic<int>*>(p);
        ++n;
        while (n < 2) std::this_thread::yield();
      },
      &inside);
  CHECK(inside == 2);
}

TEST_CASE("pool: callers on many threads at once, while the count changes") {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        std::atomic<int64_t> sum{0};
        parallel_for(5000 + t, 20, [&](int64_t b, int64_t e) {
          sum.fetch_add((e * (e - 1) - b * (b - 1)) / 2, std::memory_order_relaxed);
        });
        wrong += sum != int64_t{5000 + t} * (4999 + t) / 2;
        if (t == 0 && i % 30 == 0) set_thread_count(1 + i / 30 % 4);
      }
    });
  for (auto& t : threads) t.join();
  set_thread_count(0);
  CHECK(wrong == 0);
}

#if !__has_feature(thread_sanitizer)  // which does not support threads in such a child
TEST_CASE("pool: works in the child of a fork") {
  const PoolThreads pool(3);
  parallel_for(100000, 10, [](int64_t, int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int64_t> sum{0};
    parallel_for(100000, 10, [&](int64_t b, int64_t e) { sum += e - b; });
    _exit(sum == 100000 && thread_count() == 3 ? 0 : 1);
  }
  int result = -1;
  REQUIRE(waitpid(child, &result, 0) == child);
  CHECK(result == 0);
}
#endif

}  // namespace kiln
