#!/usr/bin/env python3
"""Fits the polynomials of dialects/kiln/math and writes coefficients.h.

Made with Python 3.12.1, mpmath 1.3.0, gmpy2 2.3.2. Run: python fit.py > coefficients.h
Each fit minimises the largest weighted error by the Remez exchange; then the coefficients are rounded to the target
format one by one, lowest power first, and the rest is fitted again after each.
"""
import functools
import sys

import mpmath as mp
from mpmath import mpf

mp.mp.prec = 160
FORMATS = {"f32": (24, -126), "f64": (53, -1022)}


def rounded(value, dtype):
    """value, rounded to nearest even in the format."""
    value = mpf(value)
    bits, min_exponent = FORMATS[dtype]
    if value == 0:
        return value
    exponent = max(mp.floor(mp.log(abs(value), 2)), min_exponent)
    step = mpf(2) ** (exponent - bits + 1)
    return mp.nint(value / step) * step


def grid(low, high, count):
    """Chebyshev-spaced points, without the ends of a zero weight."""
    return [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (i + mpf(1) / 2) / count) for i in range(count)]


def remez(target, basis, weight, low, high, points=None):
    """Coefficients c with max |weight (target - sum c basis)| least, and that maximum."""
    n = len(basis)
    xs = points or grid(mpf(low), mpf(high), 60 * (n + 2))
    rows = [([b(x) for b in basis], target(x), weight(x)) for x in xs]
    if n == 0:
        return [], max(abs(w * t) for _, t, w in rows)
    picked = [round((len(xs) - 1) * (1 - mp.cos(mp.pi * i / n)) / 2) for i in range(n + 1)]
    best = None
    for _ in range(60):
        matrix = mp.matrix(n + 1, n + 1)
        right = mp.matrix(n + 1, 1)
        for i, p in enumerate(picked):
            b, t, w = rows[p]
            for j in range(n):
                matrix[i, j] = b[j]
            matrix[i, n] = (-1) ** i / w
            right[i] = t
        solution = mp.lu_solve(matrix, right)
        c = [solution[j] for j in range(n)]
        errors = [w * (t - sum(cj * bj for cj, bj in zip(c, b))) for b, t, w in rows]
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[1]:
            best = (c, worst)
        # One extremum per run of equal sign; then drop the smaller ends until n + 1 are left.
        runs = []
        for i, e in enumerate(errors):
            if runs and (e > 0) == (errors[runs[-1]] > 0):
                if abs(e) > abs(errors[runs[-1]]):
                    runs[-1] = i
            else:
                runs.append(i)
        while len(runs) > n + 1:
            if len(runs) == n + 2:
                runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
            else:
                k = min(range(len(runs) - 1), key=lambda i: max(abs(errors[runs[i]]), abs(errors[runs[i + 1]])))
                del runs[k : k + 2]
        if len(runs) < n + 1 or worst <= abs(solution[n]) * mpf("1.001"):
            break
        picked = runs
    return best


def fit(target, powers, weight, low, high, dtype):
    """A polynomial over the given powers of x, rounded to dtype, and its weighted error."""

    def error_of(c):
        return max(abs(weight(x) * (target(x) - sum(a * x**p for a, p in zip(c, powers)))) for x in points)

    points = grid(mpf(low), mpf(high), 1000)
    at_once, fixed = None, []
    while len(fixed) < len(powers):
        rest = powers[len(fixed) :]

        def remaining(x):
            return target(x) - sum(c * x**p for c, p in zip(fixed, powers))

        try:
            c, _ = remez(remaining, [lambda x, p=p: x**p for p in rest], weight, low, high)
        except ZeroDivisionError:  # an odd power alone on an interval around 0: keep the fit before
            c = c[1:]
        at_once = at_once or [rounded(a, dtype) for a in c]
        fixed.append(rounded(c[0], dtype))
    return min(((c, error_of(c)) for c in (fixed, at_once)), key=lambda pair: pair[1])


def emit(name, coefficients, text, error=None):
    tail = "" if error is None else f" Error of the fit: 2^{mp.nstr(mp.log(error, 2), 4)}."
    print(f"// {text}{tail}")
    print(f"inline constexpr double {name}[] = {{{', '.join(float(c).hex() for c in coefficients)}}};\n")
    if error is not None:
        print(f"{name}: 2^{mp.nstr(mp.log(error, 2), 4)}", file=sys.stderr)


def split(value, bits_each, dtype):
    """value = a + b + ...: each part but the last has at most the given number of bits."""
    parts = []
    for bits in bits_each:
        exponent = mp.floor(mp.log(abs(value), 2))
        step = mpf(2) ** (exponent - bits + 1)
        part = mp.floor(value / step) * step if value > 0 else mp.ceil(value / step) * step
        parts.append(part)
        value -= part
    return parts + [rounded(value, dtype)]



def over_square(function, value_at_zero):
    """g with g(x^2) = function(x)/x."""

    def g(z):
        return function(mp.sqrt(z)) / mp.sqrt(z) if z > 0 else mpf(value_at_zero)

    return g


def emit_exponential():
    half_ln2 = mp.log(2) / 2 * mpf("1.002")
    half = mpf("0.5005")
    for dtype, degree, degree2 in (("f32", 6, 6), ("f64", 11, 12)):
        c, e = fit(lambda r: mp.exp(r) - 1 - r, list(range(2, degree + 1)), lambda r: 1 / mp.exp(r), -half_ln2, half_ln2, dtype)
        emit(f"exp_{dtype}", [1, 1] + c, "exp(r) on |r| <= ln(2)/2.", e)
        c, e = fit(lambda r: 2**r - 1, list(range(1, degree2 + 1)), lambda r: 2**-r, -half, half, dtype)
        emit(f"exp2_{dtype}", [1] + c, "2^r on |r| <= 1/2.", e)
        emit(f"ln2_{dtype}", split(mp.log(2), [17 if dtype == "f32" else 42], dtype), "ln(2) in two parts; the first times an exponent is exact.")
        emit(f"log2e_{dtype}", split(1 / mp.log(2), [24 if dtype == "f32" else 53], dtype), "log2(e) in two parts.")
        emit(f"log10e_{dtype}", split(1 / mp.log(10), [24 if dtype == "f32" else 53], dtype), "log10(e) in two parts.")
        emit(f"log10_2_{dtype}", split(mp.log10(2), [17 if dtype == "f32" else 42], dtype), "log10(2) in two parts; the first times an exponent is exact.")


def emit_logarithm():
    low, high = mp.sqrt(mpf(1) / 2) - 1, mp.sqrt(2) - 1
    c, e = fit(lambda f: mp.log1p(f) - f + f * f / 2, list(range(3, 11)), lambda f: 1 / mp.log1p(f), low, high, "f32")
    emit("log_f32", c, "(log(1+f) - f + f^2/2) / f^3 on sqrt(1/2) <= 1+f <= sqrt(2).", e)
    series = over_square(lambda s: 2 * mp.atanh(s), 2)
    square = (high / (2 + high)) ** 2 * mpf("1.001")
    tiny = mpf(10) ** -20
    for name, terms in (("log_f64", 7), ("log_short_f64", 5)):
        c, e = fit(lambda z: series(z) - 2, list(range(1, terms + 1)), lambda z: 1 / series(z), tiny, square, "f64")
        emit(name, c, "(log((1+s)/(1-s)) - 2s) / s^3 over z = s^2, |s| <= 3 - 2 sqrt(2).", e)

    def tail(z):
        return mp.fsum(z ** (k - 2) / (2 * k + 1) for k in range(2, 50))

    c, e = fit(tail, list(range(8)), lambda z: z * z, tiny, square, "f64")
    emit("log_tail_f64", c, "(atanh(s)/s - 1 - z/3) / z^2 over z = s^2 on the same.", e)
    emit("third_f64", split(mpf(1) / 3, [53], "f64"), "1/3 in two parts.")
    low, high = mp.sqrt(mpf(1) / 2) * mpf("0.999"), mp.sqrt(2) * mpf("1.001")
    c, e = fit(mp.cbrt, list(range(4)), lambda m: 1 / mp.cbrt(m), low, high, "f64")
    emit("cbrt_f64", c, "The cube root on sqrt(1/2) <= m <= sqrt(2), a first guess.", e)
    emit("cbrt2_f64", [rounded(mp.cbrt(mpf(1) / 2), "f64"), rounded(mp.cbrt(2), "f64")], "The cube roots of 1/2 and 2.")


def emit_trigonometric():
    tiny = mpf(10) ** -20
    sine = over_square(mp.sin, 1)
    for name, terms, limit in (("short_", 4, "0.787"), ("", 7, "0.88")):
        quarter = mpf(limit) ** 2
        c, e = fit(lambda z: sine(z) - 1, list(range(1, terms + 1)), lambda z: 1 / sine(z), tiny, quarter, "f64")
        emit(f"sin_{name}f64", c, f"(sin(r) - r) / r^3 over z = r^2, |r| <= {limit}.", e)
        c, e = fit(lambda z: mp.cos(mp.sqrt(z)) - 1 + z / 2, list(range(2, terms + 2)), lambda z: 1 / mp.cos(mp.sqrt(z)), tiny, quarter, "f64")
        emit(f"cos_{name}f64", c, f"(cos(r) - 1 + r^2/2) / r^4 over z = r^2, |r| <= {limit}.", e)
    emit("half_pi_f64", split(mp.pi / 2, [53, 53], "f64"), "pi/2 in three parts.")
    emit("two_over_pi_f64", [rounded(2 / mp.pi, "f64")], "2/pi.")
    # Windows of the bits of 2/pi for arguments x of 24 bits with exponents from `low` up to the next window's: bits
    # whose product with x is a multiple of 4 are left out.
    print("// 2/pi for f32 arguments from 2^0, 2^48, 2^75 and 2^102 on: 29 bits, 29 bits, the rest. Bits that give multiples of 4 are left out.")
    print("inline constexpr double two_over_pi_windows[4][3] = {")
    for low in (0, 48, 75, 102):
        value = 2 / mp.pi
        if low:
            step = mpf(2) ** (25 - low)
            value -= mp.floor(value / step) * step
        parts, top = [], (25 - low) if low else 0
        for k in (1, 2):
            step = mpf(2) ** (top - 29 * k)
            part = mp.floor(value / step) * step
            parts.append(part)
            value -= part
        parts.append(rounded(value, "f64"))
        print("    {" + ", ".join(float(p).hex() for p in parts) + "},")
    print("};\n")
    arc = over_square(mp.atan, 1)
    c, e = fit(lambda z: arc(z) - 1, list(range(1, 12)), lambda z: 1 / arc(z), tiny, (mp.sqrt(2) - 1) ** 2 * mpf("1.001"), "f64")
    emit("atan_f64", c, "(atan(t) - t) / t^3 over z = t^2, |t| <= tan(pi/8).", e)
    arc_sine = over_square(mp.asin, 1)
    c, e = fit(lambda z: arc_sine(z) - 1, list(range(1, 14)), lambda z: 1 / arc_sine(z), tiny, mpf("0.2501"), "f64")
    emit("asin_f64", c, "(asin(s) - s) / s^3 over z = s^2, |s| <= 1/2.", e)


def emit_error_function():
    tiny = mpf(10) ** -20
    series = over_square(mp.erf, 2 / mp.sqrt(mp.pi))
    for dtype, terms in (("f32", 7), ("f64", 12)):
        c, e = fit(lambda z: series(z) - 1, list(range(terms)), lambda z: 1 / series(z), tiny, 1, dtype)
        emit(f"erf_{dtype}", c, "erf(x)/x - 1 over z = x^2, |x| <= 1.", e)
    middle, low = mpf("2.46"), mpf("0.6")
    c, e = fit(lambda u: mp.erfc(u + middle) ** (mpf(1) / 4), list(range(9)), lambda u: 4 * mp.erfc(u + middle) ** (mpf(3) / 4), 1 - middle, mpf("3.92") - middle, "f32")
    emit("erfc_root_f32", c, "erfc(2.46 + u)^(1/4) on 1 <= 2.46 + u <= 3.92; error of its fourth power, absolute.", e)
    for dtype, terms, k, top in (("f32", 9, mpf(2), mpf("10.2")), ("f64", 22, mpf(5), mpf("27.3"))):

        @functools.cache
        def scaled(t, k=k):
            a = k * (1 + t) / (1 - t)
            return (1 + 2 * a) * mp.exp(a * a) * mp.erfc(a)

        c, e = fit(scaled, list(range(terms)), lambda t: 1 / scaled(t), (low - k) / (low + k), (top - k) / (top + k), dtype)
        emit(f"erfc_{dtype}", c, f"(1+2a) e^(a^2) erfc(a) on 0.6 <= a <= {mp.nstr(top, 3)} over t = (a-{mp.nstr(k, 3)})/(a+{mp.nstr(k, 3)}) (Shepherd and Laframboise 1981).", e)


def main():
    print("// Coefficients of the math functions, lowest power first. Made by fit.py; do not edit.")
    print("#pragma once\n\nnamespace kiln::strict {\n")
    print("// clang-format off")
    emit_exponential()
    emit_logarithm()
    emit_trigonometric()
    emit_error_function()
    print("// clang-format on\n\n}  // namespace kiln::strict")


if __name__ == "__main__":
    main()
