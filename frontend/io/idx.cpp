#include "frontend/io/idx.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "frontend/include/kiln/error.h"
#include "frontend/tensor/rep.h"
#include "runtime/base/thread_pool.h"

namespace kiln {
namespace {

// A file read from start to end through zlib, which passes uncompressed files through.
class InputFile {
 public:
  InputFile(const std::string& path, std::source_location where) : path_(path), where_(where) {
    std::error_code error;
    bytes_ = std::filesystem::file_size(path, error);
    if (error) throw_error(Code::not_found, "read_idx: cannot read " + path + ": " + error.message(), where);
    file_.reset(gzopen(path.c_str(), "rb"));
    if (!file_) throw_error(Code::not_found, "read_idx: cannot open " + path, where);
    gzbuffer(file_.get(), 1 << 17);
  }

  // Fails unless all of it is there.
  void read(void* out, size_t bytes, const char* what) {
    auto* at = static_cast<char*>(out);
    while (bytes > 0) {
      const int got = gzread(file_.get(), at, static_cast<unsigned>(std::min<size_t>(bytes, 1 << 24)));
      if (got <= 0) fail(damage().value_or(std::string("the file ends inside ") + what));
      at += got, bytes -= static_cast<size_t>(got);
    }
  }

  // Fails if something follows. Only here zlib compares its checksum of all that came before.
  void expect_end() {
    char extra;
    if (gzread(file_.get(), &extra, 1) > 0) fail("more bytes follow than the sizes in the header say");
    if (const std::optional<std::string> text = damage()) fail(*text);
  }

  // The most that the rest of the file can hold: deflate packs no more than 1032 bytes into one.
  uint64_t capacity() const { return gzdirect(file_.get()) ? bytes_ : bytes_ * 1032; }

  [[noreturn]] void fail(const std::string& text) const {
    const std::string offset = std::to_string(gztell(file_.get()));
    throw_error(Code::data_loss,
                "read_idx: " + path_ + ": " + text + " (offset " + offset +
                    (gzdirect(file_.get()) ? "" : " of the uncompressed data") + ")",
                where_);
  }

 private:
  // What zlib found wrong, if anything.
  std::optional<std::string> damage() const {
    int code = Z_OK;
    std::string text = gzerror(file_.get(), &code);
    if (code == Z_OK || code == Z_STREAM_END) return std::nullopt;
    if (code == Z_BUF_ERROR) return "the compressed file is cut short";
    if (text.starts_with(path_ + ": ")) text.erase(0, path_.size() + 2);
    return "the compressed file is damaged: " + text;
  }

  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };
  std::string path_;
  std::source_location where_;
  uint64_t bytes_ = 0;
  std::unique_ptr<std::remove_pointer_t<gzFile>, Close> file_;
};

std::optional<DType> element_type(uint8_t code) {
  switch (code) {
    case 0x08:
      return DType::u8;
    case 0x09:
      return DType::i8;
    case 0x0B:
      return DType::i16;
    case 0x0C:
      return DType::i32;
    case 0x0D:
      return DType::f32;
    case 0x0E:
      return DType::f64;
    default:
      return std::nullopt;
  }
}

// Numbers are stored with the highest byte first.
void reverse_bytes(std::byte* data, size_t count, size_t size) {
  if (size == 1 || std::endian::native == std::endian::big) return;
  for (size_t i = 0; i < count; ++i) std::reverse(data + i * size, data + (i + 1) * size);
}

}  // namespace

Tensor read_idx(const std::string& path, std::source_location where) {
  InputFile file(path, where);
  uint8_t magic[4];
  file.read(magic, sizeof(magic), "the magic number");
  const std::optional<DType> dtype = element_type(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || !dtype) file.fail("not an IDX file: wrong magic number");
  const int rank = magic[3];
  if (rank > max_rank) file.fail("rank " + std::to_string(rank) + ", the most is " + std::to_string(max_rank));

  Shape shape;
  uint64_t bytes = size_of(*dtype);
  for (int i = 0; i < rank; ++i) {
    uint8_t size[4];
    file.read(size, sizeof(size), "the sizes");
    const uint64_t n = uint64_t{size[0]} << 24 | uint64_t{size[1]} << 16 | uint64_t{size[2]} << 8 | size[3];
    shape.push_back(static_cast<int64_t>(n));
    if (__builtin_mul_overflow(bytes, n, &bytes) || bytes > file.capacity())
      file.fail("sizes " + to_string(shape) + " are more than the file can hold");
  }
  Tensor result = detail::make_uninitialised(*dtype, shape, where);
  std::byte* data = result.rep()->data();
  file.read(data, bytes, "the elements");
  file.expect_end();
  reverse_bytes(data, bytes / size_of(*dtype), size_of(*dtype));
  return result;
}

namespace {

std::string existing_file(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name;
  return std::filesystem::exists(path) ? path : path + ".gz";
}

LabelledImages load_part(const std::string& folder, const std::string& part, std::source_location where) {
  const std::string image_file = existing_file(folder, part + "-images-idx3-ubyte");
  const std::string label_file = existing_file(folder, part + "-labels-idx1-ubyte");
  const Tensor pixels = read_idx(image_file, where), digits = read_idx(label_file, where);
  if (pixels.dtype() != DType::u8 || pixels.rank() != 3)
    throw_error(Code::data_loss, "load_mnist: " + image_file + " must hold u8[n,rows,columns]", where);
  if (digits.dtype() != DType::u8 || digits.rank() != 1)
    throw_error(Code::data_loss, "load_mnist: " + label_file + " must hold u8[n]", where);
  if (pixels.dim(0) != digits.dim(0))
    throw_error(Code::data_loss,
                "load_mnist: " + to_string(pixels.shape()) + " images in " + image_file + ", but " +
                    to_string(digits.shape()) + " labels in " + label_file,
                where);

  Shape shape = pixels.shape();
  shape.push_back(1);
  Tensor images = detail::make_uninitialised(DType::f32, shape, where);
  Tensor labels = detail::make_uninitialised(DType::i32, digits.shape(), where);
  const auto* from = pixels.data<uint8_t>();
  auto* to = reinterpret_cast<float*>(images.rep()->data());
  parallel_for(pixels.size(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<float>(from[i]) / 255.f;
  });
  std::copy_n(digits.data<uint8_t>(), digits.size(), reinterpret_cast<int32_t*>(labels.rep()->data()));
  return {std::move(images), std::move(labels)};
}

}  // namespace

Mnist load_mnist(const std::string& folder, std::source_location where) {
  return {load_part(folder, "train", where), load_part(folder, "t10k", where)};
}

}  // namespace kiln
