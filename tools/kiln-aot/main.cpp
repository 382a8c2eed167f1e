// Compiles the eager kernels for one target: DIR/prebuilt_TARGET.o and the rows of their table,
// DIR/prebuilt_TARGET.inc.
//   kiln-aot --target x86-64-v3 --output DIR
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "compiler/pipeline/Prebuilt.h"

int main(int argc, char** argv) {
  std::string target, output;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--target"))
      target = argv[i + 1];
    else if (!std::strcmp(argv[i], "--output"))
      output = argv[i + 1];
  }
  if (target.empty() || output.empty()) {
    std::fprintf(stderr, "usage: kiln-aot --target TARGET --output DIR\n");
    return 2;
  }
  auto kernels = kiln::compiler::compilePrebuiltKernels(target);
  if (!kernels.ok()) {
    std::fprintf(stderr, "kiln-aot: %s\n", std::string(kernels.status().message()).c_str());
    return 1;
  }
  const std::string stem = output + "/prebuilt_" + target;
  std::ofstream object(stem + ".o", std::ios::binary), table(stem + ".inc");
  object.write(kernels->object.data(), std::streamsize(kernels->object.size()));
  for (const std::string& name : kernels->names)
    table << "KILN_PREBUILT_KERNEL(\"" << name << "\", \"" << name << "." << target << "\")\n";
  object.flush();
  table.flush();
  if (!object || !table) {
    std::fprintf(stderr, "kiln-aot: cannot write %s.o\n", stem.c_str());
    return 1;
  }
}
