#include <zlib.h>

#include <filesystem>

#include "test/unit/nn_testing.h"

using namespace kiln;
using nn_testing::error_of;

namespace {

// A folder of its own that goes with the test.
struct Folder {
  Folder() {
    path = (std::filesystem::temp_directory_path() / "kiln_idx_XXXXXX").string();
    REQUIRE(mkdtemp(path.data()));
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path + "/" + name, std::ios::binary) << bytes;
    return path + "/" + name;
  }
  std::string path;
};

std::string idx(uint8_t type, const std::vector<uint32_t>& sizes, const std::string& elements) {
  std::string bytes = {0, 0, static_cast<char>(type), static_cast<char>(sizes.size())};
  for (uint32_t n : sizes)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(n >> shift);
  return bytes + elements;
}

std::string gzipped(const std::string& text) {
  Folder folder;
  const std::string path = folder.path + "/x.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

TEST_CASE("read_idx reads each element type, plain and compressed") {
  const Folder folder;
  const std::string bytes = idx(0x08, {2, 3}, "abcdef");
  for (const std::string& path : {folder.write("plain", bytes), folder.write("packed.gz", gzipped(bytes))}) {
    const Tensor x = read_idx(path);
    CHECK(x.shape() == Shape{2, 3});
    CHECK(x.to_vector<uint8_t>() == std::vector<uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'});
  }
  CHECK(read_idx(folder.write("i8", idx(0x09, {1}, "\xFE"))).to_vector<int8_t>() == std::vector<int8_t>{-2});
  CHECK(read_idx(folder.write("i16", idx(0x0B, {1}, "\x01\x02"))).to_vector<int16_t>() == std::vector<int16_t>{258});
  CHECK(read_idx(folder.write("i32", idx(0x0C, {1}, std::string("\0\0\1\2", 4)))).to_vector<int32_t>() ==
        std::vector<int32_t>{258});
  CHECK(read_idx(folder.write("f32", idx(0x0D, {1}, std::string("\x3f\x80\0\0", 4)))).to_vector<float>() ==
        std::vector<float>{1.f});
  CHECK(read_idx(folder.write("f64", idx(0x0E, {1}, std::string("\xc0\0\0\0\0\0\0\0", 8)))).to_vector<double>() ==
        std::vector<double>{-2.0});
  CHECK(read_idx(folder.write("scalar", idx(0x08, {}, "a"))).shape() == Shape{});
  CHECK(read_idx(folder.write("empty", idx(0x08, {0, 5}, ""))).shape() == Shape{0, 5});
}

TEST_CASE("read_idx names the file and the offset of what is wrong") {
  const Folder folder;
  auto fails = [&](const std::string& bytes) {
    const std::string path = folder.write("bad", bytes);
    const std::string text = error_of(Code::data_loss, [&] { read_idx(path); });
    CHECK(text.find(path) != std::string::npos);
    CHECK(text.find("offset") != std::string::npos);
    return text;
  };
  const std::string good = idx(0x08, {2, 3}, "abcdef");
  for (size_t n = 0; n < good.size(); ++n) fails(good.substr(0, n));
  fails(good + "x");
  CHECK(fails(idx(0x08, {2, 3}, "abc")).find("offset 15") != std::string::npos);
  CHECK(fails("not an IDX file at all").find("magic") != std::string::npos);
  CHECK(fails(idx(0x0A, {1}, "ab")).find("magic") != std::string::npos);
  CHECK(fails(idx(0x08, std::vector<uint32_t>(9, 1), "a")).find("rank 9") != std::string::npos);
  // Sizes whose product overflows, or is more than the file can hold: nothing is allocated for them.
  CHECK(fails(idx(0x0E, std::vector<uint32_t>(8, 0xFFFFFFFFu), "a")).find("more than the file can hold") !=
        std::string::npos);
  CHECK(fails(idx(0x08, {0xFFFFFFFFu}, "a")).find("more than the file can hold") != std::string::npos);
  CHECK(fails(gzipped(idx(0x08, {0xFFFFFFFFu}, "a"))).find("more than the file can hold") != std::string::npos);
  error_of(Code::not_found, [&] { read_idx(folder.path + "/none"); });
}

TEST_CASE("read_idx: a compressed file cut short or with a flipped bit is an error, or gives the same array") {
  const Folder folder;
  std::string elements;
  for (int i = 0; i < 300; ++i)
    elements += static_cast<char>(static_cast<uint8_t>(256 * nn_testing::u(static_cast<uint64_t>(i), 7)));
  const std::string packed = gzipped(idx(0x08, {300}, elements));
  const std::vector<uint8_t> wanted(elements.begin(), elements.end());
  for (size_t n = 0; n < packed.size(); ++n) {
    const std::string path = folder.write("cut", packed.substr(0, n));
    error_of(Code::data_loss, [&] { read_idx(path); });
  }
  int unnoticed = 0;
  for (size_t bit = 0; bit < 8 * packed.size(); ++bit) {
    std::string flipped = packed;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const std::string path = folder.write("flipped", flipped);
    try {
      const std::vector<uint8_t> got = read_idx(path).to_vector<uint8_t>();
      CHECK(got == wanted);  // the time stamp, say, is in no checksum
      ++unnoticed;
    } catch (const Error& e) {
      CHECK(e.code() == Code::data_loss);
    }
  }
  CHECK(unnoticed < 8 * 10);  // only in the 10 bytes of gzip's header
}

TEST_CASE("load_mnist gives pixels from 0 to 1 and labels") {
  const auto [train, test] = load_mnist(std::string(KILN_TEST_DATA) + "/mnist");
  CHECK(train.images.shape() == Shape{60000, 28, 28, 1});
  CHECK(test.images.shape() == Shape{10000, 28, 28, 1});
  CHECK(train.labels.shape() == Shape{60000});
  const int32_t* labels = train.labels.data<int32_t>();
  CHECK(std::vector<int32_t>(labels, labels + 10) == std::vector<int32_t>{5, 0, 4, 1, 9, 2, 1, 3, 1, 4});
  // Known facts of the set: how often each digit occurs, and the mean of all training pixels.
  std::vector<int> count(10);
  for (int i = 0; i < 60000; ++i) ++count.at(static_cast<size_t>(labels[i]));
  CHECK(count == std::vector<int>{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949});
  const float* pixels = train.images.data<float>();
  double sum = 0;
  for (int64_t i = 0; i < train.images.size(); ++i) sum += static_cast<double>(pixels[i]);
  CHECK(std::abs(sum / static_cast<double>(train.images.size()) - 0.1306604) < 1e-6);

  const Folder folder;
  error_of(Code::not_found, [&] { load_mnist(folder.path); });
  for (const char* part : {"train", "t10k"}) {
    folder.write(std::string(part) + "-images-idx3-ubyte", idx(0x08, {2, 1, 1}, "ab"));
    folder.write(std::string(part) + "-labels-idx1-ubyte", idx(0x08, {3}, "abc"));
  }
  CHECK(error_of(Code::data_loss, [&] { load_mnist(folder.path); }).find("labels") != std::string::npos);
}
