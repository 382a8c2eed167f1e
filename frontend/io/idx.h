// The IDX format of the MNIST files, as it is or compressed with gzip.
#pragma once
#include <source_location>
#include <string>

#include "frontend/tensor/tensor.h"

namespace kiln {

// The array in an IDX file; u8, i8, i16, i32, f32 or f64, of any shape up to rank 8. Errors name the file and the
// offset: not_found (no such file), data_loss (cut short, damaged, a wrong magic number, sizes that do not fit the
// file).
//   Tensor images = read_idx("train-images-idx3-ubyte.gz");  // u8[60000,28,28]
Tensor read_idx(const std::string& path, std::source_location where = std::source_location::current());

struct LabelledImages {
  Tensor images;  // f32[n,28,28,1], pixels from 0 to 1
  Tensor labels;  // i32[n], 0 to 9
};
struct Mnist {
  LabelledImages train, test;  // 60,000 and 10,000
};

// The four files of MNIST in a folder, under their usual names, with or without ".gz". Errors as read_idx; also where
// the number of labels is not that of the images.
//   auto [train, test] = load_mnist("test/data/mnist");
Mnist load_mnist(const std::string& folder, std::source_location where = std::source_location::current());

}  // namespace kiln
