"""NumPy code for the ops whose records have no NumPy expression. Used by cases.py."""
import itertools
import math

import numpy as np


def scan(function, start):
    def run(x, axis, exclusive, reverse):
        y = np.flip(x, axis) if reverse else x
        result = function(y, axis=axis, dtype=x.dtype)
        if exclusive:
            first = np.full_like(np.take(y, [0], axis), start)
            result = np.concatenate([first, np.take(result, range(x.shape[axis] - 1), axis)], axis)
        return np.flip(result, axis) if reverse else result

    return run


def box(begin, size, strides):
    return tuple(slice(b, b + (n - 1) * s + 1 if n else b, s) for b, n, s in zip(begin, size, strides or [1] * len(begin)))


def take_slice(x, begin, size, strides):
    steps = strides or [1] * x.ndim
    size = [-(-(x.shape[i] - begin[i]) // steps[i]) if n < 0 else n for i, n in enumerate(size)]
    return x[box(begin, size, strides)]


def put_slice(x, shape, begin, strides):
    result = np.zeros(shape, x.dtype)
    result[box(begin, x.shape, strides)] = x
    return result


def add_along(result, indices, updates, axis):
    flat = indices.ravel()
    axis %= result.ndim
    parts = updates.reshape(result.shape[:axis] + (flat.size,) + result.shape[axis + 1 :])
    for k, i in enumerate(flat):
        at = (slice(None),) * axis
        result[at + (i,)] += parts[at + (k,)]
    return result


def add_nd(x, indices, updates):
    result = x.copy()
    for at in np.ndindex(indices.shape[:-1]):
        result[tuple(indices[at])] += updates[at]
    return result


def sorted_positions(x, axis, descending):
    """Stable, NaN last either way."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    moved = np.moveaxis(x, axis, -1)
    order = np.array([sorted(range(moved.shape[-1]), key=lambda i: (row[i] != row[i], -float(row[i]) if row[i] == row[i] else 0, i))
                      for row in moved.reshape(-1, moved.shape[-1])], np.int64)
    return np.moveaxis(order.reshape(moved.shape), -1, axis)


def searchsorted(sorted, values, right):
    places = np.zeros(values.shape, np.int64)
    for row in np.ndindex(values.shape[:-1]):
        places[row] = np.searchsorted(sorted[row], values[row], "right" if right else "left")
    return places


def top_k(x, k):
    order = np.take(sorted_positions(x, -1, True), range(k), -1)
    return [np.take_along_axis(x, order, -1), order]


def before(size, window, stride, dilation, padding, paddings, axis):
    """Cells of padding in front, and the number of results."""
    reach = (window - 1) * dilation + 1
    if padding == "same":
        out = -(-size // stride)
        return max((out - 1) * stride + reach - size, 0) // 2, out
    front, back = paddings[2 * axis : 2 * axis + 2] if padding == "explicit" else (0, 0)
    return front, (size + front + back - reach) // stride + 1


def windows(image, size, strides, dilations, padding, paddings):
    """For each result position and window cell in bounds: (oh, ow, kh, kw, row, column)."""
    (top, oh), (left, ow) = (before(image[1 + i], size[i], strides[i], dilations[i], padding, paddings, i) for i in (0, 1))
    for i, j, p, q in itertools.product(range(oh), range(ow), range(size[0]), range(size[1])):
        row, column = i * strides[0] + p * dilations[0] - top, j * strides[1] + q * dilations[1] - left
        if 0 <= row < image[1] and 0 <= column < image[2]:
            yield i, j, p, q, row, column


def conv_output(image, filter_shape, given):
    dims = [before(image[1 + i], filter_shape[i], given.get("strides", [1, 1])[i], given.get("dilations", [1, 1])[i], given.get("padding", "valid"),
                   given.get("paddings", []), i)[1] for i in (0, 1)]
    return (image[0], *dims, filter_shape[3])


def pool_output(image, given):
    size = given.get("pool_size", [2, 2])
    strides = given.get("strides") or size
    dims = [before(image[1 + i], size[i], strides[i], 1, given.get("padding", "valid"), given.get("paddings", []), i)[1] for i in (0, 1)]
    return (image[0], *dims, image[3])


def conv2d(x, filter, strides, padding, paddings, dilations, groups):
    given = dict(strides=strides, padding=padding, paddings=paddings, dilations=dilations)
    result = np.zeros(conv_output(x.shape, filter.shape, given), x.dtype)
    c, f = filter.shape[2], filter.shape[3] // groups
    for i, j, p, q, row, column in windows(x.shape, filter.shape, strides, dilations, padding, paddings):
        for g in range(groups):
            result[:, i, j, g * f : (g + 1) * f] += x[:, row, column, g * c : (g + 1) * c] @ filter[p, q, :, g * f : (g + 1) * f]
    return result


def conv2d_backward_input(filter, gradient, shape, strides, padding, paddings, dilations, groups):
    dx = np.zeros(shape, filter.dtype)
    c, f = filter.shape[2], filter.shape[3] // groups
    for i, j, p, q, row, column in windows(shape, filter.shape, strides, dilations, padding, paddings):
        for g in range(groups):
            dx[:, row, column, g * c : (g + 1) * c] += gradient[:, i, j, g * f : (g + 1) * f] @ filter[p, q, :, g * f : (g + 1) * f].T
    return dx


def conv2d_backward_filter(x, gradient, shape, strides, padding, paddings, dilations, groups):
    dfilter = np.zeros(shape, x.dtype)
    c, f = shape[2], shape[3] // groups
    for i, j, p, q, row, column in windows(x.shape, shape, strides, dilations, padding, paddings):
        for g in range(groups):
            dfilter[p, q, :, g * f : (g + 1) * f] += x[:, row, column, g * c : (g + 1) * c].T @ gradient[:, i, j, g * f : (g + 1) * f]
    return dfilter


def pool_cells(image, pool_size, strides, padding, paddings):
    cells = {}
    for i, j, _, _, row, column in windows(image, pool_size, strides or pool_size, [1, 1], padding, paddings):
        cells.setdefault((i, j), []).append((row, column))
    return cells


def pool(combine):
    def run(x, pool_size, strides, padding, paddings):
        given = dict(pool_size=pool_size, strides=strides, padding=padding, paddings=paddings)
        result = np.zeros(pool_output(x.shape, given), x.dtype)
        for (i, j), cells in pool_cells(x.shape, **given).items():
            result[:, i, j] = combine(np.stack([x[:, r, c] for r, c in cells]))
        return result

    return run


def max_pool2d_backward(x, gradient, pool_size, strides, padding, paddings):
    dx = np.zeros_like(x)
    for (i, j), cells in pool_cells(x.shape, pool_size, strides, padding, paddings).items():
        best = np.argmax(np.stack([x[:, r, c] for r, c in cells]), 0)
        for n, k in np.ndindex(best.shape):
            r, c = cells[best[n, k]]
            dx[n, r, c, k] += gradient[n, i, j, k]
    return dx


def avg_pool2d_backward(gradient, shape, pool_size, strides, padding, paddings):
    dx = np.zeros(shape, gradient.dtype)
    for (i, j), cells in pool_cells(shape, pool_size, strides, padding, paddings).items():
        for r, c in cells:
            dx[:, r, c] += gradient[:, i, j] / gradient.dtype.type(len(cells))
    return dx


def one_hot(indices, depth, on_value, off_value, axis, dtype):
    hit = indices[..., None] == np.arange(depth)
    return np.moveaxis(np.where(hit, on_value, off_value).astype(dtype), -1, axis)


def layer_normalization(x, scale, offset, axis, epsilon):
    axes = tuple(axis)
    centered = x - np.mean(x, axes, keepdims=True)
    return centered / np.sqrt(np.mean(centered**2, axes, keepdims=True) + epsilon) * scale + offset


def in_top_k(targets, predictions, k):
    own = np.take_along_axis(predictions, targets[:, None], -1)
    return (np.sum(predictions > own, -1) < k) & np.isfinite(own[:, 0])


def philox_words(key, low, high):
    """Philox 4x32-10 (Salmon et al. 2011)."""
    k = [key & 0xFFFFFFFF, key >> 32 & 0xFFFFFFFF]
    c = [low & 0xFFFFFFFF, low >> 32 & 0xFFFFFFFF, high & 0xFFFFFFFF, high >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def philox(key, low, high, shape, first):
    def element(i):
        c = philox_words(int(key), int(low) + (first + i) // 2, int(high))
        at = (first + i) % 2 * 2
        return np.uint64(c[at] | c[at + 1] << 32).astype(np.int64)

    return np.array([element(i) for i in range(math.prod(shape))], np.int64).reshape(shape)


def random_uniform(key, high, shape, dtype):
    def element(i):
        if dtype == np.float32:
            word = philox_words(int(key), i // 4, int(high))[i % 4]
            return (word & 0x7FFFFF) / 2**23
        c = philox_words(int(key), i // 2, int(high))
        return ((c[i % 2 * 2] & 0xFFFFF) << 32 | c[i % 2 * 2 + 1]) / 2**52

    return np.array([element(i) for i in range(math.prod(shape))], dtype).reshape(shape)


def cast(x, dtype):
    """Floats to integers truncate; the values here fit."""
    return x.astype(dtype)


IMPLEMENTATIONS = {
    "full": lambda fill_value, shape: np.broadcast_to(fill_value, shape),
    "one_hot": one_hot,
    "cast": cast,
    "cumsum": scan(np.cumsum, 0),
    "cumprod": scan(np.cumprod, 1),
    "slice": take_slice,
    "slice_backward": put_slice,
    "gather_backward": lambda x, indices, shape, axis: add_along(np.zeros(shape, x.dtype), indices, x, axis),
    "scatter_add": lambda x, indices, updates, axis: add_along(x.copy(), indices, updates, axis),
    "gather_nd": lambda x, indices: x[tuple(np.moveaxis(indices, -1, 0))],
    "tensor_scatter_nd_add": add_nd,
    "scatter_nd": lambda indices, updates, shape: add_nd(np.zeros(shape, updates.dtype), indices, updates),
    "check_range": lambda x, limit: x,
    "argsort_rows": lambda x, descending: sorted_positions(x, -1, descending),
    "argsort": sorted_positions,
    "sort": lambda x, axis, descending: np.take_along_axis(x, sorted_positions(x, axis, descending), axis),
    "searchsorted": searchsorted,
    "top_k": top_k,
    "in_top_k": in_top_k,
    "split": lambda x, sizes, axis: np.split(x, sizes[0] if len(sizes) == 1 else np.cumsum(sizes)[:-1], axis),
    "unstack": lambda x, axis: [np.take(x, i, axis) for i in range(x.shape[axis])],
    "conv2d": conv2d,
    "conv2d_backward_input": conv2d_backward_input,
    "conv2d_backward_filter": conv2d_backward_filter,
    "max_pool2d": pool(lambda cells: np.max(cells, 0)),
    "avg_pool2d": pool(lambda cells: np.mean(cells, 0)),
    "max_pool2d_backward": max_pool2d_backward,
    "avg_pool2d_backward": avg_pool2d_backward,
    "layer_normalization": layer_normalization,
    "philox": philox,
    "random_uniform": random_uniform,
}
