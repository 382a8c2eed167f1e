// What a .kiln file holds: named functions with the variables and constants they share.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"
#include "runtime/exec/executable.h"
#include "runtime/memory/buffer.h"

namespace kiln {

struct SavedTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  std::shared_ptr<Buffer> data;
};

// Where an input of an Executable comes from when the saved function is called.
enum class InputSource : uint8_t {
  argument,  // the caller's argument number `index`
  variable,  // ModelFile::variables[index]: state of the model
  constant,  // ModelFile::constants[index]: a tensor that the lambda captured
};
struct InputBinding {
  InputSource source = InputSource::argument;
  int32_t index = 0;
};

struct SavedFunction {
  std::string name;
  std::shared_ptr<const Executable> executable;
  std::vector<InputBinding> inputs;  // one for each of executable->inputs
};

struct ModelFile {
  std::vector<SavedTensor> variables, constants;
  std::vector<SavedFunction> functions;
};

// Whether all of it fits together; invalid_argument with the reason if not.
Status check_model(const ModelFile& model);

}  // namespace kiln
