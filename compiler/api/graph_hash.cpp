#include "compiler/api/graph_hash.h"

#include <cstring>

namespace kiln {
namespace {

struct Writer {
  std::string bytes;

  void number(int64_t v) { bytes.append(reinterpret_cast<const char*>(&v), sizeof(v)); }
  void text(std::string_view s) {
    number(static_cast<int64_t>(s.size()));
    bytes.append(s);
  }
  template <class T>
  void values(const std::vector<T>& list) {
    number(static_cast<int64_t>(list.size()));
    for (const T& v : list) number(static_cast<int64_t>(v));
  }
  void shape(const Shape& s) {
    number(s.rank());
    for (Dim d : s) number(d.raw());
  }
  void type(const TensorType& t) {
    number(static_cast<int64_t>(t.dtype));
    shape(t.shape);
  }
  void attribute(const Attribute& a) {
    number(static_cast<int64_t>(a.index()));
    std::visit(
        [this]<class T>(const T& v) {
          if constexpr (std::is_same_v<T, double>) {
            int64_t bits;
            std::memcpy(&bits, &v, sizeof(bits));
            number(bits);
          } else if constexpr (std::is_same_v<T, std::string>) {
            text(v);
          } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
            values(v);
          } else if constexpr (std::is_same_v<T, Shape>) {
            shape(v);
          } else {
            number(static_cast<int64_t>(v));
          }
        },
        a);
  }
  void region(const Region& r) {
    values(r.arguments);
    number(static_cast<int64_t>(r.nodes.size()));
    for (const Node& node : r.nodes) {
      text(info(node.op).name);  // not the number: it moves when an op is added
      values(node.operands);
      number(static_cast<int64_t>(node.attributes.size()));
      for (const Attribute& a : node.attributes) attribute(a);
      values(node.results);
      text(node.location.file ? node.location.file : "");
      number(node.location.line);
      number(static_cast<int64_t>(node.regions.size()));
      for (const Region& inner : node.regions) region(inner);
    }
    values(r.results);
  }
};

}  // namespace

std::string graph_bytes(const Graph& graph) {
  Writer w;
  w.text(graph.name);
  w.number(graph.dims.size());
  for (const DimExpr& e : graph.dims.exprs()) {
    w.number(static_cast<int64_t>(e.op)), w.number(e.a.raw()), w.number(e.b.raw());
    w.text(e.name);
  }
  w.number(static_cast<int64_t>(graph.values.size()));
  for (const TensorType& t : graph.values) w.type(t);
  w.number(static_cast<int64_t>(graph.constants.size()));
  for (const Constant& c : graph.constants) {
    w.type(c.type);
    w.text({reinterpret_cast<const char*>(c.data->data()), c.data->bytes()});
  }
  w.number(static_cast<int64_t>(graph.inputs.size()));
  for (const GraphInput& input : graph.inputs) {
    w.number(input.value), w.number(input.is_variable);
    w.text(input.name);
  }
  w.number(static_cast<int64_t>(graph.outputs.size()));
  for (const GraphOutput& output : graph.outputs) w.number(output.value), w.number(output.updates);
  w.region(graph.body);
  return std::move(w.bytes);
}

}  // namespace kiln
