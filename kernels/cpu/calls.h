// The library kernels by name: which buffers and params each takes. This page is the contract between the records'
// `call` snippets (dialects/kiln/rules) and kernels/cpu. All arrays are dense and row-major.
//
// Params are Dims before a call, so none may be negative: a step backwards is a step and a flag. Every dim may be 0.
// Buffers are listed inputs first, then results. A kernel whose workspace_bytes(params) is not 0 takes the workspace
// as one more buffer at the end, 64-byte aligned. A phase whose extent(params) is 0 is not run.
// <T> is f32 f64 i32 i64 unless a row says otherwise, <B> the element size (b1 b2 b4 b8 b16; any dtype of that size),
// <I> the dtype of indices (i32 i64).
//
// Linear algebra
//   matmul.<T>   x [Bx.., M, K] (transpose_x: [Bx.., K, M]), y [By.., K, N] (transpose_y: [By.., N, K]) -> [B.., M, N]
//       {M, N, K, transpose_x, transpose_y, R, Bx[0..R), By[0..R)}   R <= 6 batch dims, the shorter list padded with 1
//       in front; they broadcast, the kernel computes B itself. Each element: c = fma(x, y, c) from 0, k ascending.
//       (i32, i64: wraps.)
//
// Convolution, <T> = f32 f64. x [N,H,W,C], filter [KH,KW,C/groups,F], result [N,OH,OW,F]. The same params for all
// three:
//       {N, H, W, C, KH, KW, F, OH, OW, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, groups}
//       (bottom and right padding follow from OH and OW.) Padding counts as zeros.
//   conv2d.<T>                  x, filter -> result
//       chain over filter row, filter column, input channel of the group, all ascending
//   conv2d_backward_input.<T>   filter, dresult -> dx [N,H,W,C]
//       chain over the filter rows, then columns, that reach the element (the stride divides h + pad_top - kh *
//       dilation), both descending, then result channels of the group ascending; results beyond the border count as
//       zeros
//   conv2d_backward_filter.<T>  x, dresult -> dfilter [KH,KW,C/groups,F]
//       chain over n, oh, ow, all ascending
//
// Pooling, <T> = f32 f64 (max_pool2d also i32 i64). NHWC; padding is left out of maximum, sum and count.
//       {N, H, W, C, KH, KW, OH, OW, stride_h, stride_w, pad_top, pad_left}
//   max_pool2d.<T>              x -> result [N,OH,OW,C]
//       a NaN is the maximum; a window of padding only: -inf (integers: the lowest value)
//   max_pool2d_backward.<T>     x, dresult -> dx
//       to the first maximum (or first NaN) of each window in row-major order; windows are added in row-major order
//   avg_pool2d.<T>              x -> result                sum in row-major order / count; no cell: 0
//   avg_pool2d_backward.<T>     dresult -> dx              dresult / count, windows added in row-major order
//
// Data movement
//   transpose.<B>   x -> result      {R, dims of x[R], perm[R]}              result dim i is x dim perm[i]
//   slice.<B>       x -> result      {R, dims of x[R], size[R], begin[R], step[R], backwards[R]}
//       result[i] = x[begin + i * step] in each dim (backwards: begin - i * step); size = dims of the result.
//       Serves slice, strided_slice, reverse, split and the gradient of pad and concat.
//   pad.<B>         x -> result      {R, dims of x[R], dims of the result[R], begin[R], step[R], backwards[R],
//                                     low, high}
//       The inverse of slice: x[i] goes to result[begin + i * step]; all else is the value whose bits are low (bits
//       0-31) and high (bits 32-63). Serves constant padding and the gradient of slice. Elements up to 8 bytes.
//   concat.<B>      x0 .. x(n-1) -> result   {n, outer, inner, axis size of each x[n]}    xi is [outer, ai, inner]
//   tile.<B>        x -> result      {R, dims of x[R], multiples[R]}
//   gather.<B>.<I>  x [outer, axis, inner], indices [count] -> [outer, count, inner]      {outer, axis, inner, count}
//       An index outside [0, axis): out_of_range "index 7 at position 3 is out of range for axis size 3".
//   gather_nd.<B>.<I>  x [d0 .. d(k-1), inner], indices [count, k] -> [count, inner]      {count, inner, k, d[k]}
//   take_along_axis.<B>.<I>  x [outer, axis, inner], indices [outer, count, inner] -> the shape of indices
//                                                                                         {outer, axis, inner, count}
//   scatter_add.<T>.<I>         updates [outer, count, inner], indices [count] -> [outer, axis, inner]
//   tensor_scatter_add.<T>.<I>  base [outer, axis, inner], indices, updates -> [outer, axis, inner]
//       {outer, axis, inner, count}   onto zeros (base); equal indices add in order of position. The gradient of
//       gather.
//   check_range.<I>  x [n] -> result [n] (a copy)   {n, lower, upper}
//       A value outside [lower, upper): out_of_range "label 12 at position 0 is out of range [0, 10)".
//
// Scans and sorting, over the middle dim of x [O, R, I] or the last of [O, R]
//   argmax.<T>, argmin.<T>   x -> i64 [O, I]        {O, R, I}   the first NaN, else the lowest index of the best
//   cumsum.<T>, cumprod.<T>  x -> [O, R, I]         {O, R, I, exclusive, reverse}   in order, from 0 (1)
//   sort.<T>     x -> [O, R]                        {O, R, descending}   stable; NaN last either way; -0 equals +0
//   argsort.<T>  x -> i64 [O, R]                    {O, R, descending}
//   top_k.<T>    x -> values [O, K], i64 [O, K]     {O, R, K}   the K largest, descending; lowest index first, NaN last
//   searchsorted.<T>  x, values [O, C] -> i64 [O, C]   {O, R, C, right}   how many of the row come before the value
//                                                   (right: do not come after it); NaN comes after all numbers
#pragma once
#include "runtime/exec/kernel.h"
