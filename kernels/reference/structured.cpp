// Data movement, indexing, scans and sorting.
#include <algorithm>
#include <numeric>

#include "kernels/reference/array.h"

namespace kiln::reference {
namespace {

using Index = std::span<const int64_t>;

// x as [outer, axis, inner].
struct Along {
  int64_t outer, size, inner;
  Along(const Array& x, int axis)
      : outer(x.product(0, axis)), size(x.dims[axis]), inner(x.product(axis + 1, x.rank())) {}
  int64_t at(int64_t o, int64_t a, int64_t i) const { return (o * size + a) * inner + i; }
};

Status transpose(const OpCall& call) {
  const Array &x = call.operands[0], &result = call.results[0];
  std::vector<int64_t> perm = call.ints(0);
  if (perm.empty())
    for (int i = x.rank(); i-- > 0;) perm.push_back(i);
  std::vector<int64_t> from(x.rank());
  for_each_index(result.dims, [&](Index to) {
    for (int i = 0; i < x.rank(); ++i) from[perm[i] < 0 ? perm[i] + x.rank() : perm[i]] = to[i];
    result.set(result.offset(to), x[x.offset(from)]);
  });
  return {};
}

// Where the element `index` of a box lies: begin + index * stride.
std::vector<int64_t> place(Index index, const Shape& begin, const std::vector<int64_t>& strides) {
  std::vector<int64_t> at(index.size());
  for (size_t i = 0; i < index.size(); ++i)
    at[i] = begin[static_cast<int>(i)].size() + index[i] * (strides.empty() ? 1 : strides[i]);
  return at;
}

Status slice(const OpCall& call) {
  const Array &x = call.operands[0], &result = call.results[0];
  for_each_index(result.dims, [&](Index to) {
    result.set(result.offset(to), x[x.offset(place(to, call.attribute<Shape>(0), call.ints(2)))]);
  });
  return {};
}

Status slice_backward(const OpCall& call) {
  const Array &x = call.operands[0], &result = call.results[0];
  for (int64_t i = 0; i < result.size(); ++i) result.set(i, result.zero());
  for_each_index(x.dims, [&](Index from) {
    result.set(result.offset(place(from, call.attribute<Shape>(1), call.ints(2))), x[x.offset(from)]);
  });
  return {};
}

Status pad(const OpCall& call) {
  const Array &x = call.operands[0], &result = call.results[0];
  const RefScalar fill = constant(x.zero(), call.attribute<double>(1));
  for (int64_t i = 0; i < result.size(); ++i) result.set(i, fill);
  std::vector<int64_t> to(x.rank());
  for_each_index(x.dims, [&](Index from) {
    for (int i = 0; i < x.rank(); ++i) to[i] = from[i] + call.ints(0)[2 * i];
    result.set(result.offset(to), x[x.offset(from)]);
  });
  return {};
}

Status reverse(const OpCall& call) {
  const Array &x = call.operands[0], &result = call.results[0];
  for_each_index(x.dims, [&](Index from) {
    std::vector<int64_t> to(from.begin(), from.end());
    for (int64_t axis : call.ints(0)) {
      const int64_t a = axis < 0 ? axis + x.rank() : axis;
      to[a] = x.dims[a] - 1 - from[a];
    }
    result.set(result.offset(to), x[x.offset(from)]);
  });
  return {};
}

Status concat(const OpCall& call) {
  const Array& result = call.results[0];
  const int axis = call.axis(0, result.rank());
  int64_t done = 0;
  for (const Array& x : call.operands) {
    for_each_index(x.dims, [&](Index from) {
      std::vector<int64_t> to(from.begin(), from.end());
      to[axis] += done;
      result.set(result.offset(to), x[x.offset(from)]);
    });
    done += x.dims[axis];
  }
  return {};
}

Status check_indices(const OpCall& call, const Array& indices, int64_t size) {
  for (int64_t i = 0; i < indices.size(); ++i)
    if (const int64_t at = indices.integer(i); at < 0 || at >= size)
      return call.fail(Code::out_of_range, "index " + std::to_string(at) + " at position " + std::to_string(i) +
                                               " is out of range for axis size " + std::to_string(size));
  return {};
}

Status gather(const OpCall& call) {
  const Array &x = call.operands[0], &indices = call.operands[1], &result = call.results[0];
  const Along along(x, call.axis(0, x.rank()));
  KILN_RETURN_IF_ERROR(check_indices(call, indices, along.size));
  int64_t to = 0;
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t k = 0; k < indices.size(); ++k)
      for (int64_t i = 0; i < along.inner; ++i) result.set(to++, x[along.at(o, indices.integer(k), i)]);
  return {};
}

// Adds the slices of updates onto those of the result that indices names, in order of position.
Status add_slices(const OpCall& call, const Array& indices, const Array& updates, int axis) {
  const Array& result = call.results[0];
  const Along along(result, axis);
  KILN_RETURN_IF_ERROR(check_indices(call, indices, along.size));
  int64_t from = 0;
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t k = 0; k < indices.size(); ++k)
      for (int64_t i = 0; i < along.inner; ++i) {
        const int64_t to = along.at(o, indices.integer(k), i);
        result.set(to, result[to] + updates[from++]);
      }
  return {};
}

Status gather_backward(const OpCall& call) {
  const Array& result = call.results[0];
  for (int64_t i = 0; i < result.size(); ++i) result.set(i, result.zero());
  return add_slices(call, call.operands[1], call.operands[0], call.axis(1, result.rank()));
}

Status scatter_add(const OpCall& call) {
  const Array &x = call.operands[0], &result = call.results[0];
  for (int64_t i = 0; i < x.size(); ++i) result.set(i, x[i]);
  return add_slices(call, call.operands[1], call.operands[2], call.axis(0, result.rank()));
}

Status take_along_axis(const OpCall& call) {
  const Array &x = call.operands[0], &indices = call.operands[1], &result = call.results[0];
  const int axis = call.axis(0, x.rank());
  KILN_RETURN_IF_ERROR(check_indices(call, indices, x.dims[axis]));
  for_each_index(indices.dims, [&](Index to) {
    std::vector<int64_t> from(to.begin(), to.end());
    from[axis] = indices.integer(indices.offset(to));
    result.set(result.offset(to), x[x.offset(from)]);
  });
  return {};
}

Status gather_nd(const OpCall& call) {
  const Array &x = call.operands[0], &indices = call.operands[1], &result = call.results[0];
  const int64_t depth = indices.dims.back();
  const int64_t count = indices.product(0, indices.rank() - 1);
  const int64_t inner = x.product(static_cast<int>(depth), x.rank());
  for (int64_t k = 0; k < count; ++k) {
    int64_t slice = 0;
    for (int64_t d = 0; d < depth; ++d) {
      const int64_t at = indices.integer(k * depth + d);
      if (at < 0 || at >= x.dims[d])
        return call.fail(Code::out_of_range, "index " + std::to_string(at) + " at position " +
                                                 std::to_string(k * depth + d) + " is out of range for axis size " +
                                                 std::to_string(x.dims[d]));
      slice = slice * x.dims[d] + at;
    }
    for (int64_t i = 0; i < inner; ++i) result.set(k * inner + i, x[slice * inner + i]);
  }
  return {};
}

Status check_range(const OpCall& call) {
  const Array &x = call.operands[0], &result = call.results[0];
  const int64_t limit = call.attribute<Shape>(0)[0].size();
  for (int64_t i = 0; i < x.size(); ++i) {
    if (const int64_t v = x.integer(i); v < 0 || v >= limit)
      return call.fail(Code::out_of_range, "label " + std::to_string(v) + " at position " + std::to_string(i) +
                                               " is out of range [0, " + std::to_string(limit) + ")");
    result.set(i, x[i]);
  }
  return {};
}

bool truth(RefScalar s) { return s.value<bool>(); }
bool is_nan(RefScalar s) { return truth(s != s); }

// The first NaN, else the lowest index of the best.
Status arg_extreme(const OpCall& call) {
  const Array &x = call.operands[0], &result = call.results[0];
  const Along along(x, call.axis(0, x.rank()));
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t i = 0; i < along.inner; ++i) {
      int64_t best = 0;
      for (int64_t a = 1; a < along.size; ++a) {
        const RefScalar held = x[along.at(o, best, i)], next = x[along.at(o, a, i)];
        if (is_nan(held)) break;
        if (is_nan(next) || truth(call.op == OpId::argmax ? next > held : next < held)) best = a;
      }
      result.set(o * along.inner + i, RefScalar::of(best));
    }
  return {};
}

Status scan(const OpCall& call) {
  const Array &x = call.operands[0], &result = call.results[0];
  const Along along(x, call.axis(0, x.rank()));
  const bool exclusive = call.attribute<bool>(1), backwards = call.attribute<bool>(2), sums = call.op == OpId::cumsum;
  for (int64_t o = 0; o < along.outer; ++o)
    for (int64_t i = 0; i < along.inner; ++i) {
      RefScalar total = constant(x.zero(), sums ? 0 : 1);
      for (int64_t k = 0; k < along.size; ++k) {
        const int64_t at = along.at(o, backwards ? along.size - 1 - k : k, i);
        const RefScalar next = sums ? total + x[at] : total * x[at];
        result.set(at, exclusive ? total : next);
        total = next;
      }
    }
  return {};
}

// The positions of a row's elements in sorted order: stable, NaN last, -0 equal to +0.
std::vector<int64_t> sorted_order(const Array& x, int64_t row, int64_t count, bool descending) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  auto before = [&](int64_t i, int64_t j) {
    const RefScalar a = x[row * count + i], b = x[row * count + j];
    if (is_nan(a) || is_nan(b)) return !is_nan(a) && is_nan(b);
    return truth(descending ? a > b : a < b);
  };
  std::sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return before(i, j) || (!before(j, i) && i < j); });
  return order;
}

Status argsort_rows(const OpCall& call) {
  const Array& x = call.operands[0];
  const int64_t count = x.dims.back();
  for (int64_t row = 0; row < x.product(0, x.rank() - 1); ++row) {
    const std::vector<int64_t> order = sorted_order(x, row, count, call.attribute<bool>(0));
    for (int64_t i = 0; i < count; ++i) call.results[0].set(row * count + i, RefScalar::of(order[i]));
  }
  return {};
}

Status top_k(const OpCall& call) {
  const Array& x = call.operands[0];
  const int64_t count = x.dims.back(), k = call.integer(0);
  for (int64_t row = 0; row < x.product(0, x.rank() - 1); ++row) {
    const std::vector<int64_t> order = sorted_order(x, row, count, true);
    for (int64_t i = 0; i < k; ++i) {
      call.results[0].set(row * k + i, x[row * count + order[i]]);
      call.results[1].set(row * k + i, RefScalar::of(order[i]));
    }
  }
  return {};
}

// Counts the elements of the row that come before the value, or not after it; NaN comes after all numbers.
Status searchsorted(const OpCall& call) {
  const Array &sorted = call.operands[0], &values = call.operands[1];
  const int64_t n = sorted.dims.back(), count = values.dims.back();
  auto before = [](const RefScalar& a, const RefScalar& b) { return is_nan(b) ? !is_nan(a) : truth(a < b); };
  for (int64_t i = 0; i < values.size(); ++i) {
    int64_t place = 0;
    for (int64_t k = 0; k < n; ++k) {
      const RefScalar at = sorted[i / count * n + k];
      place += call.attribute<bool>(0) ? !before(values[i], at) : before(at, values[i]);
    }
    call.results[0].set(i, RefScalar::of(place));
  }
  return {};
}

}  // namespace

OpFunction find_structured(OpId op) {
  switch (op) {
    case OpId::transpose:
      return transpose;
    case OpId::slice:
      return slice;
    case OpId::slice_backward:
      return slice_backward;
    case OpId::pad:
      return pad;
    case OpId::reverse:
      return reverse;
    case OpId::concat:
      return concat;
    case OpId::gather:
      return gather;
    case OpId::gather_backward:
      return gather_backward;
    case OpId::scatter_add:
      return scatter_add;
    case OpId::take_along_axis:
      return take_along_axis;
    case OpId::gather_nd:
      return gather_nd;
    case OpId::check_range:
      return check_range;
    case OpId::argmax:
    case OpId::argmin:
      return arg_extreme;
    case OpId::cumsum:
    case OpId::cumprod:
      return scan;
    case OpId::argsort_rows:
      return argsort_rows;
    case OpId::top_k:
      return top_k;
    case OpId::searchsorted:
      return searchsorted;
    default:
      return nullptr;
  }
}

}  // namespace kiln::reference
