// What a Dataset is made of: stages, each of which makes its elements from those of the stage before it. Internal.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <vector>

#include "frontend/tensor/tensor.h"

namespace kiln::detail {

using Element = std::vector<Tensor>;

// One pass over the elements. Used by one thread at a time.
class ElementStream {
 public:
  virtual ~ElementStream() = default;
  // The next element; nothing at the end.
  virtual std::optional<Element> next() = 0;
};

class Stage {
 public:
  virtual ~Stage() = default;
  virtual std::unique_ptr<ElementStream> start() const = 0;
  // How many elements a pass has; nothing if it is endless or not known beforehand.
  virtual std::optional<int64_t> size() const = 0;
};
using StagePtr = std::shared_ptr<const Stage>;

StagePtr slices_stage(std::vector<Tensor> columns, std::source_location where);
StagePtr map_stage(StagePtr input, std::function<Element(Element)> map);
StagePtr shuffle_stage(StagePtr input, int64_t buffer, std::optional<uint64_t> seed, bool reshuffle,
                       std::source_location where);
StagePtr batch_stage(StagePtr input, int64_t size, bool drop_remainder, std::source_location where);
StagePtr repeat_stage(StagePtr input, std::optional<int64_t> times, std::source_location where);
StagePtr take_stage(StagePtr input, int64_t count, std::source_location where);
StagePtr prefetch_stage(StagePtr input, int64_t count, std::source_location where);

}  // namespace kiln::detail
