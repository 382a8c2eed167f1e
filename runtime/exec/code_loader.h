// Loads relocatable x86-64 ELF objects, as the compiler emits them, into executable memory. Such code may call memcpy,
// memmove, memset, fmod and fmodf and nothing else.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/base/status.h"

namespace kiln {

// One loaded object; its memory is freed with it. Immutable, so it can be shared between threads.
class CodeObject {
 public:
  // data_loss where the object is damaged, unimplemented where it needs what this loader does not have.
  //   auto object = CodeObject::load(bytes); void* f = object.value()->find("kernel_0");
  static Result<std::shared_ptr<const CodeObject>> load(std::string_view elf);
  ~CodeObject();
  CodeObject(const CodeObject&) = delete;
  CodeObject& operator=(const CodeObject&) = delete;

  // Address of a global function, null if there is none of this name.
  void* find(std::string_view symbol) const;
  size_t mapped_bytes() const { return bytes_; }

 private:
  CodeObject() = default;
  std::byte* memory_ = nullptr;
  size_t bytes_ = 0;
  std::unordered_map<std::string, void*> functions_;
  friend class ObjectLoader;
};

}  // namespace kiln
