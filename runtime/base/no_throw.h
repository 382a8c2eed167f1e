// The runtime never throws. Its entry points run what allocates through no_throw, which turns the library's exceptions
// into a Status.
#pragma once
#include <exception>
#include <new>
#include <stdexcept>

#include "runtime/base/status.h"

namespace kiln {

// Calls f() and gives its Status or Result.
template <class F>
auto no_throw(F&& f) noexcept -> decltype(f()) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return Status(Code::resource_exhausted, "no memory");
  } catch (const std::length_error&) {
    return Status(Code::resource_exhausted, "no memory");
  } catch (const std::exception& e) {
    return Status(Code::internal, e.what());
  }
}

}  // namespace kiln
