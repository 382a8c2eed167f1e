// NumPy's .npy files, for numbers in C order.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"

namespace kiln::npy {

struct Array {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  std::vector<std::byte> data;
};

// invalid_argument: no .npy, or a kind Kiln does not have (big-endian, Fortran order, strings); data_loss: cut short.
Result<Array> parse(std::string_view bytes);
Result<Array> read(const std::string& path);

// The bytes of a file, format version 1.0. unimplemented: a dtype NumPy does not have (bf16).
Result<std::string> format(DType dtype, const std::vector<int64_t>& dims, std::string_view data);
// An old file stays whole if there is no space.
Status write(const std::string& path, DType dtype, const std::vector<int64_t>& dims, std::string_view data);

}  // namespace kiln::npy
