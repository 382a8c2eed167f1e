// RefScalar: the scalar S of dialects/kiln/math/scalar.h on the host. Used by the reference interpreter, the constant
// folder and the tests. Compile with -ffp-contract=off. Nothing here traps: integer division by zero gives 0.
#pragma once
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "dialects/kiln/math/functions.h"
#include "runtime/base/dtype.h"

namespace kiln {

class RefScalar {
 public:
  RefScalar() = default;
  template <class T>
  static RefScalar of(T value) {
    RefScalar s;
    s.type_ = dtype_of<T>;
    std::memcpy(&s.bits_, &value, sizeof(T));
    return s;
  }
  static RefScalar from_bits(DType t, uint64_t bits) {
    RefScalar s;
    s.type_ = t;
    s.bits_ = size_of(t) == 8 ? bits : bits & ((uint64_t{1} << (8 * size_of(t))) - 1);
    return s;
  }
  static RefScalar load(DType t, const void* address) {
    RefScalar s;
    s.type_ = t;
    std::memcpy(&s.bits_, address, size_of(t));
    return s;
  }
  void store(void* address) const { std::memcpy(address, &bits_, size_of(type_)); }
  DType type() const { return type_; }
  uint64_t bits() const { return bits_; }  // the element's bytes; higher bits are zero
  template <class T>
  T value() const {  // T must be the type of type()
    assert(type_ == dtype_of<T>);
    T v;
    std::memcpy(&v, &bits_, sizeof(T));
    return v;
  }

 private:
  DType type_ = DType::f32;
  uint64_t bits_ = 0;
};

namespace reference {

// f(value) with the C++ type of x; the result is f's, as a RefScalar.
template <class F>
RefScalar apply(RefScalar x, F&& f) {
  RefScalar result;
  visit_dtype(x.type(), [&](auto tag) { result = RefScalar::of(f(x.value<decltype(tag)>())); });
  return result;
}
template <class F>
RefScalar apply(RefScalar x, RefScalar y, F&& f) {
  assert(x.type() == y.type());
  RefScalar result;
  visit_dtype(x.type(), [&](auto tag) {
    using T = decltype(tag);
    result = RefScalar::of(f(x.value<T>(), y.value<T>()));
  });
  return result;
}
// For functions of floats only; other types give x.
template <class F>
RefScalar apply_float(RefScalar x, F&& f) {
  assert(is_floating(x.type()));
  if (x.type() == DType::f32) return RefScalar::of(f(x.value<float>()));
  if (x.type() == DType::f64) return RefScalar::of(f(x.value<double>()));
  return x;
}

template <class T>
inline constexpr bool is_number = !std::is_same_v<T, bool>;

// Wrapping integer arithmetic: computed in u64, where it is defined, then cut to T.
template <class T>
constexpr uint64_t wide(T v) {
  return static_cast<uint64_t>(v);
}

template <class From, class To>
To convert_value(From v) {
  if constexpr (std::is_same_v<To, bool>) {
    return v != From{};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (v != v) return 0;
    // Both bounds are exact: -2^(n-1) or 0, and 2^n is one more than the largest value.
    constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
    constexpr From above = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
    if (v <= low) return std::numeric_limits<To>::min();
    if (v >= above) return std::numeric_limits<To>::max();
    return static_cast<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

}  // namespace reference

inline DType dtype(RefScalar x) { return x.type(); }

inline RefScalar convert(RefScalar x, DType t) {
  RefScalar result;
  visit_dtype(x.type(), [&](auto from) {
    visit_dtype(t, [&](auto to) {
      result = RefScalar::of(reference::convert_value<decltype(from), decltype(to)>(x.value<decltype(from)>()));
    });
  });
  return result;
}
inline RefScalar bitcast(RefScalar x, DType t) {
  assert(size_of(x.type()) == size_of(t));
  return RefScalar::from_bits(t, x.bits());
}
inline RefScalar constant_of(RefScalar, DType t, double v) { return convert(RefScalar::of(v), t); }
inline RefScalar constant_of(RefScalar, DType t, int64_t v) { return convert(RefScalar::of(v), t); }
inline RefScalar constant_of(RefScalar x, DType t, int v) { return constant_of(x, t, int64_t{v}); }
inline RefScalar constant(RefScalar x, double v) { return constant_of(x, x.type(), v); }
inline RefScalar constant(RefScalar x, int64_t v) { return constant_of(x, x.type(), v); }
inline RefScalar constant(RefScalar x, int v) { return constant_of(x, x.type(), int64_t{v}); }
inline RefScalar constant_bits(RefScalar, DType t, uint64_t bits) { return RefScalar::from_bits(t, bits); }

#define KILN_REF_ARITHMETIC(op)                                                    \
  inline RefScalar operator op(RefScalar x, RefScalar y) {                         \
    return reference::apply(x, y, [](auto a, auto b) -> decltype(a) {              \
      if constexpr (std::is_floating_point_v<decltype(a)>)                         \
        return a op b;                                                             \
      else                                                                         \
        return static_cast<decltype(a)>(reference::wide(a) op reference::wide(b)); \
    });                                                                            \
  }
KILN_REF_ARITHMETIC(+)
KILN_REF_ARITHMETIC(-)
KILN_REF_ARITHMETIC(*)
#undef KILN_REF_ARITHMETIC

inline RefScalar operator-(RefScalar x) {
  return reference::apply(x, [](auto a) -> decltype(a) {
    if constexpr (std::is_floating_point_v<decltype(a)>)
      return -a;
    else
      return static_cast<decltype(a)>(-reference::wide(a));
  });
}
inline RefScalar operator/(RefScalar x, RefScalar y) {
  return reference::apply(x, y, [](auto a, auto b) -> decltype(a) {
    using T = decltype(a);
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else {
      if (b == T{}) return T{};
      if constexpr (std::is_signed_v<T>)
        if (b == T(-1)) return static_cast<T>(-reference::wide(a));
      return static_cast<T>(a / b);
    }
  });
}
inline RefScalar remainder(RefScalar x, RefScalar y) {
  return reference::apply(x, y, [](auto a, auto b) -> decltype(a) {
    using T = decltype(a);
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(a, b);
    } else {
      if (b == T{}) return T{};
      if constexpr (std::is_signed_v<T>)
        if (b == T(-1)) return T{};
      return static_cast<T>(a % b);
    }
  });
}

#define KILN_REF_COMPARISON(op)                                                   \
  inline RefScalar operator op(RefScalar x, RefScalar y) {                        \
    return reference::apply(x, y, [](auto a, auto b) -> bool { return a op b; }); \
  }
KILN_REF_COMPARISON(<)
KILN_REF_COMPARISON(<=)
KILN_REF_COMPARISON(>)
KILN_REF_COMPARISON(>=)
KILN_REF_COMPARISON(==)
KILN_REF_COMPARISON(!=)
#undef KILN_REF_COMPARISON

// On the bits: right for bool and every integer.
inline RefScalar operator&(RefScalar x, RefScalar y) { return RefScalar::from_bits(x.type(), x.bits() & y.bits()); }
inline RefScalar operator|(RefScalar x, RefScalar y) { return RefScalar::from_bits(x.type(), x.bits() | y.bits()); }
inline RefScalar operator^(RefScalar x, RefScalar y) { return RefScalar::from_bits(x.type(), x.bits() ^ y.bits()); }
inline RefScalar operator~(RefScalar x) {
  return RefScalar::from_bits(x.type(), x.type() == DType::bool_ ? x.bits() ^ 1 : ~x.bits());
}

namespace reference {
// Counts outside [0, width) are cut to the width's bits here, so that lanes a body does not use cannot do harm.
inline int shift_count(RefScalar x, RefScalar y) { return static_cast<int>(y.bits() & (8 * size_of(x.type()) - 1)); }
}  // namespace reference
inline RefScalar shift_left(RefScalar x, RefScalar y) {
  return RefScalar::from_bits(x.type(), x.bits() << reference::shift_count(x, y));
}
inline RefScalar shift_right_logical(RefScalar x, RefScalar y) {
  return RefScalar::from_bits(x.type(), x.bits() >> reference::shift_count(x, y));
}
inline RefScalar shift_right_arithmetic(RefScalar x, RefScalar y) {
  int unused = 64 - 8 * static_cast<int>(size_of(x.type()));
  int64_t wide = static_cast<int64_t>(x.bits() << unused) >> unused;
  return RefScalar::from_bits(x.type(), static_cast<uint64_t>(wide >> reference::shift_count(x, y)));
}
inline RefScalar multiply_high(RefScalar x, RefScalar y) {
  assert(x.type() == DType::u32 || x.type() == DType::u64);
  if (x.type() == DType::u32) return RefScalar::from_bits(DType::u32, x.bits() * y.bits() >> 32);
  __extension__ using Wide = unsigned __int128;
  return RefScalar::of(static_cast<uint64_t>(Wide{x.bits()} * y.bits() >> 64));
}

inline RefScalar select(RefScalar condition, RefScalar x, RefScalar y) {
  assert(condition.type() == DType::bool_ && x.type() == y.type());
  return condition.bits() ? x : y;
}

inline RefScalar fma(RefScalar x, RefScalar y, RefScalar z) {
  assert(x.type() == y.type() && x.type() == z.type() && is_floating(x.type()));
  if (x.type() == DType::f32) return RefScalar::of(std::fma(x.value<float>(), y.value<float>(), z.value<float>()));
  return RefScalar::of(std::fma(x.value<double>(), y.value<double>(), z.value<double>()));
}
#define KILN_REF_FLOAT_UNARY(name, function)                                   \
  inline RefScalar name(RefScalar x) {                                         \
    return reference::apply_float(x, [](auto a) { return std::function(a); }); \
  }
KILN_REF_FLOAT_UNARY(sqrt, sqrt)
KILN_REF_FLOAT_UNARY(floor, floor)
KILN_REF_FLOAT_UNARY(ceil, ceil)
KILN_REF_FLOAT_UNARY(trunc, trunc)
#undef KILN_REF_FLOAT_UNARY
// Whatever the host's rounding mode; x - floor(x) is exact.
inline RefScalar round_even(RefScalar x) {
  return reference::apply_float(x, [](auto a) {
    using T = decltype(a);
    T low = std::floor(a);
    T part = a - low;
    bool up = part > T(0.5) || (part == T(0.5) && std::fmod(low, T(2)) != T(0));
    return std::isfinite(a) ? std::copysign(up ? low + T(1) : low, a) : a + a;
  });
}
inline RefScalar abs(RefScalar x) {
  return reference::apply(x, [](auto a) -> decltype(a) {
    using T = decltype(a);
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(a);
    else if constexpr (std::is_signed_v<T>)
      return a < 0 ? static_cast<T>(-reference::wide(a)) : a;
    else
      return a;
  });
}
inline RefScalar copysign(RefScalar x, RefScalar y) {
  uint64_t sign = uint64_t{1} << (8 * size_of(x.type()) - 1);
  return RefScalar::from_bits(x.type(), (x.bits() & ~sign) | (y.bits() & sign));
}

#define KILN_REF_UNARY_MATH(name, ulp32, ulp64) \
  inline RefScalar name(RefScalar x) { return strict::name<RefScalar>(x); }
KILN_FOR_EACH_UNARY_MATH(KILN_REF_UNARY_MATH)
#undef KILN_REF_UNARY_MATH
#define KILN_REF_BINARY_MATH(name, ulp32, ulp64) \
  inline RefScalar name(RefScalar x, RefScalar y) { return strict::name<RefScalar>(x, y); }
KILN_FOR_EACH_BINARY_MATH(KILN_REF_BINARY_MATH)
#undef KILN_REF_BINARY_MATH

}  // namespace kiln
