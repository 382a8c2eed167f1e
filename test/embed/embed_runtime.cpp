// A service in miniature: runs a saved model with libkiln_runtime alone and prints its results, bit for bit.
//   embed_runtime model.kiln [--function NAME] [--input a.npy]...
// Without --input each argument is filled with fixed numbers: float argument k with hash(i, k + 1) scaled to [-0.5,
// 0.5), others with hash % 10 (bool: % 2); unknown dims are 1.
#include <kiln/runtime.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace rt = kiln::rt;

namespace {

struct Tensor {
  rt::View view;
  std::vector<char> bytes;
};

int fail(const std::string& text, int code = 1) {
  std::fprintf(stderr, "embed_runtime: %s\n", text.c_str());
  return code;
}

size_t elements(const kiln_view& v) {
  size_t n = 1;
  for (int i = 0; i < v.rank; ++i) n *= static_cast<size_t>(v.dims[i]);
  return n;
}

Tensor make_tensor(int32_t dtype, std::vector<int64_t> dims) {
  Tensor t{rt::View(rt::DType{dtype}, dims, nullptr), {}};
  t.bytes.resize(elements(t.view) * kiln_dtype_size(dtype));
  t.view.data = t.bytes.data();
  return t;
}

template <class T>
void store(Tensor& t, size_t i, T value) {
  std::memcpy(t.bytes.data() + i * sizeof(T), &value, sizeof(T));
}

// The numbers of Kiln's benchmarks: a hash of the element's number.
uint32_t hash(uint32_t i, uint32_t seed) {
  uint32_t h = i + seed * 0x9E3779B9u;
  h ^= h >> 16;
  h *= 0x85EBCA6Bu;
  h ^= h >> 13;
  h *= 0xC2B2AE35u;
  return h ^ (h >> 16);
}

bool fill(Tensor& t, uint32_t seed) {
  for (size_t i = 0; i < elements(t.view); ++i) {
    const uint32_t h = hash(static_cast<uint32_t>(i), seed);
    const float unit = static_cast<float>(h >> 8) * 0x1p-24f - 0.5f;
    switch (t.view.dtype) {
      case KILN_F32:
        store(t, i, unit);
        break;
      case KILN_F64:
        store(t, i, static_cast<double>(unit));
        break;
      case KILN_I32:
        store(t, i, static_cast<int32_t>(h % 10));
        break;
      case KILN_I64:
        store(t, i, static_cast<int64_t>(h % 10));
        break;
      case KILN_BOOL:
        store(t, i, static_cast<uint8_t>(h % 2));
        break;
      default:
        return false;
    }
  }
  return true;
}

// Reads a C-ordered .npy file. An empty text: it worked.
std::string read_npy(const std::string& path, Tensor& t) {
  std::ifstream file(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  if (!file && all.empty()) return "cannot read '" + path + "'";
  if (all.size() < 12 || all.compare(0, 6, "\x93NUMPY") != 0) return "'" + path + "' is not a .npy file";
  const bool wide = all[6] >= 2;
  uint32_t length = 0;
  std::memcpy(&length, all.data() + 8, wide ? 4 : 2);
  const size_t start = wide ? 12 : 10;
  if (length > all.size() - start) return "'" + path + "' is cut short";
  const std::string header = all.substr(start, length);
  static constexpr std::pair<const char*, int32_t> types[] = {
      {"'<f4'", KILN_F32}, {"'<f8'", KILN_F64}, {"'<i4'", KILN_I32}, {"'<i8'", KILN_I64}, {"'|b1'", KILN_BOOL}};
  int32_t dtype = -1;
  for (auto [name, value] : types)
    if (header.find(name) != std::string::npos) dtype = value;
  if (dtype < 0 || header.find("'fortran_order': False") == std::string::npos)
    return "'" + path + "' has a type or order that is not supported";
  std::vector<int64_t> dims;
  size_t at = header.find("'shape': (");
  if (at == std::string::npos) return "'" + path + "' has no shape";
  for (at += 10; at < header.size() && header[at] != ')';) {
    size_t used = 0;
    if (header[at] >= '0' && header[at] <= '9' && dims.size() < KILN_MAX_RANK) {
      const std::string digits = header.substr(at, 18);
      int64_t value = 0;
      for (; used < digits.size() && digits[used] >= '0' && digits[used] <= '9'; ++used)
        value = value * 10 + (digits[used] - '0');
      dims.push_back(value);
    }
    at += used ? used : 1;
  }
  size_t bytes = kiln_dtype_size(dtype);
  for (int64_t d : dims)
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(d), &bytes)) return "'" + path + "' is too large";
  if (all.size() - start - length != bytes) return "'" + path + "' has not the size that its shape says";
  t = make_tensor(dtype, dims);
  std::memcpy(t.bytes.data(), all.data() + start + length, bytes);
  return {};
}

template <class T>
T element(const Tensor& t, size_t i) {
  T value;
  std::memcpy(&value, t.bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

// One line for each element: floats in hex, which shows every bit, and in decimal.
void print(const Tensor& t, int number) {
  std::printf("result %d: %s[", number, kiln_dtype_name(t.view.dtype));
  for (int i = 0; i < t.view.rank; ++i) std::printf("%s%" PRId64, i ? "," : "", t.view.dims[i]);
  std::printf("]\n");
  for (size_t i = 0; i < elements(t.view); ++i) switch (t.view.dtype) {
      case KILN_F32:
        std::printf("%a %.9g\n", element<float>(t, i), element<float>(t, i));
        break;
      case KILN_F64:
        std::printf("%a %.17g\n", element<double>(t, i), element<double>(t, i));
        break;
      case KILN_I32:
        std::printf("%" PRId32 "\n", element<int32_t>(t, i));
        break;
      case KILN_I64:
        std::printf("%" PRId64 "\n", element<int64_t>(t, i));
        break;
      default:
        std::printf("%d\n", element<uint8_t>(t, i * kiln_dtype_size(t.view.dtype)));
    }
}

}  // namespace

int main(int argc, char** argv) {
  std::string path, function;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool option = word == "--function" || word == "--input";
    if (option && i + 1 < argc)
      (word == "--input" ? files.emplace_back() : function) = argv[++i];
    else if (!option && path.empty() && word[0] != '-')
      path = word;
    else
      return fail("use: embed_runtime model.kiln [--function NAME] [--input a.npy]...", 2);
  }
  if (path.empty()) return fail("use: embed_runtime model.kiln [--function NAME] [--input a.npy]...", 2);

  rt::Result<rt::Model> model = rt::Model::load(path.c_str());
  if (!model.ok()) return fail(model.status().message());
  const kiln_model* m = model->handle();
  if (kiln_model_function_count(m) == 0) return fail("'" + path + "' has no function");
  if (function.empty()) function = kiln_model_function_name(m, 0);
  const int32_t f = kiln_model_find_function(m, function.data(), function.size());
  if (f < 0) return fail("'" + path + "' has no function '" + function + "'");

  std::vector<Tensor> inputs, outputs;
  const int32_t count = kiln_model_argument_count(m, f);
  if (!files.empty() && static_cast<int32_t>(files.size()) != count)
    return fail("'" + function + "' needs " + std::to_string(count) + " inputs", 2);
  for (int32_t i = 0; i < count; ++i) {
    kiln_tensor_info info;
    kiln_model_argument(m, f, i, &info);
    std::vector<int64_t> dims(info.dims, info.dims + info.rank);
    for (int64_t& d : dims) d = d < 0 ? 1 : d;
    inputs.push_back(make_tensor(info.dtype, dims));
    if (files.empty() && !fill(inputs.back(), static_cast<uint32_t>(i) + 1))
      return fail("cannot make numbers of type " + std::string(kiln_dtype_name(info.dtype)));
    if (files.empty()) continue;
    if (std::string error = read_npy(files[static_cast<size_t>(i)], inputs.back()); !error.empty()) return fail(error);
  }

  rt::Result<rt::Session> session = model->session();
  if (!session.ok()) return fail(session.status().message());
  std::vector<rt::View> arguments, results(static_cast<size_t>(kiln_model_result_count(m, f)));
  for (Tensor& t : inputs) arguments.push_back(t.view);
  if (rt::Status s = session->infer(function, arguments, results); !s.ok()) return fail(s.message());
  for (rt::View& v : results) {
    outputs.push_back(make_tensor(v.dtype, {v.dims, v.dims + v.rank}));
    v = outputs.back().view;
  }
  if (rt::Status s = session->run(function, arguments, results); !s.ok()) return fail(s.message());
  for (size_t i = 0; i < outputs.size(); ++i) print(outputs[i], static_cast<int>(i));
}
