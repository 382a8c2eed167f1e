// Indexing is slice, reverse and reshape; with a mask gather.
#include "frontend/tensor/index.h"

#include <algorithm>

#include "frontend/include/kiln/error.h"
#include "frontend/tensor/rep.h"
#include "generated/ops.h"

namespace kiln {
namespace {

// What is taken along one axis, as slice wants it.
struct Range {
  Dim begin = 0, size = 0;
  int64_t stride = 1;
  bool reversed = false;
};

Range whole(Dim n) { return {0, n, 1, false}; }

Range one(int64_t i, Dim n, int axis, std::source_location where) {
  if (i < -n.size() || i >= n.size())
    throw_error(Code::out_of_range,
                "index " + std::to_string(i) + " is out of range for axis " + std::to_string(axis) + " of size " +
                    std::to_string(n.size()),
                where);
  return {i < 0 ? i + n.size() : i, 1, 1, false};
}

Range part(const Slice& s, Dim n, std::source_location where) {
  if (s.step == 0) throw_error(Code::invalid_argument, "slice: the step is 0", where);
  if (!n.known()) {
    // The bounds cannot be clipped before the size is known: slice checks them at run time.
    if (s.step != 1) throw_error(Code::unimplemented, "slice: a step along a dim known only at run time", where);
    auto place = [&](int64_t i) { return i >= 0 ? Dim(i) : n - Dim(-i); };
    const Dim begin = s.start ? place(*s.start) : Dim(0);
    return {begin, (s.stop ? place(*s.stop) : n) - begin, 1, false};
  }
  const int64_t size = n.size();
  auto place = [&](std::optional<int64_t> i, int64_t otherwise, int64_t low, int64_t high) {
    if (!i) return otherwise;
    return std::clamp(*i < 0 ? *i + size : *i, low, high);
  };
  if (s.step > 0) {
    const int64_t start = place(s.start, 0, 0, size), stop = place(s.stop, size, 0, size);
    return {start, stop > start ? (stop - start - 1) / s.step + 1 : 0, s.step, false};
  }
  const int64_t start = place(s.start, size - 1, -1, size - 1), stop = place(s.stop, -1, -1, size - 1);
  const int64_t count = start > stop ? (start - stop - 1) / -s.step + 1 : 0;
  return {count ? start + (count - 1) * s.step : 0, count, -s.step, count > 0};
}

// The rows of x where the mask, which stands for its leading axes, is true.
Tensor masked(const Tensor& x, const Tensor& mask, std::source_location where) {
  if (!mask.defined() || mask.dtype() != DType::bool_)
    throw_error(Code::invalid_argument, "index: a Tensor as index must be a bool mask; use gather for numbers", where);
  if (mask.symbolic() || x.symbolic())
    throw_error(Code::unimplemented,
                "index: the size of a masked selection is not known while a function is traced; use where", where);
  const int n = mask.rank();
  bool fits = n >= 1 && n <= x.rank();
  for (int i = 0; fits && i < n; ++i) fits = mask.shape()[i] == x.shape()[i];
  if (!fits)
    throw_error(
        Code::invalid_argument,
        "index: a mask of shape " + to_string(mask.shape()) + " does not fit a tensor of shape " + to_string(x.shape()),
        where);
  std::vector<int64_t> indices;
  const bool* truth = mask.data<bool>(where);
  for (int64_t i = 0; i < mask.size(); ++i)
    if (truth[i]) indices.push_back(i);
  Shape rows{mask.size()};
  for (int i = n; i < x.rank(); ++i) rows.push_back(x.shape()[i]);
  return gather(reshape(Operand(x, where), rows), Operand(indices, where));
}

}  // namespace

Tensor Tensor::at(std::span<const Index> indices) const {
  const std::source_location where = indices.empty() ? std::source_location() : indices[0].where();
  if (!rep_) throw_error(Code::failed_precondition, "index: the Tensor is empty", where);
  if (indices.size() == 1 && indices[0].kind() == Index::Kind::mask) return masked(*this, indices[0].mask(), where);
  int used = 0, ellipses = 0;
  for (const Index& index : indices) {
    used += index.kind() == Index::Kind::at || index.kind() == Index::Kind::slice;
    ellipses += index.kind() == Index::Kind::ellipsis;
    if (index.kind() == Index::Kind::mask)
      throw_error(Code::invalid_argument, "index: a mask must be the only index", where);
  }
  if (ellipses > 1) throw_error(Code::invalid_argument, "index: more than one ellipsis", where);
  if (used > rank())
    throw_error(Code::invalid_argument,
                "index: " + std::to_string(used) + " indices for a tensor of rank " + std::to_string(rank()), where);

  std::vector<Range> ranges;
  std::vector<std::pair<int, int64_t>> picked;  // an index for an axis of unknown size
  Shape result;
  auto take_whole = [&](int count) {
    for (int i = 0; i < count; ++i) {
      ranges.push_back(whole(shape()[static_cast<int>(ranges.size())]));
      result.push_back(ranges.back().size);
    }
  };
  for (const Index& index : indices) {
    const int axis = static_cast<int>(ranges.size());
    switch (index.kind()) {
      case Index::Kind::at:
        if (shape()[axis].known()) {
          ranges.push_back(one(index.at(), shape()[axis], axis, where));
        } else {  // the bound is checked at run time
          ranges.push_back(whole(shape()[axis]));
          picked.emplace_back(axis, index.at());
        }
        break;
      case Index::Kind::slice:
        ranges.push_back(part(index.slice(), shape()[axis], where));
        result.push_back(ranges.back().size);
        break;
      case Index::Kind::newaxis:
        result.push_back(1);
        break;
      case Index::Kind::ellipsis:
        take_whole(rank() - used);
        break;
      case Index::Kind::mask:
        break;
    }
  }
  take_whole(rank() - static_cast<int>(ranges.size()));
  if (Status status = check_rank(result); !status.ok())
    throw_error(status.code(), "index: " + std::string(status.message()), where);

  Shape begin, size;
  SliceOptions options;
  std::vector<int64_t> reversed;
  bool strided = false, cut = false;
  for (int axis = 0; axis < rank(); ++axis) {
    const Range& range = ranges[axis];
    begin.push_back(range.begin), size.push_back(range.size), options.strides.push_back(range.stride);
    if (range.reversed) reversed.push_back(axis);
    strided |= range.stride != 1;
    cut |= range.size != shape()[axis];
  }
  if (!strided) options.strides.clear();
  Tensor x = *this;
  if (cut || strided) x = kiln::slice(Operand(x, where), begin, size, options);
  if (!reversed.empty()) x = reverse(Operand(x, where), reversed);
  for (const auto& [axis, i] : picked) {
    const Tensor place = i >= 0 ? Tensor(i) : kiln::size(Operand(x, where), {{axis}, DType::i64}) + i;
    x = gather(Operand(x, where), Operand(kiln::reshape(Operand(place, where), {1}), where), {axis});
  }
  return x.shape() == result ? x : kiln::reshape(Operand(x, where), result);
}

}  // namespace kiln
