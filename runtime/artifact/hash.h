// XXH64: the checksum of .kiln files and disk cache entries. Finds damage, does not stop forgery.
#pragma once
#include <cstdint>
#include <string_view>

namespace kiln {

//   uint64_t h = xxhash64("abc");  // 0x44bc2cf5ad770999
uint64_t xxhash64(std::string_view bytes, uint64_t seed = 0);

}  // namespace kiln
