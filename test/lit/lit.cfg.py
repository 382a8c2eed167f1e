# Text tests of the dialect and the passes: RUN lines with kiln-opt and FileCheck.
# lit wants two parameters: build (the build folder) and llvm (the folder of LLVM's own tools).
import os

import lit.formats

config.name = "kiln"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(lit_config.params["build"], "test", "lit")

# Where op records include from.
config.substitutions.append(("%records", "-I {} -I {}/../include".format(
    os.path.dirname(os.path.dirname(config.test_source_root)), lit_config.params["llvm"])))

tools = [os.path.join(lit_config.params["build"], "bin"), lit_config.params["llvm"]]
config.environment["PATH"] = os.pathsep.join(tools + [config.environment["PATH"]])
for name in ("KILN_VERIFY", "UBSAN_OPTIONS", "ASAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
