#!/usr/bin/env python3
"""Writes vectors.bin: inputs and expected results of every op with a public function, for the op tests.

Made with Python 3.12.1, NumPy 2.5.5, mpmath 1.3.0. Run from the repository's root:
    llvm-tblgen-22 -dump-json -I . -I $(llvm-config-22 --includedir) dialects/kiln/ops/ops.td > ops.json
    python test/golden/make_vectors.py ops.json [FILE]
The op list, dtypes, domains, accuracies and NumPy expressions come from the records; cases.py says which shapes and
attributes to try, numpy_ops.py holds NumPy code for ops without an expression. Results with a tolerance are computed in 80-bit
floats. test/golden/vectors.h reads the file and describes its format.
"""
import json
import math
import pathlib
import re
import struct
import sys
import warnings

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cases  # noqa: E402
import numpy_ops  # noqa: E402

DTYPES = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"]  # by DType number
NUMPY = {"bool": np.bool_, "i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64}
KINDS = ["Bool", "Int", "Float", "DType", "String", "Ints", "Dims"]  # by AttributeKind number
WIDE = np.longdouble
NAME_OF = {np.dtype(v): k for k, v in NUMPY.items()}


class Op:
    def __init__(self, record, everything):
        self.name = record["opName"]
        self.kind = record["kind"]
        self.dtypes = record["dtypes"]
        self.promotions = dict(p.split("->") for p in record["promotions"])
        self.numpy = record["numpy"]
        self.accuracy = record["accuracy"]
        pairs = [float(d) for d in record["domain"]]
        self.domains = list(zip(pairs[::2], pairs[1::2]))
        self.operands, self.attributes, self.variadic = [], [], False
        for definition, name in record["arguments"]["args"]:
            arg = everything[definition["def"]]
            if definition["def"] == "Kiln_Tensor":
                self.operands.append(name)
            elif "Variadic" in arg["!superclasses"]:
                self.operands.append(name)
                self.variadic = True
            else:
                kind = arg["baseAttr"]["def"] if "Default" in arg["!superclasses"] else definition["def"]
                kind = kind.removeprefix("Kiln_")
                self.attributes.append((name, kind, parse_default(arg.get("cppDefault"), kind)))
        types = record["operand_dtypes"]
        self.operand_dtypes = [types[i] if i < len(types) else "T" for i in range(len(self.operands))]

    def domain(self, i):
        return self.domains[min(i, len(self.domains) - 1)]

    def all_dtypes(self):
        return [t for t in NUMPY if t in self.dtypes or t in self.promotions]


def parse_default(text, kind):
    if text is None:
        return None
    if text.startswith("{"):
        return [int(t) for t in text.strip("{}").split(",") if t.strip()]
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("DType::"):
        return text.removeprefix("DType::")
    if text.startswith('"'):
        return text.strip('"')
    return int(text) if kind == "Int" else float(text)


def drawn(rng, shape, dtype, domain):
    low, high = domain
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype in ("i32", "i64"):
        return rng.integers(math.ceil(low), math.floor(high) + 1, shape).astype(NUMPY[dtype])
    return np.asarray(rng.uniform(low, high, shape)).astype(NUMPY[dtype])


def evaluate(op, operands, attributes):
    """The op in NumPy on the operands as they are; a list of results."""
    names = dict(attributes)
    if "dtype" in names:
        names["dtype"] = NUMPY[names["dtype"]]
    if op.variadic:
        names[op.operands[0]] = operands
    else:
        names.update(zip(op.operands, operands))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if op.name in numpy_ops.IMPLEMENTATIONS:
            result = numpy_ops.IMPLEMENTATIONS[op.name](**names)
        else:
            result = eval(op.numpy, {"np": np, "sp": cases.WideSpecial, "abs": np.abs}, names)
    return list(result) if isinstance(result, (list, tuple)) else [np.asarray(result)]


def widened(operands):
    return [x.astype(WIDE) if x.dtype.kind == "f" else x for x in operands]


def spacing(value, dtype):
    """One unit in the last place of the dtype at each value."""
    kind = np.finfo(dtype)
    finite = np.where(np.isfinite(value), np.abs(value), 0).astype(WIDE)
    _, exponent = np.frexp(np.maximum(finite, WIDE(kind.tiny)))
    return np.ldexp(WIDE(1), exponent - 1 - kind.nmant)


def tolerance(op, operands, attributes, result, dtype):
    """None: the bits must agree; else the largest allowed error of each element, by the record's `accuracy`."""
    if dtype.kind != "f" or op.accuracy == "exact":
        return None
    factor, unit, rest = re.fullmatch(r"(.*?)\s*(eps|ulp)(.*)", op.accuracy).groups()
    count = max(cases.terms(op, operands, result), 1)
    scale = WIDE(1)
    for word in factor.split():
        scale = scale * {"n": count, "log2(n)": max(math.log2(count), 1)}.get(word, 0) if not word.isdigit() else scale * int(word)
    half = spacing(result, dtype) / 2  # the stored result is itself rounded
    if unit == "ulp":
        at = result
        if rest:
            name = re.fullmatch(r" of max\(\|(\w+)\|, 1\)", rest).group(1)
            value = result if name == "result" else dict(zip(op.operands, operands))[name]
            at = np.maximum(np.abs(np.broadcast_to(value, result.shape)), 1)
        return scale * spacing(at, dtype) + half
    eps = WIDE(np.finfo(dtype).eps)
    if rest.startswith(" max|"):
        largest = np.max(np.abs(operands[0])) if operands[0].size else 0
        return scale * eps * largest ** (2 if rest.endswith("^2") else 1) * np.ones(result.shape, WIDE) + half
    size = evaluate(op, [np.abs(x) if x.dtype.kind == "f" else x for x in operands], attributes)[0]
    return scale * eps * np.abs(size) + half


class Writer:
    def __init__(self):
        self.data, self.count = bytearray(), 0

    def text(self, s):
        self.data += struct.pack("<B", len(s)) + s.encode()

    def array(self, a):
        a = np.asarray(a, order="C")
        self.data += struct.pack("<BB", DTYPES.index(NAME_OF[a.dtype]), a.ndim) + struct.pack(f"<{a.ndim}q", *a.shape) + a.tobytes()

    def attribute(self, name, kind, value):
        self.text(name)
        self.data += struct.pack("<B", KINDS.index(kind))
        if kind == "Bool":
            self.data += struct.pack("<B", value)
        elif kind == "Int":
            self.data += struct.pack("<q", int(value))
        elif kind == "Float":
            self.data += struct.pack("<d", value)
        elif kind == "DType":
            self.data += struct.pack("<B", DTYPES.index(value))
        elif kind == "String":
            self.text(value)
        else:
            self.data += struct.pack(f"<B{len(value)}q", len(value), *value)

    def case(self, op, operands, attributes, results):
        self.count += 1
        self.text(op.name)
        self.data += struct.pack("<B", len(op.attributes))
        for name, kind, _ in op.attributes:
            self.attribute(name, kind, attributes[name])
        self.data += struct.pack("<B", len(operands))
        for x in operands:
            self.array(x)
        self.data += struct.pack("<B", len(results))
        for value, allowed in results:
            self.array(value)
            uniform = allowed is None or allowed is cases.SAME_VALUE
            self.data += struct.pack("<B", 0 if allowed is None else 1 if uniform else 2)
            if not uniform:
                with np.errstate(over="ignore"):
                    self.data += np.asarray(allowed, order="C").astype(value.dtype).tobytes()

    def file(self):
        return b"KILNVEC1" + struct.pack("<I", self.count) + bytes(self.data)


def add_case(writer, op, operands, given):
    attributes = {name: given.get(name, default) for name, _, default in op.attributes}
    promoted = [x.astype(NUMPY[op.promotions[NAME_OF[x.dtype]]]) if t == "T" and NAME_OF[x.dtype] in op.promotions else x
                for x, t in zip(operands, op.operand_dtypes * (len(operands) if op.variadic else 1))]
    narrow = evaluate(op, promoted, attributes)
    results = []
    wide = evaluate(op, widened(promoted), attributes) if op.accuracy != "exact" else narrow
    for plain, value in zip(narrow, wide):
        dtype = cases.result_dtype(op, promoted, attributes, plain)
        allowed = tolerance(op, widened(promoted), attributes, value, dtype)
        if allowed is None and op.name in cases.ZERO_SIGN_FREE:
            allowed = cases.SAME_VALUE
        with np.errstate(all="ignore"):
            results.append((np.asarray(value).astype(dtype), allowed))
    writer.case(op, operands, attributes, results)


def main():
    everything = json.load(open(sys.argv[1]))
    path = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).parent / "vectors.bin"
    writer = Writer()
    skipped = []
    for key in everything["!instanceof"]["Kiln_Record"]:
        record = everything[key]
        if not record["is_public"]:
            continue
        op = Op(record, everything)
        before = writer.count
        for dtype in op.all_dtypes():
            rng = np.random.default_rng([sum(op.name.encode()), DTYPES.index(dtype)])
            for operands, attributes in cases.cases_of(op, dtype, rng, lambda s, t, d: drawn(rng, s, t, d)):
                try:
                    add_case(writer, op, [np.asarray(x) for x in operands], attributes)
                except Exception as e:
                    e.add_note(f"{op.name} {dtype} {[np.shape(x) for x in operands]} {attributes}")
                    raise
        if writer.count == before:
            skipped.append(op.name)
    path.write_bytes(writer.file())
    print(f"{path}: {writer.count} cases, {len(writer.file())} bytes; without cases: {', '.join(skipped)}")


if __name__ == "__main__":
    main()
