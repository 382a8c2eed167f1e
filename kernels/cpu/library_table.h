// How the files of kernels/cpu offer their kernels to the table.
#pragma once
#include <span>

#include "runtime/exec/kernel.h"

namespace kiln {

using KernelSpan = std::span<const LibraryKernel>;

// One list per file. Files named *.simd.cpp exist once per instruction set.
#define KILN_FOR_EACH_SIMD_FILE(X) X(matmul) X(conv2d) X(conv2d_filter) X(pool2d) X(transpose)
#define KILN_FOR_EACH_PLAIN_FILE(X) X(move) X(index) X(sort) X(scan)

#define KILN_DECLARE(file) KernelSpan file##_kernels();
namespace v3 {
KILN_FOR_EACH_SIMD_FILE(KILN_DECLARE)
}
namespace v4 {
KILN_FOR_EACH_SIMD_FILE(KILN_DECLARE)
}
KILN_FOR_EACH_PLAIN_FILE(KILN_DECLARE)
#undef KILN_DECLARE

// find_library_kernel for a chosen instruction set: AVX-512 (wide) or AVX2.
const LibraryKernel* find_library_kernel(const char* name, bool wide);

}  // namespace kiln
