#include "dialects/kiln/rules/shape_rules.h"

#include <algorithm>

namespace kiln {
namespace {

// "3", "batch*2"
std::string dim_text(Dim d) {
  const std::string text = to_string(Shape{d});
  return text.substr(1, text.size() - 2);
}

// "[1,0]"
std::string list_text(const std::vector<int64_t>& v) {
  std::string text = "[";
  for (size_t i = 0; i < v.size(); ++i) text += (i ? "," : "") + std::to_string(v[i]);
  return text + "]";
}

// A size given by the user: -1 and other negative numbers have no meaning here.
Status check_sizes(const Shape& shape) {
  for (Dim d : shape)
    if (d.inferred()) return bad("shape " + to_string(shape) + " has a negative size");
  return {};
}

// An unknown dim that must not turn out as 0.
void require_elements(Dim d) {
  if (DimTable* table = DimTable::current(); table && !d.known()) table->intern(DimOp::positive, d, 0);
}

Dim broadcast_dims(Dim a, Dim b) {
  if (a == b || b == Dim(1)) return a;
  if (a == Dim(1)) return b;
  if (DimTable* table = DimTable::current()) return table->intern(DimOp::broadcast, a, b);
  return a.known() ? a : b;
}

bool may_broadcast(Dim a, Dim b) { return !a.known() || !b.known() || a == b || a == Dim(1) || b == Dim(1); }

// How a shape falls apart for reshape: the product of its known parts and its unknown factors.
struct Factors {
  int64_t known = 1;
  bool overflow = false;
  std::vector<Dim> unknown;

  void add(Dim d) {
    if (d.known()) {
      overflow |= __builtin_mul_overflow(known, d.size(), &known);
      return;
    }
    const DimTable* table = DimTable::current();
    if (table && d.id() < table->size() && (*table)[d.id()].op == DimOp::multiply) {
      const DimExpr e = (*table)[d.id()];
      add(e.a);
      add(e.b);
      return;
    }
    unknown.push_back(d);
  }
  // Removes the unknown factors that `other` has too, from both.
  void cancel(Factors& other) {
    for (size_t i = 0; i < unknown.size();) {
      auto at = std::find(other.unknown.begin(), other.unknown.end(), unknown[i]);
      if (at == other.unknown.end()) {
        ++i;
        continue;
      }
      other.unknown.erase(at);
      unknown.erase(unknown.begin() + i);
    }
  }
  Dim product() const {
    Dim d = 1;
    for (Dim u : unknown) d = d * u;
    return d * Dim(known);
  }
};

}  // namespace

std::string to_string(const TensorType& type) { return std::string(name_of(type.dtype)) + to_string(type.shape); }

Status bad(std::string text) { return Status(Code::invalid_argument, std::move(text)); }

Result<Shape> broadcast_shapes(std::span<const Shape> shapes) {
  int rank = 0;
  for (const Shape& s : shapes) rank = std::max(rank, s.rank());
  Shape result;
  for (int i = 0; i < rank; ++i) {
    Dim d = 1;
    for (const Shape& s : shapes) {
      const int at = i - (rank - s.rank());
      if (at < 0) continue;
      if (!may_broadcast(d, s[at])) return bad("the shapes do not broadcast");
      d = broadcast_dims(d, s[at]);
    }
    result.push_back(d);
  }
  return result;
}

Result<int64_t> normalize_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    return bad("axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
  return axis < 0 ? axis + rank : axis;
}

Result<std::vector<int64_t>> normalize_axes(const std::vector<int64_t>& axes, int rank) {
  std::vector<int64_t> result;
  if (axes.empty())
    for (int i = 0; i < rank; ++i) result.push_back(i);
  for (int64_t a : axes) {
    KILN_ASSIGN_OR_RETURN(const int64_t at, normalize_axis(a, rank));
    if (std::find(result.begin(), result.end(), at) != result.end())
      return bad("axis " + std::to_string(a) + " is given twice");
    result.push_back(at);
  }
  std::sort(result.begin(), result.end());
  return result;
}

Result<TensorType> elementwise_type(DType dtype, std::span<const TensorType> operands,
                                    std::span<const std::string_view> names) {
  if (operands.size() == 1) return TensorType{dtype, operands[0].shape};
  std::vector<Shape> shapes;
  for (const TensorType& t : operands) shapes.push_back(t.shape);
  Result<Shape> shape = broadcast_shapes(shapes);
  if (shape.ok()) return TensorType{dtype, *shape};
  std::string text;
  for (size_t i = 0; i < operands.size(); ++i)
    text += (i == 0                     ? ""
             : i + 1 == operands.size() ? " and "
                                        : ", ") +
            std::string(names[i]) + " is " + to_string(operands[i]);
  return bad(text + ": the shapes do not broadcast");
}

Result<TensorType> broadcast_to_type(const TensorType& x, const Shape& shape) {
  KILN_RETURN_IF_ERROR(check_sizes(shape));
  Shape result = shape;
  bool fits = x.shape.rank() <= shape.rank();
  for (int i = 0; fits && i < x.shape.rank(); ++i) {
    const int at = shape.rank() - x.shape.rank() + i;
    const Dim from = x.shape[i], to = shape[at];
    fits = from == to || from == Dim(1) || !from.known() || !to.known();
    if (fits && !(from == to) && !(from == Dim(1))) result[at] = broadcast_dims(to, from);  // checked at run time
  }
  if (!fits) return bad("x is " + to_string(x) + ", which does not broadcast to " + to_string(shape));
  return TensorType{x.dtype, result};
}

Result<TensorType> broadcast_all_to(std::span<const TensorType> operands, const Shape& shape, DType dtype) {
  KILN_RETURN_IF_ERROR(check_sizes(shape));
  for (const TensorType& x : operands) KILN_RETURN_IF_ERROR(broadcast_to_type(x, shape).status());
  return TensorType{dtype, shape};
}

Result<TensorType> random_type(std::span<const TensorType> operands, const Shape& shape, DType dtype) {
  if (dtype != DType::f32 && dtype != DType::f64)
    return bad("dtype " + std::string(name_of(dtype)) + " is not supported (f32, f64)");
  return broadcast_all_to(operands, shape, dtype);
}

Result<TensorType> source_type(const Shape& shape, DType dtype) {
  KILN_RETURN_IF_ERROR(check_sizes(shape));
  if (dtype != DType::bool_ && dtype != DType::i32 && dtype != DType::i64 && dtype != DType::f32 && dtype != DType::f64)
    return bad("dtype " + std::string(name_of(dtype)) + " is not supported (bool, i32, i64, f32, f64)");
  return TensorType{dtype, shape};
}

Result<TensorType> reduction_type(const TensorType& x, const std::vector<int64_t>& axis, bool keepdims, DType dtype,
                                  std::string_view empty_is_error) {
  KILN_ASSIGN_OR_RETURN(const auto axes, normalize_axes(axis, x.shape.rank()));
  Shape shape;
  for (int i = 0; i < x.shape.rank(); ++i) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), i);
    if (!reduced)
      shape.push_back(x.shape[i]);
    else if (keepdims)
      shape.push_back(1);
    if (reduced && x.shape[i] == Dim(0) && !empty_is_error.empty())
      return bad("x is " + to_string(x) + " and axis " + std::to_string(i) +
                 " is empty: " + std::string(empty_is_error));
    if (reduced && !empty_is_error.empty()) require_elements(x.shape[i]);
  }
  return TensorType{dtype, shape};
}

Result<TensorType> arg_type(const TensorType& x, int64_t axis) {
  KILN_ASSIGN_OR_RETURN(const int64_t at, normalize_axis(axis, x.shape.rank()));
  if (x.shape[at] == Dim(0))
    return bad("x is " + to_string(x) + " and axis " + std::to_string(axis) + " is empty: no element has an index");
  require_elements(x.shape[at]);
  Shape shape = x.shape;
  shape.erase(at);
  return TensorType{DType::i64, shape};
}

Result<TensorType> same_with_axis(const TensorType& x, int64_t axis) {
  KILN_RETURN_IF_ERROR(normalize_axis(axis, x.shape.rank()).status());
  return x;
}

Result<TensorType> same_with_axes(const TensorType& x, const std::vector<int64_t>& axes) {
  if (!axes.empty()) KILN_RETURN_IF_ERROR(normalize_axes(axes, x.shape.rank()).status());
  return x;
}

Result<TensorType> reshape_type(const TensorType& x, const Shape& shape) {
  Factors from, to;
  for (Dim d : x.shape) from.add(d);
  int inferred = -1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!shape[i].inferred()) {
      to.add(shape[i]);
    } else {
      if (inferred >= 0) return bad("shape " + to_string(shape) + " has more than one -1");
      inferred = i;
    }
  }
  auto mismatch = [&] { return bad("x is " + to_string(x) + ", whose elements do not fit shape " + to_string(shape)); };
  if (to.overflow) return bad("shape " + to_string(shape) + " has too many elements");
  from.cancel(to);
  Shape result = shape;
  if (inferred < 0) {
    const bool empty = (from.known == 0 && to.known == 0);
    if (!empty && (!from.unknown.empty() || !to.unknown.empty())) {
      if (from.unknown.empty() && from.known != 0 && to.known != 0 && from.known % to.known != 0) return mismatch();
      return bad("x is " + to_string(x) + " and shape is " + to_string(shape) +
                 ": their sizes cannot be compared before the dims are known; write -1 for one of them");
    }
    if (from.known != to.known) return mismatch();
    return TensorType{x.dtype, result};
  }
  if (to.known == 0) return bad("shape " + to_string(shape) + " has a -1 beside a 0: it could be any size");
  if (to.unknown.empty() && from.known % to.known == 0) {
    from.known /= to.known;
    result[inferred] = from.product();
  } else if (to.unknown.empty() && from.unknown.empty()) {
    return mismatch();
  } else {
    // The quotient cannot be shown to be whole; that it is, is checked by nobody at run time: refuse.
    return bad("x is " + to_string(x) + " and shape is " + to_string(shape) +
               ": the -1 cannot be worked out before the dims are known");
  }
  return TensorType{x.dtype, result};
}

Result<TensorType> expand_dims_type(const TensorType& x, int64_t axis) {
  if (x.shape.rank() == max_rank)
    return bad("the result would have rank " + std::to_string(max_rank + 1) + ", the highest is " +
               std::to_string(max_rank));
  KILN_ASSIGN_OR_RETURN(const int64_t at, normalize_axis(axis, x.shape.rank() + 1));
  TensorType result = x;
  result.shape.insert(at, 1);
  return result;
}

Result<TensorType> squeeze_type(const TensorType& x, const std::vector<int64_t>& axis) {
  KILN_ASSIGN_OR_RETURN(const auto axes, normalize_axes(axis, x.shape.rank()));
  Shape shape;
  for (int i = 0; i < x.shape.rank(); ++i) {
    const bool named = std::binary_search(axes.begin(), axes.end(), i);
    if (named && x.shape[i] == Dim(1)) continue;
    if (named && !axis.empty())
      return bad("x is " + to_string(x) + " and axis " + std::to_string(i) + " is not of size 1");
    shape.push_back(x.shape[i]);
  }
  return TensorType{x.dtype, shape};
}

std::vector<int64_t> full_permutation(const std::vector<int64_t>& perm, int rank) {
  if (!perm.empty()) return perm;
  std::vector<int64_t> result;
  for (int i = rank - 1; i >= 0; --i) result.push_back(i);
  return result;
}

Result<TensorType> transpose_type(const TensorType& x, const std::vector<int64_t>& perm) {
  const std::vector<int64_t> p = full_permutation(perm, x.shape.rank());
  std::vector<bool> used(x.shape.rank(), false);
  Shape shape;
  bool valid = static_cast<int>(p.size()) == x.shape.rank();
  for (size_t i = 0; valid && i < p.size(); ++i) {
    valid = p[i] >= 0 && p[i] < x.shape.rank() && !used[p[i]];
    if (!valid) break;
    used[p[i]] = true;
    shape.push_back(x.shape[p[i]]);
  }
  if (!valid)
    return bad("x is " + to_string(x) + " and perm is " + list_text(p) + ": it must name each of the " +
               std::to_string(x.shape.rank()) + " axes of x once");
  return TensorType{x.dtype, shape};
}

Result<TensorType> slice_type(const TensorType& x, const Shape& begin, const Shape& size,
                              const std::vector<int64_t>& strides) {
  const int rank = x.shape.rank();
  if (begin.rank() != rank || size.rank() != rank || (!strides.empty() && static_cast<int>(strides.size()) != rank))
    return bad("x is " + to_string(x) + ": begin, size and strides need " + std::to_string(rank) + " entries");
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    const int64_t stride = strides.empty() ? 1 : strides[i];
    const std::string where = " in axis " + std::to_string(i) + " of x, which is " + to_string(x);
    if (stride < 1) return bad("stride " + std::to_string(stride) + where + ": it must be 1 or more");
    if (begin[i].inferred()) return bad("begin is negative" + where);
    const Dim d = x.shape[i], from = begin[i];
    if (d.known() && from.known() && from.size() > d.size())
      return bad("begin " + std::to_string(from.size()) + where + ": it is beyond the end");
    Dim n = size[i];
    if (n.inferred()) {
      n = stride == 1 ? d - from : floor_div(d - from + Dim(stride - 1), Dim(stride));
    } else if (d.known() && from.known() && n.known()) {
      int64_t span;
      if (n.size() > 0 && (__builtin_mul_overflow(n.size() - 1, stride, &span) || span >= d.size() - from.size()))
        return bad("begin " + std::to_string(from.size()) + ", size " + std::to_string(n.size()) + ", stride " +
                   std::to_string(stride) + where + ": the box leaves x");
    } else if (!(n == d && from == Dim(0) && stride == 1) && !(stride == 1 && n == d - from) &&
               !(n == floor_div(d - from + Dim(stride - 1), Dim(stride)))) {
      return bad("size " + dim_text(n) + where +
                 ": it cannot be shown that the box lies within x; give -1 for all to the end");
    }
    shape.push_back(n);
  }
  return TensorType{x.dtype, shape};
}

Result<TensorType> slice_backward_type(const TensorType& x, const Shape& shape, const Shape& begin,
                                       const std::vector<int64_t>& strides) {
  KILN_RETURN_IF_ERROR(check_sizes(shape));
  const TensorType result{x.dtype, shape};
  // Exactly the slices whose gradient this can be.
  KILN_ASSIGN_OR_RETURN(const TensorType back, slice_type(result, begin, x.shape, strides));
  if (!(back.shape == x.shape)) return bad("x is " + to_string(x) + ", which is no such slice of " + to_string(shape));
  return result;
}

Result<TensorType> pad_type(const TensorType& x, const std::vector<int64_t>& paddings) {
  const int rank = x.shape.rank();
  if (static_cast<int>(paddings.size()) != 2 * rank)
    return bad("x is " + to_string(x) + ": paddings needs " + std::to_string(2 * rank) + " entries, it has " +
               std::to_string(paddings.size()));
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    if (paddings[2 * i] < 0 || paddings[2 * i + 1] < 0)
      return bad("paddings of axis " + std::to_string(i) + " are negative");
    shape.push_back(x.shape[i] + Dim(paddings[2 * i]) + Dim(paddings[2 * i + 1]));
  }
  return TensorType{x.dtype, shape};
}

Shape pad_begin(const std::vector<int64_t>& paddings) {
  Shape begin;
  for (size_t i = 0; i < paddings.size(); i += 2) begin.push_back(paddings[i]);
  return begin;
}

Result<TensorType> concat_type(std::span<const TensorType> xs, int64_t axis) {
  if (xs.empty()) return bad("no tensor is given");
  KILN_ASSIGN_OR_RETURN(const int64_t at, normalize_axis(axis, xs[0].shape.rank()));
  TensorType result = xs[0];
  for (size_t k = 1; k < xs.size(); ++k) {
    const Shape& s = xs[k].shape;
    bool fits = s.rank() == result.shape.rank();
    for (int i = 0; fits && i < s.rank(); ++i) fits = i == at || same(s[i], result.shape[i]);
    if (!fits)
      return bad("xs[0] is " + to_string(xs[0]) + " but xs[" + std::to_string(k) + "] is " + to_string(xs[k]) +
                 ": all dims but axis " + std::to_string(axis) + " must be equal");
    result.shape[at] = result.shape[at] + s[at];
  }
  return result;
}

Result<TensorType> matmul_type(const TensorType& x, const TensorType& y, bool transpose_x, bool transpose_y) {
  const int rx = x.shape.rank(), ry = y.shape.rank();
  if (rx < 2 || ry < 2) return bad("x is " + to_string(x) + " and y is " + to_string(y) + ": both need rank 2 or more");
  const Dim rows = x.shape[rx - (transpose_x ? 1 : 2)], inner = x.shape[rx - (transpose_x ? 2 : 1)];
  const Dim inner_y = y.shape[ry - (transpose_y ? 1 : 2)], columns = y.shape[ry - (transpose_y ? 2 : 1)];
  if (!same(inner, inner_y)) {
    auto side = [](const TensorType& t, bool transposed) { return to_string(t) + (transposed ? " (transposed)" : ""); };
    return bad("x is " + side(x, transpose_x) + " with " + dim_text(inner) + " columns, y is " + side(y, transpose_y) +
               " with " + dim_text(inner_y) + " rows: they must be equal");
  }
  Shape batches[2] = {x.shape, y.shape};
  for (Shape& s : batches) s.erase(s.rank() - 1), s.erase(s.rank() - 1);
  Result<Shape> shape = broadcast_shapes(batches);
  if (!shape.ok())
    return bad("x is " + to_string(x) + " and y is " + to_string(y) + ": the leading dims do not broadcast");
  shape->push_back(rows);
  shape->push_back(columns);
  return TensorType{x.dtype, *shape};
}

}  // namespace kiln
