"""Tests of kiln and kiln-bench as programs: output, errors of one clear line, exit codes (2 misuse, 1 failure).

Usage: cli_test.py BIN_FOLDER
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

BIN = sys.argv.pop(1)
PROGRAM = os.path.join(BIN, "cli_program")
STAGES = ["kiln", "fused", "linalg", "loops", "kernels", "llvm", "assembly"]


def kiln(*args, tool="kiln"):
    return subprocess.run([os.path.join(BIN, tool), *args], capture_output=True, text=True, timeout=120)


class Case(unittest.TestCase):
    def ok(self, *args, tool="kiln"):
        done = kiln(*args, tool=tool)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def error(self, code, text, *args, tool="kiln"):
        """Fails with the exit code and one line on stderr that has the text in it."""
        done = kiln(*args, tool=tool)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done


class General(Case):
    def test_help_and_version(self):
        help_text = self.ok("help")
        for name in ("kiln ir", "kiln info", "kiln run", "kiln ops", "kiln opt", *STAGES):
            self.assertIn(name, help_text)
        self.assertRegex(self.ok("--version"), r"^kiln \d+\.\d+\.\d+\n$")

    def test_misuse(self):
        self.error(2, "a command is needed")
        self.error(2, "'frobnicate'", "frobnicate")

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([os.path.join(BIN, "kiln"), "ops"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write", done.stderr)


class Ops(Case):
    def test_list_and_count(self):
        lines = self.ok("ops").splitlines()
        self.assertEqual(int(self.ok("ops", "--count")), len(lines))
        self.assertTrue(any(line.startswith("matmul ") for line in lines))

    def test_one(self):
        text = self.ok("ops", "matmul")
        self.assertIn("transpose_x", text)
        self.assertIn("C2:", text)
        self.assertIn("reduce_sum", self.ok("ops", "sum"))  # an alias

    def test_misuse(self):
        self.error(2, "'nope'", "ops", "nope")
        self.error(2, "--nope", "ops", "--nope")


class Ir(Case):
    def test_every_stage(self):
        for stage in STAGES:
            text = self.ok("ir", PROGRAM, "compile", "--function", "scale", "--stage", stage)
            self.assertIn(f"// scale, compilation 1, stage {stage}\n", text)
            self.assertNotIn("own output", text)
            if stage == "assembly":
                self.assertIn("ret", text)
                continue
            self.assertIn("program.cpp\":", text)  # the user's file and line
            with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
                file.write(text)
                file.flush()
                self.ok(file.name, tool="kiln-opt")
        self.assertEqual(self.ok("ir", PROGRAM, "compile", "--function", "scale", "--stage", "asm"), text)

    def test_all_functions(self):
        text = self.ok("ir", PROGRAM, "compile")
        self.assertEqual([line for line in text.splitlines() if line.startswith("// ") and "compilation" in line],
                         [f"// {name}, compilation {i}, stage kiln" for i, name in enumerate(("twice", "scale", "twice"))])

    def test_all_stages_diff_times(self):
        text = self.ok("ir", PROGRAM, "compile", "--all", "--times", "--function=twice")
        for stage in STAGES:
            self.assertIn(f", stage {stage}\n", text)
        self.assertRegex(text, r"// twice, stage fused: \d+\.\d{3} ms\n")
        diff = self.ok("ir", PROGRAM, "compile", "--diff", "--function=scale", "--stage=fused")
        self.assertIn("--- scale, stage kiln\n+++ scale, stage fused\n@@", diff)

    def test_program_is_stopped_once_its_function_is_compiled(self):
        self.assertIn("// scale,", self.ok("ir", PROGRAM, "endless", "--function", "scale"))

    def test_failures(self):
        self.error(1, "compiled no function", "ir", PROGRAM, "nothing")
        self.error(1, "signal 11", "ir", PROGRAM, "crash")
        self.error(1, "it compiled: twice, scale", "ir", PROGRAM, "compile", "--function", "nope")
        self.error(1, "No such file", "ir", "./no_such_program")
        done = self.error(1, "exited with code 3", "ir", PROGRAM, "fail")
        self.assertIn("// twice,", done.stdout)  # what there was before

    def test_misuse(self):
        self.error(2, "there is no stage 'nope'", "ir", PROGRAM, "--stage", "nope")
        self.error(2, "needs a value", "ir", PROGRAM, "--stage")
        self.error(2, "a program", "ir")
        self.error(2, "--nope", "ir", "--nope", PROGRAM)
        self.error(2, "--stage or --all", "ir", PROGRAM, "--all", "--stage", "kiln")


class Model(Case):
    """A saved model with serve(x) = x @ [[1, 2], [3, 4]] + 1 and count() = (calls, 2.5 calls) after calls += 1."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.model = os.path.join(cls.folder.name, "model.kiln")
        subprocess.run([PROGRAM, "save", cls.model], check=True, stdout=subprocess.DEVNULL)
        cls.x = os.path.join(cls.folder.name, "x.npy")
        write_npy(cls.x, "<f4", (3, 2), struct.pack("<6f", 1, 0, 0, 1, 1, 1))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_info(self):
        text = self.ok("info", self.model)
        self.assertIn("serve(x: f32[batch,2]) -> f32[batch,2]", text)
        self.assertIn("count() -> f32[], f32[]", text)
        self.assertRegex(text, r"w +f32\[2,2\], 16 bytes")

    def test_ir(self):
        for stage in STAGES[:-1]:
            text = self.ok("ir", self.model, "--function", "serve", "--stage", stage)
            self.assertIn("program.cpp\":", text)
        self.assertIn("// count,", self.ok("ir", self.model))
        self.error(2, "it has: serve, count", "ir", self.model, "--function", "nope")

    def test_run(self):
        y = os.path.join(self.folder.name, "y.npy")
        self.ok("run", self.model, "--function", "serve", "--input", self.x, "--output", y)
        with open(y, "rb") as file:
            data = file.read()
        self.assertIn(b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", data)
        self.assertEqual(struct.unpack("<6f", data[-24:]), (2, 3, 4, 5, 5, 7))
        self.assertIn("[5, 7]", self.ok("run", self.model, "--function=serve", "--input", self.x))
        self.assertEqual(self.ok("run", self.model, "--function", "count"), "1  f32[] cpu\n2.5  f32[] cpu\n")

    def test_errors(self):
        self.error(2, "needs 1 --input, got 0", "run", self.model, "--function", "serve")
        self.error(2, "it has: serve, count", "run", self.model, "--function", "nope")
        self.error(2, "which function", "run", self.model)
        self.error(1, "no_such.kiln", "info", "no_such.kiln")
        self.error(1, "no_such.npy", "run", self.model, "--function", "serve", "--input", "no_such.npy")
        wrong = os.path.join(self.folder.name, "wrong.npy")
        write_npy(wrong, "<f4", (2, 3), bytes(24))
        self.error(1, "f32[2,3]", "run", self.model, "--function", "serve", "--input", wrong)
        self.error(1, "cannot save", "run", self.model, "--function", "serve", "--input", self.x, "--output", "no/such/y.npy")

    def test_damaged_arrays(self):
        with open(self.x, "rb") as file:
            data = file.read()
        cut = os.path.join(self.folder.name, "cut.npy")
        damaged = [data[:n] for n in (0, 5, 9, 10, 11, 40, 127, 128, len(data) - 1)]
        damaged += [data.replace(*change) for change in (
            (b"<f4", b">f4"), (b"False", b"True "), (b"(3, 2)", b"(3,-2)"), (b"(3, 2)", b"(9, 9)"), (b"shape", b"sh\xff\npe"),
            (b"(3, 2)", b"(4611686018427387904, 4, )"), (b"NUMPY\x01", b"NUMPY\x09"))]
        for content in damaged:
            with open(cut, "wb") as file:
                file.write(content)
            self.error(1, "cut.npy", "run", self.model, "--function", "serve", "--input", cut)

    def test_damaged_model(self):
        with open(self.model, "rb") as file:
            data = file.read()
        bad = os.path.join(self.folder.name, "bad.kiln")
        for content in (b"", data[:8], data[: len(data) // 2], data[:-1], data[:100] + bytes([data[100] ^ 1]) + data[101:]):
            with open(bad, "wb") as file:
                file.write(content)
            for command in ("info", "run", "ir"):
                self.error(1, "bad.kiln", command, bad)


class Bench(Case):
    def test_list(self):
        names = self.ok("list", tool="kiln-bench").splitlines()
        self.assertIn("call/scalar_add", names)
        self.assertTrue(all(n.startswith("call/") for n in self.ok("list", "call/*", tool="kiln-bench").splitlines()))

    def test_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.jsonl")
            self.ok("run", "eager/add_scalar", "call/vec4_add", "--threads", "1", "--quick", "--json", path, tool="kiln-bench")
            with open(path) as file:
                rows = {row["workload"]: row for row in map(json.loads, file)}
        row = rows["eager/add_scalar"]
        self.assertEqual((row["peer"], row["threads"]), ("kiln", 1))
        for key in ("version", "median_ns", "p10_ns", "p90_ns", "samples", "calls_per_sample", "other_cpus",
                    "first_call_ms", "peak_rss_mb", "checksum", "note"):
            self.assertIn(key, row)
        sums = f32(u(0, 1) + u(0, 2))
        self.assertEqual(row["checksum"], [float(f"{v:.7g}") for v in [abs(sums), sums] + [sums] * 4])
        values = [f32(u(i, 1) + 1) for i in range(4)]
        mean = sum(values) / 4
        self.assertEqual(rows["call/vec4_add"]["checksum"],
                         [float(f"{v:.7g}") for v in [mean, mean, values[0], values[1], values[2], values[3]]])

    def test_misuse(self):
        for text, args in (("a command", []), ("no workload", ["run", "nope/*"]), ("which workloads", ["run"]),
                           ("--threads", ["run", "call/*", "--threads", "0"]), ("--nope", ["list", "--nope"])):
            done = kiln(*args, tool="kiln-bench")
            self.assertEqual(done.returncode, 2)
            self.assertIn(text, done.stderr.splitlines()[0])


def write_npy(path, descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def u(i, seed):
    """Element i of the benchmarks' input with that seed, as their definition says."""
    h = (i + seed * 0x9E3779B9) & 0xFFFFFFFF
    h = ((h ^ h >> 16) * 0x85EBCA6B) & 0xFFFFFFFF
    h = ((h ^ h >> 13) * 0xC2B2AE35) & 0xFFFFFFFF
    h ^= h >> 16
    return f32(f32(h >> 8) * 2.0**-24 - 0.5)


if __name__ == "__main__":
    unittest.main()
