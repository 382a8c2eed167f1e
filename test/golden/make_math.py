#!/usr/bin/env python3
"""Writes math_f32.txt and math_f64.txt: correctly rounded values of the math functions at edges and random points.

Made with Python 3.12.1, gmpy2 2.3.2 (MPFR 4.2), whose functions are correctly rounded, subnormals included, and give
C99 Annex F's special values. Run: python make_math.py [FOLDER]
Each line: function, argument bits (two for pow and atan2), result bits, in hex; any NaN is written "nan".
"""
import pathlib
import random
import struct
import sys

import gmpy2

FORMATS = {"f32": ("f", "I", 24, 128), "f64": ("d", "Q", 53, 1024)}
WIDE = gmpy2.context(precision=400, emin=-(10**8), emax=10**8)

# name: (function, ranges where results vary)
UNARY = {
    "exp": (gmpy2.exp, [(-104, 89), (-745, 710), (-1, 1)]),
    "exp2": (gmpy2.exp2, [(-150, 128), (-1075, 1024), (-1, 1)]),
    "expm1": (gmpy2.expm1, [(-40, 89), (-2, 2), (-0.01, 0.01)]),
    "log": (gmpy2.log, [(0, 10), (0.5, 2), (0.99, 1.01)]),
    "log2": (gmpy2.log2, [(0, 10), (0.5, 2), (0.99, 1.01)]),
    "log10": (gmpy2.log10, [(0, 10), (0.5, 2), (0.99, 1.01)]),
    "log1p": (gmpy2.log1p, [(-1, 10), (-0.5, 1), (-0.01, 0.01)]),
    "sin": (gmpy2.sin, [(-10, 10), (-1e5, 1e5), (-1e9, 1e9)]),
    "cos": (gmpy2.cos, [(-10, 10), (-1e5, 1e5), (-1e9, 1e9)]),
    "tan": (gmpy2.tan, [(-10, 10), (-1e5, 1e5), (-1e9, 1e9)]),
    "asin": (gmpy2.asin, [(-1, 1), (0.49, 0.51), (0.99, 1)]),
    "acos": (gmpy2.acos, [(-1, 1), (-0.51, -0.49), (0.99, 1)]),
    "atan": (gmpy2.atan, [(-1, 1), (-10, 10), (-0.01, 0.01)]),
    "sinh": (gmpy2.sinh, [(-90, 90), (-711, 711), (-1, 1)]),
    "cosh": (gmpy2.cosh, [(-90, 90), (-711, 711), (-1, 1)]),
    "tanh": (gmpy2.tanh, [(-10, 10), (-20, 20), (-1, 1)]),
    "asinh": (gmpy2.asinh, [(-10, 10), (-1, 1), (-0.01, 0.01)]),
    "acosh": (gmpy2.acosh, [(1, 1.01), (1, 10), (1, 1e6)]),
    "atanh": (gmpy2.atanh, [(-1, 1), (-0.1, 0.1), (0.99, 1)]),
    "erf": (gmpy2.erf, [(-4, 4), (-1, 1), (-0.01, 0.01)]),
    "erfc": (gmpy2.erfc, [(-4, 4), (0, 10.1), (0, 27)]),
    "cbrt": (gmpy2.cbrt, [(-10, 10), (-1, 1), (0, 1000)]),
    "rsqrt": (gmpy2.rec_sqrt, [(0, 10), (0, 1000), (0, 1e-3)]),
    "sigmoid": (None, [(-104, 20), (-745, 40), (-2, 2)]),
}
BINARY = {
    "pow": (lambda x, y: x**y, [((0, 10), (-10, 10)), ((0.9, 1.1), (-500, 500)), ((0, 100), (-3, 3))]),
    "atan2": (gmpy2.atan2, [((-1, 1), (-1, 1)), ((-1, 1), (-100, 100)), ((-100, 100), (-1, 1))]),
}


def to_bits(value, dtype):
    kind, unsigned, _, _ = FORMATS[dtype]
    try:
        return struct.unpack(unsigned, struct.pack(kind, value))[0]
    except OverflowError:
        return to_bits(float("inf") if value > 0 else float("-inf"), dtype)


def from_bits(bits, dtype):
    kind, unsigned, _, _ = FORMATS[dtype]
    return struct.unpack(kind, struct.pack(unsigned, bits))[0]


def context(dtype):
    _, _, precision, emax = FORMATS[dtype]
    return gmpy2.context(precision=precision, emax=emax, emin=4 - emax - precision, subnormalize=True)


def sigmoid(x):
    return 1 / (1 + gmpy2.exp(-x))


def evaluate(name, function, arguments, dtype):
    values = [gmpy2.mpfr(a, 60) for a in arguments]
    if name == "rsqrt" and values[0] == 0:  # IEEE 754 keeps the sign, MPFR does not
        return to_bits(float("inf") if gmpy2.is_signed(values[0]) == 0 else float("-inf"), dtype)
    if name == "sigmoid":
        with WIDE:
            exact = sigmoid(values[0])
        with context(dtype):
            rounded = exact + 0
        return None if gmpy2.is_nan(rounded) else to_bits(float(rounded), dtype)
    with context(dtype):
        result = function(*values)
    return None if gmpy2.is_nan(result) else to_bits(float(result), dtype)


def edges(dtype):
    _, unsigned, precision, emax = FORMATS[dtype]
    width = 8 * struct.calcsize(unsigned)
    infinity = (2 * emax - 1) << (precision - 1)
    smallest_normal = 1 << (precision - 1)
    positive = [0, 1, 2, smallest_normal - 1, smallest_normal, smallest_normal + 1, infinity - 1, infinity, infinity | 1 << (precision - 2)]
    numbers = [0.5, 1, 1.5, 2, 3, 4, 10, 0.25, 0.1, 0.7071067811865476, 1.5707963267948966, 3.141592653589793, 88.72283, 710.4]
    positive += [to_bits(n, dtype) for n in numbers]
    positive += [to_bits(1, dtype) + 1, to_bits(1, dtype) - 1, to_bits(0.5, dtype) + 1, to_bits(0.5, dtype) - 1]
    return [b | s << (width - 1) for b in positive for s in (0, 1)]




def write(path, dtype):
    rng = random.Random(3)
    width = 8 * struct.calcsize(FORMATS[dtype][1])
    digits = width // 4
    lines = []

    def add(name, function, bits):
        if dtype == "f64" and name in ("sin", "cos", "tan") and 2.0**51 < abs(from_bits(bits[0], dtype)) < float("inf"):
            return  # beyond the documented range
        result = evaluate(name, function, [from_bits(b, dtype) for b in bits], dtype)
        text = "nan" if result is None else f"{result:0{digits}x}"
        lines.append(" ".join([name] + [f"{b:0{digits}x}" for b in bits] + [text]))

    def drawn(ranges):
        low, high = ranges[rng.randrange(len(ranges))]
        return to_bits(rng.uniform(low, high), dtype)

    for name, (function, ranges) in UNARY.items():
        for bits in edges(dtype) + [drawn(ranges) for _ in range(110)] + [rng.getrandbits(width) for _ in range(40)]:
            add(name, function, [bits])
    special = [to_bits(v, dtype) for v in (0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, float("inf"), float("-inf"), float("nan"))]
    for name, (function, ranges) in BINARY.items():
        for bits in ([x, y] for x in special for y in special):
            add(name, function, bits)
        for _ in range(150):
            x, y = ranges[rng.randrange(len(ranges))]
            add(name, function, [to_bits(rng.uniform(*x), dtype), to_bits(rng.uniform(*y), dtype)])
        for _ in range(40):
            add(name, function, [rng.getrandbits(width), rng.getrandbits(width)])
    path.write_text("\n".join(lines) + "\n")
    print(path, len(lines))


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for dtype in FORMATS:
        write(folder / f"math_{dtype}.txt", dtype)


if __name__ == "__main__":
    main()
