#include "kernels/cpu/library_table.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/base/cpu.h"

namespace kiln {
namespace {

using Table = std::vector<const LibraryKernel*>;

bool before(const LibraryKernel* a, const LibraryKernel* b) { return std::strcmp(a->name, b->name) < 0; }

Table make_table(bool wide) {
  Table table;
  auto add = [&](KernelSpan kernels) {
    for (const LibraryKernel& k : kernels) table.push_back(&k);
  };
#define KILN_ADD_SIMD(file) add(wide ? v4::file##_kernels() : v3::file##_kernels());
  KILN_FOR_EACH_SIMD_FILE(KILN_ADD_SIMD)
#undef KILN_ADD_SIMD
#define KILN_ADD(file) add(file##_kernels());
  KILN_FOR_EACH_PLAIN_FILE(KILN_ADD)
#undef KILN_ADD
  std::sort(table.begin(), table.end(), before);
  return table;
}

}  // namespace

const LibraryKernel* find_library_kernel(const char* name, bool wide) {
  static const Table tables[2] = {make_table(false), make_table(true)};
  const Table& table = tables[wide];
  const LibraryKernel key{name, nullptr, 0, nullptr};
  const auto it = std::lower_bound(table.begin(), table.end(), &key, before);
  return it != table.end() && std::strcmp((*it)->name, name) == 0 ? *it : nullptr;
}

const LibraryKernel* find_library_kernel(const char* name) {
  static const bool wide = cpu_target() == CpuTarget::v4;
  return find_library_kernel(name, wide);
}

}  // namespace kiln
