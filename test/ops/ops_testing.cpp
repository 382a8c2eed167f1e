#include "test/ops/ops_testing.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>

#include "frontend/tensor/rep.h"
#include "kernels/reference/interpreter.h"
#include "runtime/base/thread_pool.h"

namespace kiln::ops_testing {
namespace {

std::vector<Tensor> list(Tensor x) { return {std::move(x)}; }
std::vector<Tensor> list(std::vector<Tensor> x) { return x; }
template <class... T>
std::vector<Tensor> list(std::tuple<T...> x) {
  return std::apply([](auto&... each) { return std::vector<Tensor>{each...}; }, x);
}

DType dtype_named(const std::string& name) {
  for (const DType t : {DType::bool_, DType::i32, DType::i64, DType::f32, DType::f64})
    if (name_of(t) == name) return t;
  FAIL("no dtype " << name);
  return DType::f32;
}

Row make_row(OpId op, const char* dtypes, const char* domain, bool differentiable) {
  Row row{op, {}, {}, differentiable};
  std::istringstream names(dtypes), pairs(domain);
  for (std::string t; names >> t;) row.dtypes.push_back(dtype_named(t));
  for (std::string pair; std::getline(pairs, pair, ',');) {
    std::istringstream ends(pair);
    row.domain.emplace_back();
    ends >> row.domain.back().first >> row.domain.back().second;
  }
  return row;
}

struct Runs {
  std::vector<std::string> labels;
  std::vector<Tensor> results;
};

Runs run(const std::vector<Item>& items, const std::vector<Tensor>& inputs) {
  Runs runs;
  for (const Item& item : items) {
    int number = 0;
    for (Tensor& x : item.call(inputs)) {
      runs.labels.push_back(item.label + ", result " + std::to_string(number++));
      runs.results.push_back(std::move(x));
    }
  }
  return runs;
}

class ThreadCount {
 public:
  explicit ThreadCount(int count) { set_thread_count(count); }
  ~ThreadCount() { set_thread_count(0); }
};

void compare(const std::string& name, const char* way, const Runs& want, const std::vector<Tensor>& got,
             const std::vector<Tensor>& inputs) {
  std::string types;
  for (size_t i = 0; i < inputs.size() && i < 4; ++i) types += " " + type_text(inputs[i]);
  INFO(name << ", " << way << ", inputs" << types);
  REQUIRE(got.size() == want.results.size());
  for (size_t i = 0; i < got.size(); ++i)
    if (const std::string why = difference(want.results[i], got[i]); !why.empty())
      FAIL_CHECK(want.labels[i] << ": " << why);
}

}  // namespace

std::pair<double, double> Row::domain_of(size_t operand) const { return domain[std::min(operand, domain.size() - 1)]; }

bool Row::takes(DType t) const { return std::find(dtypes.begin(), dtypes.end(), t) != dtypes.end(); }

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
#define KILN_OP_ROW(op, kind, dtypes, domain, numpy, accuracy, attributes, differentiable) \
  make_row(OpId::op, dtypes, domain, differentiable),
#include "generated/op_rows.inc"
#undef KILN_OP_ROW
  };
  return all;
}

const Row& row_of(OpId op) {
  for (const Row& row : rows())
    if (row.op == op) return row;
  FAIL("no row for " << name_of(op));
  return rows()[0];
}

std::vector<Tensor> call_op(OpId op, const std::vector<Tensor>& operands, const std::vector<Attribute>& attributes) {
  switch (op) {
#include "generated/op_calls.inc"
    default:
      FAIL("no public function " << name_of(op));
  }
  return {};
}

std::vector<Attribute> default_attributes(OpId op) {
  std::vector<Attribute> attributes;
  for (const AttributeInfo& a : info(op).attributes) {
    const std::string text(a.default_text);
    switch (a.kind) {
      case AttributeKind::boolean:
        attributes.push_back(text == "true");
        break;
      case AttributeKind::integer:
        attributes.push_back(text.empty() ? int64_t{0} : int64_t{std::stoll(text)});
        break;
      case AttributeKind::floating:
        attributes.push_back(text.empty() ? 0.0 : std::stod(text));
        break;
      case AttributeKind::dtype:
        attributes.push_back(DType::f32);
        break;
      case AttributeKind::string:
        attributes.push_back(text.substr(1, text.size() - 2));
        break;
      case AttributeKind::ints:
        attributes.push_back(std::vector<int64_t>{});
        break;
      case AttributeKind::dims:
        attributes.push_back(Shape{});
        break;
    }
  }
  return attributes;
}

Constant constant_of(const Tensor& x) {
  const detail::TensorRep& rep = *x.rep();
  if (rep.offset == 0) return {rep.type(), rep.buffer};
  const size_t bytes = static_cast<size_t>(rep.shape.size()) * size_of(rep.dtype);
  Constant copy{rep.type(), Buffer::allocate(bytes).value()};
  std::memcpy(copy.data->data(), rep.data(), bytes);
  return copy;
}

Tensor tensor_of(const Constant& c) { return detail::make_concrete(c.type.dtype, c.type.shape, c.data); }

std::string type_text(const Tensor& x) { return std::string(name_of(x.dtype())) + to_string(x.shape()); }

std::string difference(const Tensor& want, const Tensor& got) {
  if (want.dtype() != got.dtype() || !(want.shape() == got.shape()))
    return "is " + type_text(got) + ", must be " + type_text(want);
  std::ostringstream text;
  visit_dtype(want.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const auto* w = reinterpret_cast<const char*>(want.rep()->data());
    const auto* g = reinterpret_cast<const char*>(got.rep()->data());
    int64_t different = 0;
    for (int64_t i = 0; i < want.shape().size(); ++i) {
      T a, b;
      std::memcpy(&a, w + i * sizeof(T), sizeof(T));
      std::memcpy(&b, g + i * sizeof(T), sizeof(T));
      if (std::memcmp(&a, &b, sizeof(T)) == 0 || (a != a && b != b)) continue;
      text.precision(17);
      if (different++ == 0) text << "element " << i << " is " << +b << ", must be " << +a;
    }
    if (different > 1) text << " (and " << different - 1 << " more of " << want.shape().size() << ")";
  });
  return text.str();
}

void check_everywhere(const std::string& name, const std::vector<Item>& items,
                      const std::vector<std::vector<Tensor>>& input_sets, const CheckOptions& options) {
  FunctionOptions function_options{.name = name};
  for (size_t i = 0; i < options.dims.size(); ++i)
    function_options.input_signature.push_back({input_sets[0][i].dtype(), options.dims[i]});
  const auto compiled = function(
      [&](std::vector<Tensor> inputs) -> std::vector<Tensor> { return run(items, inputs).results; }, function_options);
  for (const std::vector<Tensor>& inputs : input_sets) {
    int64_t largest = 0;
    for (const Tensor& x : inputs) largest = std::max(largest, x.size());
    Runs eager;
    try {
      eager = run(items, inputs);
      for (const int threads : {1, 2}) {
        if (threads > 1 && largest < 4000) break;
        const ThreadCount scope(threads);
        if (threads > 1) compare(name, "eager with 2 threads", eager, run(items, inputs).results, inputs);
        compare(name, threads > 1 ? "compiled with 2 threads" : "compiled", eager, compiled(inputs), inputs);
      }
    } catch (const Error& e) {
      if (items.size() == 1) {
        FAIL_CHECK(items[0].label << ": " << e.what());
        return;
      }
      for (const Item& item : items) check_everywhere(name, {item}, {inputs}, options);  // which one is it?
      FAIL_CHECK(name << ": " << e.what());
      return;
    }
    if (!options.reference) continue;
    std::vector<Constant> constants;
    for (const Tensor& x : inputs) constants.push_back(constant_of(x));
    const auto reference = interpret(compiled.concretes().back().graph(), constants);
    if (!reference.ok()) {
      FAIL_CHECK(name << ", reference interpreter: " << reference.status().message());
      continue;
    }
    std::vector<Tensor> expected;
    for (const Constant& c : *reference) expected.push_back(tensor_of(c));
    Runs want{eager.labels, expected};
    compare(name, "eager against the reference", want, eager.results, inputs);
  }
}

Tensor numbers(DType dtype, const Shape& shape, double low, double high, uint32_t seed, bool specials) {
  std::mt19937_64 random(seed * 31 + static_cast<uint32_t>(dtype));
  Tensor result;
  visit_dtype(dtype, [&](auto tag) {
    using T = decltype(tag);
    using L = std::numeric_limits<T>;
    std::vector<T> special = {T(0), L::lowest(), L::max(), T(1)};
    if constexpr (std::is_floating_point_v<T>)
      special = {T(0),
                 -T(0),
                 L::denorm_min(),
                 -3 * L::denorm_min(),
                 L::infinity(),
                 -L::infinity(),
                 L::quiet_NaN(),
                 L::lowest(),
                 L::max(),
                 L::min(),
                 T(1),
                 T(-0.5)};
    std::vector<T> values;
    for (int64_t i = 0; i < shape.size(); ++i) {
      const double u = static_cast<double>(random() >> 11) * 0x1p-53;
      if (specials && random() % 4 == 0)
        values.push_back(special[random() % special.size()]);
      else if constexpr (std::is_same_v<T, bool>)
        values.push_back(u < 0.5);
      else if constexpr (std::is_integral_v<T>)
        values.push_back(static_cast<T>(std::ceil(low) + std::floor(u * (std::floor(high) - std::ceil(low) + 1))));
      else
        values.push_back(static_cast<T>(low + u * (high - low)));
    }
    result = Tensor(values, shape);
  });
  return result;
}

}  // namespace kiln::ops_testing
