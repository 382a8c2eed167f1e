// A job is published as a ticket, epoch << 32 | chunks not yet claimed. A thread claims a chunk by a CAS that takes one
// off; the job's fields are rewritten only after all chunks of the epoch are finished, so a successful CAS proves that
// the fields read before it belong to the claimed chunk.
#include "runtime/base/thread_pool.h"

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "runtime/base/fp_environment.h"

namespace kiln {
namespace {

constexpr int spin_pauses = 2000;
constexpr int max_threads = 1024;

thread_local constinit bool in_parallel = false;

int default_thread_count() {
  if (const char* text = std::getenv("KILN_THREADS")) {
    const long n = std::strtol(text, nullptr, 10);
    if (n >= 1) return static_cast<int>(std::min<long>(n, max_threads));
  }
  cpu_set_t cpus;  // what this process may use, not what the machine has
  const int n = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  return std::clamp(n, 1, max_threads);
}

// Never destroyed: workers may outlive main. After a fork the child gets a fresh one, as it has no workers.
class Pool {
 public:
  int threads() const { return threads_.load(std::memory_order_relaxed); }

  void set_threads(int count) {
    while (busy_.exchange(true, std::memory_order_acquire)) sched_yield();
    stop_workers();
    threads_.store(count, std::memory_order_relaxed);
    busy_.store(false, std::memory_order_release);
  }

  void run(int64_t chunks, detail::ChunkFunction call, void* context) {
    if (in_parallel || chunks > UINT32_MAX || busy_.load(std::memory_order_relaxed) ||
        busy_.exchange(true, std::memory_order_acquire)) {
      for (int64_t c = 0; c < chunks; ++c) call(context, c);
      return;
    }
    if (started_ + 1 < threads()) start_workers();
    in_parallel = true;
    call_.store(call, std::memory_order_relaxed);
    context_.store(context, std::memory_order_relaxed);
    count_.store(static_cast<uint32_t>(chunks), std::memory_order_relaxed);
    const uint64_t ticket = (++epoch_ << 32) | static_cast<uint64_t>(chunks);
    ticket_.store(ticket, std::memory_order_seq_cst);
    wake(static_cast<uint32_t>(chunks - 1));
    while (claim()) {
    }
    join(static_cast<uint32_t>(chunks));
    in_parallel = false;
    busy_.store(false, std::memory_order_release);
  }

 private:
  // Claims and runs one chunk; false when there is none left.
  bool claim() {
    uint64_t ticket = ticket_.load(std::memory_order_acquire);
    while (static_cast<uint32_t>(ticket) != 0) {
      const detail::ChunkFunction call = call_.load(std::memory_order_relaxed);
      void* context = context_.load(std::memory_order_relaxed);
      const uint32_t count = count_.load(std::memory_order_relaxed);
      if (ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
        call(context, count - static_cast<uint32_t>(ticket));
        if (done_.fetch_add(1, std::memory_order_seq_cst) + 1 == count &&
            joiner_sleeps_.load(std::memory_order_seq_cst))
          done_.notify_one();
        return true;
      }
    }
    return false;
  }

  // Waits until all chunks are finished, and makes the counter ready for the next job.
  void join(uint32_t chunks) {
    for (int spin = 0; done_.load(std::memory_order_acquire) != chunks; ++spin) {
      if (spin < spin_pauses) {
        _mm_pause();
        continue;
      }
      // A worker was descheduled with a chunk in hand: leave it the core.
      joiner_sleeps_.store(true, std::memory_order_seq_cst);
      for (uint32_t d = done_.load(std::memory_order_seq_cst); d != chunks; d = done_.load(std::memory_order_seq_cst))
        done_.wait(d, std::memory_order_seq_cst);
      joiner_sleeps_.store(false, std::memory_order_relaxed);
    }
    done_.store(0, std::memory_order_relaxed);
  }

  void wake(uint32_t wanted) {
    const uint32_t sleeping = sleepers_.load(std::memory_order_seq_cst);
    if (sleeping == 0) return;
    bell_.fetch_add(1, std::memory_order_seq_cst);
    if (wanted >= sleeping) return bell_.notify_all();
    for (uint32_t i = 0; i < wanted; ++i) bell_.notify_one();
  }

  void start_workers() {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    while (started_ + 1 < threads()) {
      pthread_t thread;
      live_.fetch_add(1, std::memory_order_relaxed);
      if (pthread_create(&thread, &attributes, &Pool::worker, this) != 0) {
        live_.fetch_sub(1, std::memory_order_relaxed);
        threads_.store(started_ + 1, std::memory_order_relaxed);  // the system gives no more: work with these
        break;
      }
      ++started_;
    }
    pthread_attr_destroy(&attributes);
  }

  void stop_workers() {
    stop_.store(true, std::memory_order_seq_cst);
    while (live_.load(std::memory_order_acquire) != 0) {
      bell_.fetch_add(1, std::memory_order_seq_cst);
      bell_.notify_all();
      sched_yield();
    }
    started_ = 0;
    stop_.store(false, std::memory_order_relaxed);
  }

  static void* worker(void* self) {
    FpEnvironment environment;  // threads inherit the mode of their creator
    in_parallel = true;
    static_cast<Pool*>(self)->work();
    return nullptr;
  }

  void work() {
    for (int idle = 0; !stop_.load(std::memory_order_relaxed); ++idle) {
      if (claim()) {
        idle = 0;
        continue;
      }
      if (idle < spin_pauses) {
        _mm_pause();
        continue;
      }
      idle = 0;
      const uint32_t bell = bell_.load(std::memory_order_seq_cst);
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      // The publisher stores the ticket, then reads sleepers_; here it is the other way round: one of the two sees.
      if (static_cast<uint32_t>(ticket_.load(std::memory_order_seq_cst)) == 0 && !stop_.load(std::memory_order_seq_cst))
        bell_.wait(bell, std::memory_order_seq_cst);
      sleepers_.fetch_sub(1, std::memory_order_seq_cst);
    }
    live_.fetch_sub(1, std::memory_order_release);
  }

  alignas(64) std::atomic<uint64_t> ticket_{0};
  std::atomic<detail::ChunkFunction> call_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<uint32_t> count_{0};
  alignas(64) std::atomic<uint32_t> done_{0};
  std::atomic<bool> joiner_sleeps_{false};
  alignas(64) std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> bell_{0};
  std::atomic<bool> stop_{false};
  std::atomic<int> live_{0};
  alignas(64) std::atomic<bool> busy_{false};
  std::atomic<int> threads_{default_thread_count()};
  // Used by the owner of busy_ only.
  uint64_t epoch_ = 0;
  int started_ = 0;
};

std::atomic<Pool*> current_pool{nullptr};

Pool* make_pool() {
  static Pool* first = [] {
    pthread_atfork(nullptr, nullptr, [] {
      Pool* old = current_pool.load(std::memory_order_relaxed);
      if (!old) return;
      Pool* fresh = new Pool;
      fresh->set_threads(old->threads());
      in_parallel = false;
      current_pool.store(fresh, std::memory_order_release);
    });
    return new Pool;
  }();
  Pool* expected = nullptr;
  current_pool.compare_exchange_strong(expected, first, std::memory_order_acq_rel);
  return current_pool.load(std::memory_order_acquire);
}

Pool& pool() {
  Pool* p = current_pool.load(std::memory_order_acquire);
  return p ? *p : *make_pool();
}

}  // namespace

int thread_count() { return pool().threads(); }

void set_thread_count(int count) {
  if (in_parallel) return;
  pool().set_threads(count < 1 ? default_thread_count() : std::min(count, max_threads));
}

Chunking choose_chunks(int64_t extent, double item_cost_ns, int threads) {
  constexpr int64_t fork_ns = 4000, least_ns = 2000, most_ns = 25000;
  const Chunking serial{1, extent};
  if (threads <= 1 || extent <= 1) return serial;
  const double total = static_cast<double>(extent) * std::max(item_cost_ns, 0.0);
  if (total < fork_ns) return serial;
  const double chunk_ns = std::clamp(total / (4.0 * threads), double{least_ns}, double{most_ns});
  const double wanted = std::min(total / chunk_ns, 1e9);
  int64_t size = static_cast<int64_t>(static_cast<double>(extent) / wanted);
  // Whole cache lines and vectors where items are small; never less than one item.
  size = size >= 256 ? (size + 63) / 64 * 64 : std::max<int64_t>(size, 1);
  size = std::max(size, extent / 1000000000);
  return {extent / size + (extent % size != 0), size};
}

namespace detail {
void run_chunks(int64_t chunks, ChunkFunction call, void* context) { pool().run(chunks, call, context); }
}  // namespace detail

}  // namespace kiln
