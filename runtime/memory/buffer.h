// Buffer: reference-counted memory, 64-byte aligned, never moved. Small sizes come from a per-thread pool.
#pragma once
#include <cstddef>
#include <memory>

#include "runtime/base/status.h"

namespace kiln {

class Buffer {
 public:
  // Uninitialised memory; resource_exhausted when there is none. bytes may be 0 (data() is then a valid, unusable
  // address).
  static Result<std::shared_ptr<Buffer>> allocate(size_t bytes);
  // Wraps memory that `owner` keeps alive.
  static std::shared_ptr<Buffer> wrap(void* data, size_t bytes, std::shared_ptr<void> owner);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  Buffer() = default;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  std::shared_ptr<void> owner_;
  friend struct BufferAccess;
};

}  // namespace kiln
