// One allocation per Buffer: a 64-byte head (shared_ptr counts and the Buffer itself), then the data. Blocks of small
// classes go to a free list of the thread that frees them; the lists are bounded and die with their thread. Larger ones
// go to one bounded list of the process: touching fresh pages costs more than most kernels do.
#include "runtime/memory/buffer.h"

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

namespace kiln {

struct BufferAccess : Buffer {
  BufferAccess(std::byte* data, size_t bytes, std::shared_ptr<void> owner = {}) {
    data_ = data;
    bytes_ = bytes;
    owner_ = std::move(owner);
  }
};

Buffer::~Buffer() = default;

namespace {

constexpr size_t alignment = 64;
constexpr size_t head_bytes = 64;
constexpr size_t most_bytes = size_t{1} << 39;  // of one buffer; what is larger is a mistake

// Block sizes of the free lists, head included.
constexpr uint32_t class_bytes[] = {128, 192, 256, 384, 576, 832, 1216, 1856, 2816, 4224, 8256, 16448, 32832, 65600};
constexpr int class_count = sizeof(class_bytes) / sizeof(class_bytes[0]);
constexpr uint32_t list_bytes = 256 * 1024;  // most memory that one list keeps

int class_of(size_t block) {
  for (int i = 0; i < class_count; ++i)
    if (block <= class_bytes[i]) return i;
  return -1;
}

struct FreeBlock {
  FreeBlock* next;
};

struct FreeList {
  FreeBlock* head;
  uint32_t count;
};

// Plain data, so that it can be used at any time of a thread's life; `closed` is set when the thread ends.
thread_local constinit FreeList lists[class_count] = {};
thread_local constinit bool closed = false;

struct ListCloser {
  ~ListCloser() {
    closed = true;
    for (FreeList& list : lists) {
      while (FreeBlock* block = list.head) {
        list.head = block->next;
        std::free(block);
      }
      list.count = 0;
    }
  }
};
thread_local ListCloser closer;

// Large blocks that were freed last, of sizes rounded up to an eighth of their power of two, so that equal requests meet.
class LargeBlocks {
 public:
  void* take(size_t block) {
    block = rounded(block);
    {
      std::lock_guard lock(mutex_);
      for (Entry& e : entries_)
        if (e.bytes == block) {
          held_ -= block;
          return std::exchange(e, Entry{}).block;
        }
    }
    if (void* p = std::aligned_alloc(alignment, block)) return p;
    clear();
    return std::aligned_alloc(alignment, block);
  }

  void give(void* p, size_t block) {
    block = rounded(block);
    if (block > most_held / 4) return std::free(p);
    std::lock_guard lock(mutex_);
    // In turn, so that what lies here longest goes first.
    do {
      next_ = (next_ + 1) % count;
      drop(entries_[next_]);
    } while (held_ + block > most_held);
    entries_[next_] = {p, block};
    held_ += block;
  }

 private:
  struct Entry {
    void* block = nullptr;
    size_t bytes = 0;
  };
  static constexpr size_t count = 32, most_held = size_t{256} << 20;

  static size_t rounded(size_t block) {
    const size_t step = std::bit_floor(block) / 8;
    return (block + step - 1) / step * step;
  }
  void drop(Entry& e) {
    std::free(e.block);
    held_ -= e.bytes;
    e = Entry{};
  }
  void clear() {
    std::lock_guard lock(mutex_);
    for (Entry& e : entries_) drop(e);
  }

  std::mutex mutex_;
  Entry entries_[count];
  size_t next_ = 0, held_ = 0;
};
constinit LargeBlocks large_blocks;

void* take_block(size_t block) {
  const int c = class_of(block);
  if (c < 0) return large_blocks.take(block);
  FreeList& list = lists[c];
  if (FreeBlock* found = list.head) {
    list.head = found->next;
    --list.count;
    return found;
  }
  return std::aligned_alloc(alignment, class_bytes[c]);
}

void give_block(void* p, size_t block) {
  const int c = class_of(block);
  if (c < 0) return large_blocks.give(p, block);
  if (closed || lists[c].count >= list_bytes / class_bytes[c]) return std::free(p);
  (void)&closer;  // makes the thread's closer exist
  FreeBlock* freed = ::new (p) FreeBlock{lists[c].head};
  lists[c].head = freed;
  ++lists[c].count;
}

// Gives allocate_shared a block taken before, so that nothing can throw, and puts it back at the end.
template <class T>
struct BlockAllocator {
  using value_type = T;
  void* block;
  size_t bytes;
  BlockAllocator(void* b, size_t n) : block(b), bytes(n) {}
  template <class U>
  BlockAllocator(const BlockAllocator<U>& o) : block(o.block), bytes(o.bytes) {}
  T* allocate(size_t) {
    static_assert(sizeof(T) <= head_bytes, "the counts and the Buffer must fit in the block's head");
    return static_cast<T*>(block);
  }
  void deallocate(T* p, size_t) { give_block(p, bytes); }
  friend bool operator==(const BlockAllocator&, const BlockAllocator&) { return true; }
};

}  // namespace

Result<std::shared_ptr<Buffer>> Buffer::allocate(size_t bytes) {
  auto failed = [&] {
    return Status(Code::resource_exhausted, "no memory for a buffer of " + std::to_string(bytes) + " bytes");
  };
  if (bytes > most_bytes) return failed();
  // At least one line of data, so that data() is a valid address of its own.
  const size_t block = head_bytes + (bytes + (bytes == 0) + alignment - 1) / alignment * alignment;
  void* p = take_block(block);
  if (!p) return failed();
  return std::shared_ptr<Buffer>(std::allocate_shared<BufferAccess>(BlockAllocator<BufferAccess>(p, block),
                                                                    static_cast<std::byte*>(p) + head_bytes, bytes));
}

std::shared_ptr<Buffer> Buffer::wrap(void* data, size_t bytes, std::shared_ptr<void> owner) {
  return std::make_shared<BufferAccess>(static_cast<std::byte*>(data), bytes, std::move(owner));
}

}  // namespace kiln
