// Shared by the tests of layers, losses, optimizers and data.
#pragma once
#include <kiln/kiln.h>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace nn_testing {

// An integer hash: number j of array v, in [0, 1). In f64 it is exact.
inline double u(uint64_t j, uint64_t v) {
  uint32_t x = static_cast<uint32_t>(j) * 2654435761u + static_cast<uint32_t>(v) * 40503u + 12345u;
  x ^= x >> 15, x *= 2246822519u, x ^= x >> 13, x *= 3266489917u, x ^= x >> 16;
  return x / 4294967296.0;
}

// scale * u + offset
template <class T = float>
kiln::Tensor hashed(const kiln::Shape& shape, uint64_t v, double scale = 1, double offset = 0) {
  std::vector<T> values(static_cast<size_t>(shape.size()));
  for (size_t j = 0; j < values.size(); ++j) values[j] = static_cast<T>(static_cast<T>(u(j, v)) * scale + offset);
  return kiln::Tensor(values, shape);
}

// Fixed weights for array number v of a model: kernels s * sqrt(6 / fan), fan = all dims but the last; biases 0.1 s;
// s = 2u - 1.
inline void set_fixed_weights(const std::vector<kiln::Variable>& variables) {
  for (size_t v = 0; v < variables.size(); ++v) {
    const kiln::Shape& shape = variables[v].shape();
    double fan = 1;
    for (int i = 0; i + 1 < shape.rank(); ++i) fan *= static_cast<double>(shape[i].size());
    const double scale = shape.rank() == 1 ? 0.1 : std::sqrt(6 / fan);
    std::vector<double> values(static_cast<size_t>(shape.size()));
    for (size_t j = 0; j < values.size(); ++j) values[j] = (2 * u(j, v) - 1) * scale;
    if (variables[v].dtype() == kiln::DType::f64)
      variables[v].assign(kiln::Tensor(values, shape));
    else
      variables[v].assign(kiln::Tensor(std::vector<float>(values.begin(), values.end()), shape));
  }
}

// Lines "name word number number ...": "name word" -> numbers.
inline std::map<std::string, std::vector<double>> read_golden(const std::string& file, int words) {
  std::ifstream in(std::string(KILN_TEST_GOLDEN) + "/" + file);
  REQUIRE(in.good());
  std::map<std::string, std::vector<double>> all;
  for (std::string text; std::getline(in, text);) {
    std::istringstream line(text);
    std::string name, word;
    for (int i = 0; i < words && line >> word; ++i) name += (i ? " " : "") + word;
    for (double x; line >> x;) all[name].push_back(x);
  }
  return all;
}

// Absolute below 1, relative above.
inline void check_close(const std::vector<float>& got, const std::vector<double>& wanted, double tolerance) {
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i);
    CHECK(std::abs(got[i] - wanted[i]) <= tolerance * std::max(1.0, std::abs(wanted[i])));
  }
}

// The text of the Error that f throws; fails if there is none or its code differs.
template <class F>
std::string error_of(kiln::Code code, F&& f) {
  try {
    f();
  } catch (const kiln::Error& e) {
    CHECK(static_cast<int>(e.code()) == static_cast<int>(code));
    return e.what();
  }
  FAIL("no error");
  return "";
}

}  // namespace nn_testing
