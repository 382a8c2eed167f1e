// The .kiln file, version 1. All numbers are little-endian.
//
//   header (32 bytes)   magic[8], u32 version, u32 section count, u64 file size, u64 checksum of header and table
//   table               per section (32 bytes): u32 kind, u32 zero, u64 offset, u64 length, u64 checksum
//   sections            one after the other, without gaps, to the end of the file
//
// There is one `index` section (names, variables, how the functions' inputs are bound), one `function` section for each
// function, and `data` sections: constants, variables and machine code, each content once. magic and version stay where
// they are in all versions.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace kiln::format {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::string_view magic{"\x89KILN\r\n\x1a", 8};
inline constexpr uint32_t version = 1;
inline constexpr size_t header_bytes = 32;
inline constexpr size_t checksum_offset = 24;
inline constexpr uint32_t most_sections = 1 << 20;
inline constexpr uint64_t most_structure_bytes = 256 << 20;  // of an index or function section
inline constexpr int max_step_depth = 64;

enum class SectionKind : uint32_t { index = 1, function = 2, data = 3 };

struct SectionEntry {
  SectionKind kind;
  uint32_t zero = 0;
  uint64_t offset, length, checksum;
};
static_assert(sizeof(SectionEntry) == 32 && std::is_trivially_copyable_v<SectionEntry>);

class Encoder {
 public:
  template <class T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, SectionEntry>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void count(size_t n) { put(static_cast<uint32_t>(n)); }
  void text(std::string_view s) {
    count(s.size());
    bytes.append(s);
  }
  std::string bytes;
};

// Reads what Encoder wrote. After a read beyond the end, or fail(), all reads give zeros and ok() is false.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  template <class T>
  T get() {
    T value{};
    if (rest_.size() < sizeof(T)) return fail(), value;
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return value;
  }
  // A number of elements of at least `least` bytes each: never more than the rest of the section can hold.
  uint32_t count(size_t least) {
    const auto n = get<uint32_t>();
    if (n > rest_.size() / least) return fail(), 0;
    return n;
  }
  std::string_view text() {
    const uint32_t n = count(1);
    const std::string_view s = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return s;
  }
  // A number below `limit`, for enums and indices.
  template <class T>
  T below(uint64_t limit) {
    const auto n = get<T>();
    if (static_cast<uint64_t>(n) >= limit) return fail(), T{};
    return n;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace kiln::format
