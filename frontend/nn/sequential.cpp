#include "frontend/nn/sequential.h"

#include <algorithm>

#include "frontend/trace/trace.h"

namespace kiln {

Tensor AnyLayer::operator()(const Operand& x, Mode mode) const {
  Tensor y = call_(x, mode);
  if (y.defined()) output_->record(y.shape());
  return y;
}

Sequential::Sequential(std::vector<AnyLayer> layers, const SequentialOptions& options) : name_(options.name) {
  for (AnyLayer& layer : layers) add(std::move(layer));
}

void Sequential::add(AnyLayer layer) {
  auto taken = [&](const std::string& name) { return std::find(names_.begin(), names_.end(), name) != names_.end(); };
  const std::string base = layer.own_name().empty() ? detail::snake_case(layer.type_name()) : layer.own_name();
  std::string name = base;
  for (int i = 1; taken(name); ++i) name = base + "_" + std::to_string(i);
  layer.set_name(name);
  names_.push_back(std::move(name));
  layers_.push_back(std::move(layer));
}

Tensor Sequential::operator()(const Operand& x, Mode mode) const {
  Tensor y = x.tensor();
  for (const AnyLayer& layer : layers_) y = layer(Operand(y, x.where()), mode);
  return y;
}

void Sequential::build(const Shape& input, DType dtype, std::source_location where) const {
  // Traced like a function whose graph nobody needs.
  TraceContext trace(name_);
  Shape shape = input;
  for (int i = 0; i < shape.rank(); ++i)
    if (!shape[i].known()) shape[i] = trace.dims().symbol("axis" + std::to_string(i), 0, i);
  (*this)(Operand(trace.add_tensor_argument({dtype, shape}, "input", 0), where));
}

std::vector<Part> Sequential::parts() const {
  std::vector<Part> parts;
  for (size_t i = 0; i < layers_.size(); ++i)
    if (layers_[i].module()) parts.push_back({names_[i], layers_[i].module(), {}});
  return parts;
}

std::optional<Shape> Sequential::output_shape() const {
  return layers_.empty() ? std::nullopt : layers_.back().output_shape();
}

std::vector<Module::Row> Sequential::rows() const {
  std::vector<Row> rows;
  for (size_t i = 0; i < layers_.size(); ++i)
    rows.push_back({names_[i], layers_[i].type_name(), layers_[i].output_shape(),
                    layers_[i].module() ? count_parameters(*layers_[i].module(), false) : std::optional<int64_t>(0)});
  return rows;
}

}  // namespace kiln
