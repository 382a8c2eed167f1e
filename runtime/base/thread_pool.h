// The one pool of worker threads of the process. parallel_for cuts a range into chunks that the caller and the workers
// claim; the call returns when all chunks are finished, so a worker that sleeps or comes late costs nothing.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kiln {

// Threads that take part in parallel_for, the caller included. Default: KILN_THREADS, else what the machine has.
int thread_count();

// Changes it; `count` below 1 means the default. Waits for a running parallel_for. Not from inside of one (ignored).
void set_thread_count(int count);

// How a range is cut: `chunks` pieces of `size` items, the last one may be shorter.
struct Chunking {
  int64_t chunks;
  int64_t size;
};
// From the rough cost of an item: one chunk below ~4 us of work, else chunks of 2 to 25 us.
Chunking choose_chunks(int64_t extent, double item_cost_ns, int threads);

namespace detail {
using ChunkFunction = void (*)(void* context, int64_t chunk);
// Calls call(context, c) once for each c in [0, chunks), spread over the pool; inline when the pool is busy or the
// caller is inside a parallel_for.
void run_chunks(int64_t chunks, ChunkFunction call, void* context);
}  // namespace detail

// Calls fn(begin, end) for pieces that together are [0, extent), on several threads if the work is worth it. fn must
// not throw. Safe from any thread; a nested call, or one while another thread uses the pool, runs inline.
//   parallel_for(n, 1, [&](int64_t begin, int64_t end) { for (int64_t i = begin; i < end; ++i) y[i] = x[i] + 1; });
template <class F>
void parallel_for(int64_t extent, double item_cost_ns, F&& fn) {
  if (extent <= 0) return;
  const Chunking cut = choose_chunks(extent, item_cost_ns, thread_count());
  if (cut.chunks <= 1) return fn(int64_t{0}, extent);
  struct Context {
    std::remove_reference_t<F>* fn;
    int64_t extent, size;
  } context{&fn, extent, cut.size};
  detail::run_chunks(
      cut.chunks,
      [](void* p, int64_t chunk) {
        const Context& c = *static_cast<Context*>(p);
        const int64_t begin = chunk * c.size;
        (*c.fn)(begin, std::min(begin + c.size, c.extent));
      },
      &context);
}

}  // namespace kiln
