// What may stand between the brackets of a Tensor: a[0], a[{all, -1}], a[{slice(0, 1), newaxis, ellipsis}], a[mask].
#pragma once
#include <concepts>
#include <cstdint>
#include <optional>
#include <source_location>

namespace kiln {

class Tensor;
class Operand;
struct ReduceOptions;

// As an index: the whole axis. As a function: reduce_all.
//   a[{all, -1}]      all(a > 0)
struct All {
  Tensor operator()(const Operand& x) const;
  Tensor operator()(const Operand& x, const ReduceOptions& options) const;
};
inline constexpr All all;

struct Newaxis {};
inline constexpr Newaxis newaxis;  // a new axis of size 1
struct Ellipsis {};
inline constexpr Ellipsis ellipsis;  // as many whole axes as are left

// Elements start, start + step, ... before stop, as in NumPy: negative numbers count from the end, bounds are clipped.
struct Slice {
  std::optional<int64_t> start, stop;
  int64_t step = 1;
};
// slice(1, 3), slice(0, std::nullopt, 2), slice(std::nullopt, std::nullopt, -1)
inline Slice slice(std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step = 1) {
  return {start, stop, step};
}

class Index {
 public:
  enum class Kind : uint8_t { at, slice, newaxis, ellipsis, mask };
  template <std::integral T>
  Index(T at, std::source_location where = std::source_location::current())
      : kind_(Kind::at), at_(static_cast<int64_t>(at)), where_(where) {}
  Index(All, std::source_location where = std::source_location::current()) : kind_(Kind::slice), where_(where) {}
  Index(Slice s, std::source_location where = std::source_location::current())
      : kind_(Kind::slice), slice_(s), where_(where) {}
  Index(Newaxis, std::source_location where = std::source_location::current()) : kind_(Kind::newaxis), where_(where) {}
  Index(Ellipsis, std::source_location where = std::source_location::current())
      : kind_(Kind::ellipsis), where_(where) {}
  // A bool tensor: the elements where it is true. The Tensor must outlive the Index.
  Index(const Tensor& mask, std::source_location where = std::source_location::current())
      : kind_(Kind::mask), mask_(&mask), where_(where) {}

  Kind kind() const { return kind_; }
  int64_t at() const { return at_; }
  const Slice& slice() const { return slice_; }
  const Tensor& mask() const { return *mask_; }
  std::source_location where() const { return where_; }

 private:
  Kind kind_;
  int64_t at_ = 0;
  Slice slice_;
  const Tensor* mask_ = nullptr;
  std::source_location where_;
};

}  // namespace kiln
