// Element types. One table says all there is to know of each; code asks the table and never lists types again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kiln {

// Name, C++ storage type (void where C++ has none), size in bytes, kind.
#define KILN_FOR_EACH_DTYPE(X)      \
  X(bool_, bool, 1, boolean)        \
  X(i8, int8_t, 1, signed_int)      \
  X(i16, int16_t, 2, signed_int)    \
  X(i32, int32_t, 4, signed_int)    \
  X(i64, int64_t, 8, signed_int)    \
  X(u8, uint8_t, 1, unsigned_int)   \
  X(u16, uint16_t, 2, unsigned_int) \
  X(u32, uint32_t, 4, unsigned_int) \
  X(u64, uint64_t, 8, unsigned_int) \
  X(f16, void, 2, floating)         \
  X(bf16, void, 2, floating)        \
  X(f32, float, 4, floating)        \
  X(f64, double, 8, floating)       \
  X(c64, void, 8, complex)          \
  X(c128, void, 16, complex)

enum class DType : uint8_t {
#define KILN_ENUMERATOR(name, type, size, kind) name,
  KILN_FOR_EACH_DTYPE(KILN_ENUMERATOR)
#undef KILN_ENUMERATOR
};

enum class DTypeKind : uint8_t { boolean, signed_int, unsigned_int, floating, complex };

struct DTypeInfo {
  std::string_view name;  // as printed and as written in IR: "bool", "i32", "f32"
  size_t size;            // bytes of one element in memory
  DTypeKind kind;
};

inline constexpr DTypeInfo dtype_table[] = {
#define KILN_ROW(name, type, size, kind) {#name, size, DTypeKind::kind},
    KILN_FOR_EACH_DTYPE(KILN_ROW)
#undef KILN_ROW
};
inline constexpr int dtype_count = sizeof(dtype_table) / sizeof(dtype_table[0]);

constexpr const DTypeInfo& info(DType t) { return dtype_table[static_cast<int>(t)]; }
constexpr size_t size_of(DType t) { return info(t).size; }
constexpr std::string_view name_of(DType t) { return t == DType::bool_ ? std::string_view("bool") : info(t).name; }
constexpr bool is_floating(DType t) { return info(t).kind == DTypeKind::floating; }
constexpr bool is_integer(DType t) {
  return info(t).kind == DTypeKind::signed_int || info(t).kind == DTypeKind::unsigned_int;
}

// The DType of a C++ element type: dtype_of<float> is DType::f32.
template <class T>
struct DTypeOf;
#define KILN_DTYPE_OF(name, type)               \
  template <>                                   \
  struct DTypeOf<type> {                        \
    static constexpr DType value = DType::name; \
  };
KILN_DTYPE_OF(bool_, bool)
KILN_DTYPE_OF(i8, int8_t)
KILN_DTYPE_OF(i16, int16_t)
KILN_DTYPE_OF(i32, int32_t)
KILN_DTYPE_OF(i64, int64_t)
KILN_DTYPE_OF(u8, uint8_t)
KILN_DTYPE_OF(u16, uint16_t)
KILN_DTYPE_OF(u32, uint32_t)
KILN_DTYPE_OF(u64, uint64_t)
KILN_DTYPE_OF(f32, float)
KILN_DTYPE_OF(f64, double)
#undef KILN_DTYPE_OF
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

// Calls f(T{}) with the C++ type of `t`; returns false where C++ has no such type here (f16, bf16, complex).
template <class F>
bool visit_dtype(DType t, F&& f) {
  switch (t) {
    case DType::bool_:
      f(bool{});
      return true;
    case DType::i8:
      f(int8_t{});
      return true;
    case DType::i16:
      f(int16_t{});
      return true;
    case DType::i32:
      f(int32_t{});
      return true;
    case DType::i64:
      f(int64_t{});
      return true;
    case DType::u8:
      f(uint8_t{});
      return true;
    case DType::u16:
      f(uint16_t{});
      return true;
    case DType::u32:
      f(uint32_t{});
      return true;
    case DType::u64:
      f(uint64_t{});
      return true;
    case DType::f32:
      f(float{});
      return true;
    case DType::f64:
      f(double{});
      return true;
    default:
      return false;
  }
}

}  // namespace kiln
