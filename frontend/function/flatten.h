// How arguments and results are taken apart: into tensors, variables, and words (numbers, lengths, characters), and put
// together again. A struct takes part if it says KILN_FIELDS(a, b).
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "frontend/variable/variable.h"

// Names the fields of a struct, so that it can be an argument or a result of a function, or the state of a loop.
//   struct State { Tensor h, c; KILN_FIELDS(h, c) };
#define KILN_FIELDS(...)                          \
  template <class KilnVisitor>                    \
  void kiln_fields(KilnVisitor&& visitor) {       \
    visitor(__VA_ARGS__);                         \
  }                                               \
  template <class KilnVisitor>                    \
  void kiln_fields(KilnVisitor&& visitor) const { \
    visitor(__VA_ARGS__);                         \
  }

namespace kiln::detail {

// A vector whose first N elements need no heap.
template <class T, size_t N>
class InlineVector {
 public:
  InlineVector() = default;
  InlineVector(const InlineVector&) = delete;
  void push_back(T v) {
    if (size_ < N) {
      inline_[size_++] = std::move(v);
      return;
    }
    if (heap_.empty())
      for (size_t i = 0; i < N; ++i) heap_.push_back(std::move(inline_[i]));
    heap_.push_back(std::move(v)), ++size_;
  }
  size_t size() const { return size_; }
  T* data() { return size_ <= N ? inline_.data() : heap_.data(); }
  const T* data() const { return size_ <= N ? inline_.data() : heap_.data(); }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  std::span<const T> span() const { return {data(), size_}; }

 private:
  size_t size_ = 0;
  std::array<T, N> inline_;
  std::vector<T> heap_;
};

// The parts of arguments; tensors and variables stay where they are.
struct Leaves {
  InlineVector<const Tensor*, 16> tensors;
  InlineVector<const Variable*, 16> variables;
  InlineVector<uint64_t, 32> words;
};

// Gives the parts back in the order in which they were taken.
struct LeafReader {
  std::span<const Tensor> tensors;
  std::span<const Variable> variables;
  std::span<const uint64_t> words;
  const Tensor& tensor() { return take(tensors); }
  const Variable& variable() { return take(variables); }
  uint64_t word() { return take(words); }

 private:
  template <class T>
  static const T& take(std::span<const T>& s) {
    const T& v = s.front();
    s = s.subspan(1);
    return v;
  }
};

template <class T>
concept HasFields = requires(T& t) { t.kiln_fields([](auto&&...) {}); };
template <class T>
concept Static = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class T>
inline constexpr bool unsupported = false;

template <class T>
struct Flatten {
  static_assert(unsupported<T>,
                "kiln: a function's argument or result must be a Tensor, Variable, number, bool, enum, std::string, a "
                "std::vector, array, pair, tuple or optional of these, or a struct with KILN_FIELDS(...)");
  static void write(const T&, Leaves&) {}
  static T read(LeafReader&);
};

template <>
struct Flatten<Tensor> {
  static void write(const Tensor& x, Leaves& out) { out.tensors.push_back(&x); }
  static Tensor read(LeafReader& in) { return in.tensor(); }
};
template <>
struct Flatten<Variable> {
  static void write(const Variable& x, Leaves& out) { out.variables.push_back(&x); }
  static Variable read(LeafReader& in) { return in.variable(); }
};
// By its bits: NaN equals itself, -0.0 is not 0.0.
template <Static T>
struct Flatten<T> {
  static_assert(sizeof(T) <= 8, "kiln: long double cannot be an argument of a function; use double");
  static void write(const T& x, Leaves& out) {
    uint64_t word = 0;
    std::memcpy(&word, &x, sizeof(T));
    out.words.push_back(word);
  }
  static T read(LeafReader& in) {
    const uint64_t word = in.word();
    T x;
    std::memcpy(&x, &word, sizeof(T));
    return x;
  }
};
template <>
struct Flatten<std::string> {
  static void write(const std::string& x, Leaves& out) {
    out.words.push_back(x.size());
    for (size_t i = 0; i < x.size(); i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, x.data() + i, std::min<size_t>(8, x.size() - i));
      out.words.push_back(word);
    }
  }
  static std::string read(LeafReader& in) {
    std::string x(in.word(), '\0');
    for (size_t i = 0; i < x.size(); i += 8) {
      const uint64_t word = in.word();
      std::memcpy(x.data() + i, &word, std::min<size_t>(8, x.size() - i));
    }
    return x;
  }
};
template <class T>
struct Flatten<std::vector<T>> {
  static void write(const std::vector<T>& x, Leaves& out) {
    out.words.push_back(x.size());
    if constexpr (std::same_as<T, bool>)
      for (bool item : x) out.words.push_back(item);
    else
      for (const T& item : x) Flatten<T>::write(item, out);
  }
  static std::vector<T> read(LeafReader& in) {
    const uint64_t size = in.word();
    std::vector<T> x;
    x.reserve(size);
    for (uint64_t i = 0; i < size; ++i) x.push_back(Flatten<T>::read(in));
    return x;
  }
};
template <class T, size_t N>
struct Flatten<std::array<T, N>> {
  static void write(const std::array<T, N>& x, Leaves& out) {
    for (const T& item : x) Flatten<T>::write(item, out);
  }
  static std::array<T, N> read(LeafReader& in) {
    std::array<T, N> x;
    for (T& item : x) item = Flatten<T>::read(in);
    return x;
  }
};
template <class T>
struct Flatten<std::optional<T>> {
  static void write(const std::optional<T>& x, Leaves& out) {
    out.words.push_back(x.has_value());
    if (x) Flatten<T>::write(*x, out);
  }
  static std::optional<T> read(LeafReader& in) {
    if (!in.word()) return std::nullopt;
    return Flatten<T>::read(in);
  }
};
template <class... T>
struct Flatten<std::tuple<T...>> {
  static void write(const std::tuple<T...>& x, Leaves& out) {
    std::apply([&](const T&... item) { (Flatten<T>::write(item, out), ...); }, x);
  }
  static std::tuple<T...> read(LeafReader& in) { return std::tuple<T...>{Flatten<T>::read(in)...}; }
};
template <class A, class B>
struct Flatten<std::pair<A, B>> {
  static void write(const std::pair<A, B>& x, Leaves& out) {
    Flatten<A>::write(x.first, out), Flatten<B>::write(x.second, out);
  }
  static std::pair<A, B> read(LeafReader& in) {
    A first = Flatten<A>::read(in);
    return {std::move(first), Flatten<B>::read(in)};
  }
};
template <HasFields T>
struct Flatten<T> {
  static void write(const T& x, Leaves& out) {
    x.kiln_fields(
        [&](const auto&... field) { (Flatten<std::remove_cvref_t<decltype(field)>>::write(field, out), ...); });
  }
  static T read(LeafReader& in) {
    T x;
    x.kiln_fields([&](auto&... field) { ((field = Flatten<std::remove_cvref_t<decltype(field)>>::read(in)), ...); });
    return x;
  }
};

// A result owned apart from the value it came from.
struct OwnedLeaves {
  std::vector<Tensor> tensors;
  std::vector<uint64_t> words;
  template <class T>
  void take(const T& value) {
    if constexpr (std::same_as<T, Variable>) {  // the value at this point
      tensors.push_back(value.read());
    } else {
      Leaves leaves;
      Flatten<T>::write(value, leaves);
      for (const Tensor* t : leaves.tensors) tensors.push_back(*t);
      words.assign(leaves.words.begin(), leaves.words.end());
    }
  }
};

// What a function whose lambda returns T gives: a returned Variable gives its value.
template <class T>
using ResultOf = std::conditional_t<std::same_as<T, Variable>, Tensor, T>;

// R, Args of a lambda, function pointer or callable struct; nothing where operator() is a template or overloaded.
template <class F>
struct Callable {};
template <class F>
  requires requires { &F::operator(); }
struct Callable<F> : Callable<decltype(&F::operator())> {};
template <class C, class R, bool no_throw, class... A>
struct Callable<R (C::*)(A...) const noexcept(no_throw)> {
  using Signature = R(A...);
};
template <class C, class R, bool no_throw, class... A>
struct Callable<R (C::*)(A...) noexcept(no_throw)> {
  using Signature = R(A...);
};
template <class R, bool no_throw, class... A>
struct Callable<R (*)(A...) noexcept(no_throw)> {
  using Signature = R(A...);
};
template <class F>
concept HasSignature = requires { typename Callable<std::decay_t<F>>::Signature; };

}  // namespace kiln::detail
