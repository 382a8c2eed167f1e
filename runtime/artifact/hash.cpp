#include "runtime/artifact/hash.h"

#include <bit>
#include <cstring>

namespace kiln {
namespace {

constexpr uint64_t prime1 = 0x9E3779B185EBCA87, prime2 = 0xC2B2AE3D27D4EB4F, prime3 = 0x165667B19E3779F9,
                   prime4 = 0x85EBCA77C2B2AE63, prime5 = 0x27D4EB2F165667C5;

template <class T>
uint64_t load(const char* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}

uint64_t round(uint64_t sum, uint64_t input) { return std::rotl(sum + input * prime2, 31) * prime1; }
uint64_t merge(uint64_t hash, uint64_t sum) { return (hash ^ round(0, sum)) * prime1 + prime4; }

}  // namespace

uint64_t xxhash64(std::string_view bytes, uint64_t seed) {
  const char *p = bytes.data(), *end = p + bytes.size();
  uint64_t hash = seed + prime5;
  if (bytes.size() >= 32) {
    uint64_t a = seed + prime1 + prime2, b = seed + prime2, c = seed, d = seed - prime1;
    for (; end - p >= 32; p += 32) {
      a = round(a, load<uint64_t>(p));
      b = round(b, load<uint64_t>(p + 8));
      c = round(c, load<uint64_t>(p + 16));
      d = round(d, load<uint64_t>(p + 24));
    }
    hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
    hash = merge(merge(merge(merge(hash, a), b), c), d);
  }
  hash += bytes.size();
  for (; end - p >= 8; p += 8) hash = std::rotl(hash ^ round(0, load<uint64_t>(p)), 27) * prime1 + prime4;
  if (end - p >= 4) {
    hash = std::rotl(hash ^ load<uint32_t>(p) * prime1, 23) * prime2 + prime3;
    p += 4;
  }
  for (; p < end; ++p) hash = std::rotl(hash ^ static_cast<uint8_t>(*p) * prime5, 11) * prime1;
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}

}  // namespace kiln
