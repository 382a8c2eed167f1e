#include "dialects/kiln/rules/index_rules.h"

namespace kiln {

Result<TensorType> gather_type(const TensorType& x, const TensorType& indices, int64_t axis) {
  KILN_ASSIGN_OR_RETURN(const int64_t at, normalize_axis(axis, x.shape.rank()));
  if (x.shape.rank() - 1 + indices.shape.rank() > max_rank)
    return bad("x is " + to_string(x) + " and indices is " + to_string(indices) +
               ": the result's rank would be above " + std::to_string(max_rank));
  Shape shape;
  for (int i = 0; i < at; ++i) shape.push_back(x.shape[i]);
  for (Dim d : indices.shape) shape.push_back(d);
  for (int i = at + 1; i < x.shape.rank(); ++i) shape.push_back(x.shape[i]);
  return TensorType{x.dtype, shape};
}

Result<TensorType> gather_backward_type(const TensorType& x, const TensorType& indices, const Shape& shape,
                                        int64_t axis) {
  const TensorType result{x.dtype, shape};
  KILN_ASSIGN_OR_RETURN(const TensorType gathered, gather_type(result, indices, axis));
  if (!(gathered.shape == x.shape))
    return bad("x is " + to_string(x) + ", gathering from " + to_string(shape) + " gives " + to_string(gathered));
  return result;
}

Result<TensorType> scatter_add_type(const TensorType& x, const TensorType& indices, const TensorType& updates,
                                    int64_t axis) {
  KILN_ASSIGN_OR_RETURN(const TensorType gathered, gather_type(x, indices, axis));
  if (!(gathered.shape == updates.shape))
    return bad("updates is " + to_string(updates) + ", x and indices need " + to_string(gathered));
  return x;
}

Result<TensorType> take_along_axis_type(const TensorType& x, const TensorType& indices, int64_t axis) {
  KILN_ASSIGN_OR_RETURN(const int64_t at, normalize_axis(axis, x.shape.rank()));
  bool fits = x.shape.rank() == indices.shape.rank();
  for (int i = 0; fits && i < x.shape.rank(); ++i) fits = i == at || same(x.shape[i], indices.shape[i]);
  if (!fits)
    return bad("x is " + to_string(x) + " but indices is " + to_string(indices) + ": all dims but axis " +
               std::to_string(axis) + " must be equal");
  return TensorType{x.dtype, indices.shape};
}

Result<TensorType> gather_nd_type(const TensorType& x, const TensorType& indices) {
  const int rank = indices.shape.rank();
  const bool known = rank >= 1 && indices.shape.back().known();
  if (!known || indices.shape.back().size() > x.shape.rank())
    return bad("x is " + to_string(x) + " and indices is " + to_string(indices) +
               ": the last dim of indices must be known and at most " + std::to_string(x.shape.rank()));
  const int depth = static_cast<int>(indices.shape.back().size());
  if (rank - 1 + x.shape.rank() - depth > max_rank)
    return bad("the result's rank would be above " + std::to_string(max_rank));
  Shape shape = indices.shape;
  shape.erase(rank - 1);
  for (int i = depth; i < x.shape.rank(); ++i) shape.push_back(x.shape[i]);
  return TensorType{x.dtype, shape};
}

Result<TensorType> check_range_type(const TensorType& x, const Shape& limit) {
  if (limit.rank() != 1 || limit[0].inferred()) return bad("limit must be one number that is not negative");
  return x;
}

Result<TensorType> argsort_rows_type(const TensorType& x) {
  if (x.shape.rank() < 1) return bad("x is " + to_string(x) + ", it needs rank 1 or more");
  return TensorType{DType::i64, x.shape};
}

Result<std::vector<TensorType>> top_k_types(const TensorType& x, int64_t k) {
  if (x.shape.rank() < 1) return bad("x is " + to_string(x) + ", it needs rank 1 or more");
  const Dim n = x.shape.back();
  if (k < 0 || !n.known() || k > n.size())
    return bad("x is " + to_string(x) + " and k is " + std::to_string(k) +
               ": k must be in [0, size of the last axis], which must be known");
  Shape shape = x.shape;
  shape[shape.rank() - 1] = k;
  return std::vector<TensorType>{{x.dtype, shape}, {DType::i64, shape}};
}

}  // namespace kiln
