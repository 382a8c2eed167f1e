#include "tools/kiln/npy.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "runtime/artifact/writer.h"

namespace kiln::npy {
namespace {
static_assert(std::endian::native == std::endian::little);

constexpr std::string_view magic = "\x93NUMPY";

// NumPy's name of a dtype: "<f4", "|b1"; empty if it has none.
std::string descr(DType dtype) {
  if (dtype == DType::bf16) return "";
  const DTypeInfo& t = kiln::info(dtype);
  return (t.size == 1 ? "|" : "<") + std::string(1, "biufc"[static_cast<int>(t.kind)]) + std::to_string(t.size);
}

Status bad(std::string text) { return Status(Code::invalid_argument, std::move(text)); }

// Reads the header, a Python dict: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class Header {
 public:
  explicit Header(std::string_view text) : text_(text) {}

  Status parse(Array& array) {
    if (!take('{')) return bad("its header is no dict");
    bool have_descr = false, have_order = false, have_shape = false;
    while (!take('}')) {
      const std::optional<std::string> key = quoted();
      if (!key || !take(':')) return bad("its header is damaged");
      if (*key == "descr") {
        const std::optional<std::string> text = quoted();
        if (!text) return bad("its elements are records; Kiln takes plain numbers");
        KILN_RETURN_IF_ERROR(read_dtype(*text, array.dtype));
        have_descr = true;
      } else if (*key == "fortran_order") {
        if (word("True")) return bad("it is in Fortran order; save np.ascontiguousarray(x)");
        if (!word("False")) return bad("its header is damaged");
        have_order = true;
      } else if (*key == "shape") {
        KILN_RETURN_IF_ERROR(read_shape(array.dims));
        have_shape = true;
      } else {
        return bad("its header has an unknown key '" + *key + "'");
      }
      take(',');
    }
    if (!have_descr || !have_order || !have_shape) return bad("its header lacks descr, fortran_order or shape");
    return {};
  }

 private:
  void skip_blanks() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
  }
  bool take(char c) {
    skip_blanks();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view w) {
    skip_blanks();
    if (!text_.starts_with(w)) return false;
    text_.remove_prefix(w.size());
    return true;
  }
  std::optional<std::string> quoted() {
    if (!take('\'')) return std::nullopt;
    const size_t end = text_.find('\'');
    if (end == text_.npos) return std::nullopt;
    std::string result(text_.substr(0, end));
    for (char& c : result)
      if (c < ' ' || c > '~') c = '?';  // it may become part of a message
    text_.remove_prefix(end + 1);
    return result;
  }
  Status read_dtype(const std::string& text, DType& dtype) {
    for (int i = 0; i < dtype_count; ++i)
      if (text == descr(static_cast<DType>(i))) {
        dtype = static_cast<DType>(i);
        return {};
      }
    return bad("its elements are '" + text + "', which Kiln does not have");
  }
  Status read_shape(std::vector<int64_t>& dims) {
    if (!take('(')) return bad("its header is damaged");
    while (!take(')')) {
      skip_blanks();
      int64_t dim = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), dim);
      if (error != std::errc() || dim < 0) return bad("its shape is damaged");
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      dims.push_back(dim);
      take(',');
    }
    return {};
  }

  std::string_view text_;
};

// Bytes of an array; nullopt if they are more than a size_t holds.
std::optional<size_t> byte_count(DType dtype, const std::vector<int64_t>& dims) {
  size_t bytes = size_of(dtype);
  for (int64_t d : dims)
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(d), &bytes)) return std::nullopt;
  return bytes;
}

Status named(const Status& status, const std::string& path) {
  return Status(status.code(), "'" + path + "' cannot be read as a .npy file: " + std::string(status.message()));
}

}  // namespace

Result<Array> parse(std::string_view bytes) {
  if (!bytes.starts_with(magic) || bytes.size() < 10) return bad("it does not start as one");
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(bytes[i])); };
  const size_t major = byte(6);
  if (major < 1 || major > 3) return bad("its format version is " + std::to_string(major) + ", known are 1 to 3");
  const size_t prefix = major == 1 ? 10 : 12;
  if (bytes.size() < prefix) return Status(Code::data_loss, "it is cut short");
  size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - prefix) return Status(Code::data_loss, "it is cut short");
  Array array;
  KILN_RETURN_IF_ERROR(Header(bytes.substr(prefix, length)).parse(array));
  const std::string_view data = bytes.substr(prefix + length);
  const std::optional<size_t> wanted = byte_count(array.dtype, array.dims);
  if (!wanted || data.size() < *wanted)
    return Status(Code::data_loss, "it is cut short: " + std::to_string(data.size()) +
                                       " bytes of elements, its shape needs " +
                                       (wanted ? std::to_string(*wanted) : "more than there can be"));
  if (data.size() > *wanted) return bad("it has bytes after its last element");
  array.data.resize(*wanted);
  std::memcpy(array.data.data(), data.data(), *wanted);
  return array;
}

Result<Array> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (!file || (file.peek() != EOF && !(bytes << file.rdbuf())))
    return Status(Code::not_found, "cannot read '" + path + "'");
  Result<Array> array = parse(bytes.view());
  if (!array.ok()) return named(array.status(), path);
  return array;
}

Result<std::string> format(DType dtype, const std::vector<int64_t>& dims, std::string_view data) {
  if (descr(dtype).empty())
    return Status(Code::unimplemented, std::string(name_of(dtype)) + " has no form in .npy files; cast it to f32");
  std::string header = "{'descr': '" + descr(dtype) + "', 'fortran_order': False, 'shape': (";
  for (int64_t d : dims) header += std::to_string(d) + ", ";
  if (dims.size() > 1)
    header.resize(header.size() - 2);
  else if (dims.size() == 1)
    header.pop_back();
  header += "), }";
  const size_t prefix = magic.size() + 4;
  header.append(63 - (prefix + header.size()) % 64, ' ');  // the elements start at a multiple of 64
  header += '\n';
  std::string bytes(magic);
  bytes += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  bytes += header;
  bytes += data;
  return bytes;
}

Status write(const std::string& path, DType dtype, const std::vector<int64_t>& dims, std::string_view data) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, format(dtype, dims, data));
  if (std::error_code e; std::filesystem::exists(path, e) && !std::filesystem::is_regular_file(path, e)) {
    std::ofstream device(path, std::ios::binary);  // /dev/stdout: nothing to replace
    if (device << bytes << std::flush) return {};
    return Status(Code::resource_exhausted, "cannot write '" + path + "'");
  }
  return write_file_atomically(path, bytes);
}

}  // namespace kiln::npy
