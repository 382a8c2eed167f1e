"""Which shapes and attributes make_vectors.py tries for each op."""
import math

import mpmath
import numpy as np
from numpy_ops import conv_output, pool_output

WIDE = np.longdouble
SAME_VALUE = object()  # -0 may stand for +0
# NumPy does not say which zero these give.
ZERO_SIGN_FREE = {"maximum", "minimum", "relu", "relu6", "clip_by_value", "reduce_max", "reduce_min", "sign", "floordiv", "floormod",
                  "max_pool2d", "sort", "top_k", "dot", "outer", "scatter_add", "gather_backward", "round", "cumsum"}


class WideSpecial:
    """scipy.special's functions in 80 bits where it has only 64."""

    @staticmethod
    def erf(x):
        return np.array([WIDE(mpmath.nstr(mpmath.erf(mpmath.mpf(str(v))), 25)) for v in np.ravel(x)], WIDE).reshape(np.shape(x))

    @staticmethod
    def expit(x):
        x = np.asarray(x, WIDE)
        return 1 / (1 + np.exp(-x))

    @staticmethod
    def logsumexp(x, axis=None, keepdims=False):
        x = np.asarray(x, WIDE)
        top = np.max(x, axis=axis, keepdims=True)
        top = np.where(np.isfinite(top), top, 0)
        total = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
        return total if keepdims else np.squeeze(total, axis)

    @staticmethod
    def log_softmax(x, axis):
        return x - WideSpecial.logsumexp(x, axis, True)

    @staticmethod
    def softmax(x, axis):
        return np.exp(WideSpecial.log_softmax(x, axis))


# ---- Shapes ----------------------------------------------------------------------------------------------------------
UNARY_SHAPES = [(), (0,), (1,), (7,), (3, 5), (2, 1, 11)]
BINARY_SHAPES = [((), ()), ((0,), (0,)), ((33,), (33,)), ((3, 5), ()), ((), (7,)), ((3, 1), (1, 4)), ((2, 3), (3,)), ((3,), (2, 3)),
                 ((0, 3), (1, 3)), ((2, 1, 3), (4, 1))]
TERNARY_SHAPES = [((), (), ()), ((0,), (), (0,)), ((5,), (5,), (5,)), ((3, 1), (4,), ()), ((), (2, 3), (3,))]
FLOAT_SPECIALS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-40, -1e-310, 1e30, math.inf, -math.inf, math.nan]
EXTREMES = {"i32": [0, 1, -1, 7, 2**31 - 1, -(2**31)], "i64": [0, 1, -1, 7, 2**63 - 1, -(2**63)]}
# NumPy rules otherwise than Kiln at the edges of these: shifts by more than the width, bounds in the wrong order.
NO_SPECIALS = {"left_shift", "right_shift", "clip_by_value"}
# Kiln documents a limit: quotients up to 2^46, f64 angles up to 2^51.
MODERATE = {"floordiv", "floormod"}
ANGLES = {"sin", "cos", "tan"}


def specials(op, dtype):
    values = EXTREMES.get(dtype, FLOAT_SPECIALS)
    if op.name in MODERATE:
        values = [v for v in values if not (isinstance(v, float) and (0 < abs(v) < 1e-3 or 1e3 < abs(v) < math.inf))]
    if op.name in ANGLES and dtype == "f64":
        values = [v for v in values if not 2.0**51 < abs(v) < math.inf]
    return np.array(values, {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}[dtype])


def elementwise(op, dtype, draw):
    count = len(op.operands)
    shapes = {1: [(s,) for s in UNARY_SHAPES], 2: BINARY_SHAPES, 3: TERNARY_SHAPES}[count]
    kinds = ["bool" if t == "bool" else dtype for t in op.operand_dtypes]
    for group in shapes:
        yield [draw(s, t, op.domain(i)) for i, (s, t) in enumerate(zip(group, kinds))], {}
    if op.name in NO_SPECIALS or dtype == "bool" or count > 2:
        return
    values = specials(op, dtype)
    if count == 1:
        yield [values], {}
    else:
        yield [np.repeat(values, len(values)), np.tile(values, len(values))], {}


REDUCTIONS = [((), []), ((0,), []), ((1,), []), ((33,), []), ((3, 5), []), ((3, 5), [0]), ((3, 5), [1]), ((3, 5), [-1]), ((0, 3), [0]), ((0, 3), [1]),
              ((2, 3, 5), [0, 2]), ((2, 3, 5), [0, 1]), ((2, 3, 5), [1, 2]), ((4, 1, 6), [0, 2]), ((4200,), []), ((1100, 2), [0])]


def reduction(op, dtype, draw):
    empty_is_error = op.name in ("reduce_max", "reduce_min", "reduce_logsumexp")
    for shape, axis in REDUCTIONS:
        reduced = [shape[a] for a in (axis or range(len(shape)))]
        if 0 in reduced and (empty_is_error or op.name == "reduce_prod"):
            continue
        if math.prod(shape) > 1000 and (dtype != "f32" or op.name not in ("reduce_sum", "reduce_max", "reduce_mean")):
            continue
        for keepdims in (False, True):
            if keepdims and (len(shape) > 2 or math.prod(shape) > 1000):
                continue
            yield [draw(shape, dtype, op.domain(0))], {"axis": axis, "keepdims": keepdims}


SCANS = [{"axis": a, "exclusive": e, "reverse": r} for a in (0, -1) for e in (False, True) for r in (False, True)]
CONVS = [((1, 5, 5, 1), (3, 3, 1, 2), {}), ((2, 7, 6, 3), (3, 2, 3, 4), {"padding": "same", "strides": [2, 1]}),
         ((1, 6, 7, 4), (2, 3, 2, 6), {"padding": "explicit", "paddings": [1, 2, 0, 3], "strides": [1, 2], "groups": 2}),
         ((1, 9, 8, 2), (3, 3, 2, 3), {"dilations": [2, 2], "padding": "same"}), ((1, 4, 4, 2), (1, 1, 2, 3), {"strides": [3, 3]}),
         ((0, 5, 5, 1), (3, 3, 1, 2), {})]
POOLS = [((1, 4, 4, 1), {}), ((2, 5, 7, 3), {"pool_size": [3, 2], "strides": [2, 2], "padding": "same"}),
         ((1, 6, 6, 2), {"pool_size": [3, 3], "strides": [1, 1]}),
         ((1, 5, 5, 2), {"pool_size": [2, 3], "strides": [2, 1], "padding": "explicit", "paddings": [1, 0, 1, 1]})]


def structured(op, dtype, rng, draw):
    """Explicit cases by name: (operands, attributes)."""
    x = lambda *shape, at=0: draw(shape, dtype, op.domain(at))  # noqa: E731
    label = lambda shape, high, kind=np.int32, low=0: rng.integers(low, high, shape).astype(kind)  # noqa: E731
    match op.name:
        case "iota" | "zeros" | "ones":
            for shape in ([], [0], [7], [2, 3]):
                yield [], {"shape": shape, "dtype": dtype}
        case "zeros_like" | "ones_like":
            for shape in UNARY_SHAPES:
                yield [x(*shape)], {}
        case "full":
            yield [x()], {"shape": [2, 3]}
            yield [x(3)], {"shape": [2, 3]}
        case "full_like":
            yield [x(2, 3), x()], {}
        case "eye":
            yield [], {"rows": 3, "dtype": dtype}
            yield [], {"rows": 2, "columns": 4, "dtype": dtype}
            yield [], {"rows": 0, "dtype": dtype}
        case "arange":
            if dtype != "bool":
                yield [], {"start": 0.0, "limit": 5.0, "dtype": dtype}
                yield [], {"start": 7.0, "limit": -2.0, "delta": -3.0, "dtype": dtype}
        case "linspace":
            yield [], {"start": 0.0, "stop": 1.0, "count": 5, "dtype": dtype}
            yield [], {"start": -3.0, "stop": 11.0, "count": 8, "dtype": dtype}
            yield [], {"start": 2.0, "stop": 9.0, "count": 1, "dtype": dtype}
        case "one_hot":
            for kind in (np.int32, np.int64):
                yield [np.array([0, 2, -1, 5, 4], kind)], {"depth": 5, "dtype": dtype}
                yield [label((2, 3), 4, kind)], {"depth": 4, "axis": 1, "on_value": 3.0, "off_value": 1.0, "dtype": dtype}
        case "tril" | "triu":
            for diagonal in (-1, 0, 2):
                yield [x(3, 4)], {"diagonal": diagonal}
            yield [x(2, 2, 2)], {}
        case "cast":
            for to in ("bool", "i32", "i64", "f32", "f64"):
                yield [x(7)], {"dtype": to}
                yield [x()], {"dtype": to}
        case "leaky_relu" | "elu" | "gelu":
            yield from elementwise(op, dtype, draw)
            yield [x(9)], {"gelu": {"approximate": True}}.get(op.name, {"alpha": 0.3})
        case "broadcast_to":
            yield [x()], {"shape": [2, 3]}
            yield [x(3, 1)], {"shape": [2, 3, 4]}
            yield [x(1)], {"shape": [0]}
        case "argmax" | "argmin" | "cumsum" | "cumprod":
            for shape in ((5,), (3, 4), (2, 3, 2)):
                for given in SCANS if op.name.startswith("cum") else ({"axis": 0}, {"axis": -1}):
                    yield [x(*shape)], given
            if op.name.startswith("arg") and dtype in ("f32", "f64"):
                yield [np.array([1, math.nan, 3, math.nan, 3], x().dtype)], {}
                yield [np.array([2, 7, 7, -1, -1, 2], x().dtype)], {}
        case "reshape":
            yield [x(2, 6)], {"shape": [3, 4]}
            yield [x()], {"shape": [1, 1]}
        case "expand_dims":
            yield from (([x(2, 3)], {"axis": a}) for a in (0, 1, 2, -1))
        case "squeeze":
            yield [x(1, 3, 1)], {}
            yield [x(1, 3, 1)], {"axis": [-1]}
        case "identity" | "stop_gradient":
            yield from (([x(*s)], {}) for s in UNARY_SHAPES)
        case "transpose":
            for shape, perm in (((), []), ((3,), []), ((3, 5), []), ((2, 3, 4), [1, 2, 0]), ((2, 3, 4), [0, 2, 1]), ((0, 3), []), ((33, 17), [1, 0]), ((2, 3, 2, 5), [3, 1, 0, 2])):
                yield [x(*shape)], {"perm": perm}
        case "matrix_transpose":
            yield [x(3, 5)], {}
            yield [x(2, 3, 4)], {}
        case "slice":
            yield [x(7)], {"begin": [2], "size": [3]}
            yield [x(4, 6)], {"begin": [1, 0], "size": [-1, 4]}
            yield [x(4, 7)], {"begin": [0, 1], "size": [2, 3], "strides": [3, 2]}
            yield [x(4)], {"begin": [4], "size": [0]}
        case "slice_backward":
            yield [x(3)], {"shape": [7], "begin": [2]}
            yield [x(2, 3)], {"shape": [4, 7], "begin": [0, 1], "strides": [3, 2]}
        case "pad":
            fill = 1.0 if dtype == "bool" else -2.0
            yield [x(3)], {"paddings": [1, 2]}
            yield [x(2, 3)], {"paddings": [0, 1, 2, 0], "constant_value": fill}
            yield [x(0)], {"paddings": [1, 1], "constant_value": fill}
        case "reverse":
            yield [x(5)], {"axis": [0]}
            yield [x(2, 3, 2)], {"axis": [0, -1]}
        case "concat":
            yield [x(3), x(0), x(2)], {"axis": 0}
            yield [x(2, 1), x(2, 3)], {"axis": -1}
            yield [x(2, 3, 1)], {"axis": 1}
        case "stack":
            yield [x(3), x(3)], {}
            yield [x(2, 2), x(2, 2), x(2, 2)], {"axis": -1}
        case "unstack":
            yield [x(3, 2)], {}
            yield [x(2, 3)], {"axis": 1}
        case "split":
            yield [x(6)], {"sizes": [3]}
            yield [x(2, 5)], {"sizes": [1, 4], "axis": 1}
        case "tile":
            yield [x(2)], {"multiples": [3]}
            yield [x(2, 3)], {"multiples": [2, 1]}
            yield [x(2)], {"multiples": [0]}
        case "roll":
            yield [x(5)], {"shift": 2, "axis": 0}
            yield [x(2, 4)], {"shift": -1, "axis": 1}
        case "size":
            yield [x(2, 3)], {}
            yield [x(2, 3)], {"axis": [1], "dtype": "i32"}
        case "gather" | "take":
            low = -4 if op.name == "take" else 0
            for kind in (np.int32, np.int64):
                yield [x(4), label((3,), 4, kind, low)], {}
                yield [x(4, 3), label((2, 2), 4, kind, low)], {}
                yield [x(3, 4, 2), label((), 4, kind, low)], {"axis": 1}
                yield [x(2, 4), label((0,), 4, kind, low)], {"axis": -1}
        case "gather_backward":
            yield [x(5), label((5,), 3)], {"shape": [3]}
            yield [x(2, 4, 3), label((4,), 2, np.int64)], {"shape": [2, 2, 3], "axis": 1}
        case "scatter_add":
            yield [x(3), label((5,), 3), x(5)], {}
            yield [x(2, 3), label((4,), 3, np.int64), x(2, 4)], {"axis": -1}
        case "take_along_axis":
            yield [x(4), label((3,), 4)], {}
            yield [x(3, 4), label((3, 2), 4, np.int64)], {"axis": 1}
            yield [x(3, 4), label((1, 4), 3)], {"axis": 0}
        case "gather_nd":
            yield [x(3, 4), label((5, 2), 3)], {}
            yield [x(3, 4), label((2, 2, 1), 3, np.int64)], {}
        case "tensor_scatter_nd_add":
            yield [x(3, 4), label((5, 2), 3), x(5)], {}
            yield [x(3, 4), label((4, 1), 3, np.int64), x(4, 4)], {}
        case "scatter_nd":
            yield [label((5, 2), 3), x(5)], {"shape": [3, 4]}
        case "check_range":
            yield [label((5,), 9, x().dtype)], {"limit": [9]}
        case "argsort_rows" | "argsort" | "sort":
            for shape in ((7,), (3, 6)):
                for descending in (False, True):
                    yield [x(*shape)], {"descending": descending}
            if op.name != "argsort_rows":
                yield [x(5, 3)], {"axis": 0}
            if dtype in ("f32", "f64"):
                yield [np.array([2, math.nan, -1, 2, math.inf, -math.inf, -1, math.nan], x().dtype)], {}
        case "searchsorted":
            for right in (False, True):
                yield [np.sort(x(9)), x(5)], {"right": right}
                yield [np.sort(x(2, 3, 4)), x(2, 3, 2)], {"right": right}
                yield [x(0), x(3)], {"right": right}
                yield [np.sort(x(3)), x(0)], {"right": right}
        case "top_k":
            for k in (0, 1, 3):
                yield [x(2, 6)], {"k": k}
            yield [x(4)], {"k": 4}
        case "in_top_k":
            yield [label((4,), 6), x(4, 6)], {"k": 2}
        case "matmul":
            for a, b, given in (((3, 4), (4, 5), {}), ((4, 3), (4, 5), {"transpose_x": True}), ((3, 4), (5, 4), {"transpose_y": True}),
                                ((4, 3), (5, 4), {"transpose_x": True, "transpose_y": True}), ((2, 3, 4), (4, 5), {}), ((2, 1, 3, 4), (5, 4, 2), {}),
                                ((0, 4), (4, 5), {}), ((3, 0), (0, 5), {}), ((1, 1), (1, 1), {}), ((17, 33), (33, 9), {})):
                yield [x(*a), x(*b)], given
        case "tensordot":
            yield [x(3, 4), x(4, 5)], {"x_axes": [1], "y_axes": [0]}
            yield [x(2, 3, 4), x(4, 2, 5)], {"x_axes": [2, 0], "y_axes": [0, 1]}
        case "dot":
            yield from (([x(*a), x(*b)], {}) for a, b in (((3,), (3,)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((3,), (2, 3, 4))))
        case "outer":
            yield [x(3), x(4)], {}
        case "bias_add":
            yield [x(2, 3), x(3)], {}
        case "conv2d" | "conv2d_backward_input" | "conv2d_backward_filter":
            for image, filter_shape, given in CONVS:
                a, f = x(*image), x(*filter_shape)
                out = x(*conv_output(image, filter_shape, given))
                yield {"conv2d": ([a, f], given), "conv2d_backward_input": ([f, out], {**given, "shape": list(image)}),
                       "conv2d_backward_filter": ([a, out], {**given, "shape": list(filter_shape)})}[op.name]
        case "max_pool2d" | "avg_pool2d" | "max_pool2d_backward" | "avg_pool2d_backward":
            for image, given in POOLS:
                a = x(*image)
                out = x(*pool_output(image, given))
                yield {"max_pool2d": ([a], given), "avg_pool2d": ([a], given), "max_pool2d_backward": ([a, out], given),
                       "avg_pool2d_backward": ([out], {**given, "shape": list(image)})}[op.name]
        case "softmax" | "log_softmax":
            yield [x(5)], {}
            yield [x(3, 4)], {"axis": 0}
            yield [x(2, 3, 17)], {}
        case "softmax_cross_entropy_with_logits" | "sigmoid_cross_entropy_with_logits":
            yield [x(4, 5), x(4, 5, at=1)], {}
        case "sparse_softmax_cross_entropy_with_logits":
            yield [label((6,), 10), x(6, 10, at=1)], {}
            yield [label((2, 3), 4, np.int64), x(2, 3, 4, at=1)], {}
        case "layer_normalization":
            yield [x(4, 8), x(8), x(8)], {}
            yield [x(2, 3, 4), x(3, 4), x(4)], {"axis": [1, 2], "epsilon": 0.1}
        case "batch_normalization":
            yield [x(6, 3), x(3, at=1), x(3, at=2), x(3, at=3), x(3, at=3)], {}
        case "philox":
            key, low, high = (np.array(v, np.int64) for v in (0x0123456789ABCDEF, 5, -3))
            yield [key, low, high], {"shape": [9]}
            yield [key, low, high], {"shape": [2, 3], "first": 3}
        case "random_uniform":
            yield [np.array(77, np.int64), np.array(-9, np.int64)], {"shape": [3, 5], "dtype": dtype}


def cases_of(op, dtype, rng, draw):
    explicit = list(structured(op, dtype, rng, draw))
    if explicit:
        return explicit
    if op.kind == "reduction" or op.name.startswith("reduce_"):
        return reduction(op, dtype, draw)
    if op.kind == "elementwise" and op.numpy and all(name not in dict((a, 1) for a, _, d in op.attributes if d is None) for name in ("shape", "dtype")):
        return elementwise(op, dtype, draw)
    return []


def terms(op, operands, result):
    """n of the record's accuracy: how many terms one element of the result is made of."""
    if op.name.startswith("conv2d"):
        return max((x.size for x in operands), default=1)
    if op.name in ("matmul", "tensordot", "dot"):
        return max(max(x.shape, default=1) for x in operands)
    if op.name.startswith("cum"):
        return max(operands[0].shape)
    return operands[0].size // max(result.size, 1) if operands else 1


def result_dtype(op, operands, attributes, plain):
    """Of the op as Kiln defines it: NumPy's own where it agrees."""
    if "dtype" in attributes:
        return np.dtype({"bool": np.bool_, "i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64}[attributes["dtype"]])
    if plain.dtype.kind == "f" and operands:
        floats = [x.dtype for x in operands if x.dtype.kind == "f"]
        return floats[0] if floats else plain.dtype
    return plain.dtype
