#include <elf.h>

#include <algorithm>

#include "runtime/exec/code_loader.h"
#include "runtime/exec/kernel.h"
#include "runtime/exec/launch.h"
#include "test/unit/runtime_testing.h"

namespace kiln {
namespace {

using namespace testing;

// Loaded code carries no type marks for -fsanitize=function to read.
[[clang::no_sanitize("function")]] int32_t call(const CodeObject& object, const char* name, void* const* buffers,
                                                const int64_t* params, int64_t end, CallContext* context) {
  return reinterpret_cast<KernelFunction>(object.find(name))(buffers, params, 0, end, context);
}

// A minimal object: one text section, one undefined symbol, one relocation against it.
std::string tiny_object(const std::string& symbol, uint32_t relocation, uint64_t flags = SHF_ALLOC | SHF_EXECINSTR) {
  const std::string names = std::string("\0.text\0.strtab\0.symtab\0.rela\0", 29) + symbol + '\0';
  const unsigned char code[16] = {0xC3};
  const Elf64_Sym symbols[2] = {{}, {29, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0, SHN_UNDEF, 0, 0}};
  const Elf64_Rela rela{4, ELF64_R_INFO(1, relocation), -4};
  std::string out(sizeof(Elf64_Ehdr), '\0');
  const auto put = [&](const void* p, size_t n) {
    const size_t at = out.size();
    out.append(static_cast<const char*>(p), n);
    return at;
  };
  const size_t text = put(code, sizeof(code)), strings = put(names.data(), names.size());
  const size_t table = put(symbols, sizeof(symbols)), relocations = put(&rela, sizeof(rela)), sections = out.size();
  const Elf64_Shdr headers[5] = {{},
                                 {1, SHT_PROGBITS, flags, 0, text, sizeof(code), 0, 0, 16, 0},
                                 {7, SHT_STRTAB, 0, 0, strings, names.size(), 0, 0, 1, 0},
                                 {15, SHT_SYMTAB, 0, 0, table, sizeof(symbols), 2, 1, 8, sizeof(Elf64_Sym)},
                                 {23, SHT_RELA, 0, 0, relocations, sizeof(rela), 3, 1, 8, sizeof(Elf64_Rela)}};
  put(headers, sizeof(headers));
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_shoff = sections;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 5;
  header.e_shstrndx = 2;
  std::memcpy(out.data(), &header, sizeof(header));
  return out;
}

}  // namespace

TEST_CASE("code loader: code, constants, data, GOT and C functions work") {
  const auto object = CodeObject::load(test_object());
  INFO(object.status().message());
  REQUIRE(object.ok());
  CallContext context{};
  float x[] = {1, 2, 3}, y[3];
  void* buffers[] = {x, y};
  REQUIRE(call(**object, "add_one", buffers, nullptr, 3, &context) == 0);
  CHECK(y[2] == 4);
  const int64_t index[] = {3, 0, 1};
  void* lookups[] = {const_cast<int64_t*>(index), y};
  REQUIRE(call(**object, "lookup", lookups, nullptr, 3, &context) == 0);
  CHECK(y[0] == 1000);
  CHECK(y[1] == 1);
  double a[] = {7.5}, b[1];
  void* doubles[] = {a, b};
  const int64_t lengths[] = {5, 5};
  REQUIRE(call(**object, "externals", doubles, lengths, 1, &context) == 0);
  CHECK(b[0] == 2.0);
  CHECK(std::string(context.message) == "xxxxxx");
  char text[8] = {};
  void* texts[] = {text};
  const int64_t two[] = {2};
  REQUIRE(call(**object, "word", texts, two, 1, &context) == 0);
  CHECK(std::string(text) == "two");
  CHECK((*object)->find("no_such") == nullptr);
  CHECK((*object)->find("table") == nullptr);  // data, and local
  CHECK((*object)->find("bias") == nullptr);   // data
}

TEST_CASE("code loader: two loads of one object have data of their own, and memory is given back") {
  const std::string bytes = test_object();
  const auto one = CodeObject::load(bytes).value(), two = CodeObject::load(bytes).value();
  CHECK(one->find("add_one") != two->find("add_one"));
  const auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
  };
  const auto before = mappings();
  for (int i = 0; i < 500; ++i) REQUIRE(CodeObject::load(bytes).ok());
  CHECK(mappings() < before + 100);
}

TEST_CASE("code loader: a damaged object never crashes the load") {
  const std::string good = test_object();
  REQUIRE(CodeObject::load(good).ok());
  int refused = 0;
  std::string bad = good;
  for (size_t i = 0; i < good.size(); ++i) {
    for (unsigned char flip : {0x01, 0x10, 0x7F, 0x80, 0xFF}) {
      bad[i] = static_cast<char>(good[i] ^ flip);
      const auto object = CodeObject::load(bad);
      refused += !object.ok();
      if (!object.ok() && object.status().message().empty()) FAIL("no text for byte " << i);
    }
    bad[i] = good[i];
  }
  CHECK(refused > 500);
  // The section table is last: each truncation loses a part of it.
  for (size_t n = 0; n < good.size(); ++n)
    if (CodeObject::load(good.substr(0, n)).status().code() != Code::data_loss) FAIL("cut to " << n);
}

TEST_CASE("code loader: what it does not support is named") {
  const auto error = [](const std::string& object) { return std::string(CodeObject::load(object).status().message()); };
  CHECK(CodeObject::load(tiny_object("memcpy", R_X86_64_PLT32)).ok());
  CHECK(CodeObject::load(tiny_object("memset", R_X86_64_GOTPCREL)).ok());
  CHECK(CodeObject::load(tiny_object("fmodf", R_X86_64_32)).ok());  // then the code lies low
  CHECK(error(tiny_object("system", R_X86_64_PLT32)) ==
        "code object needs the function 'system', which is not among those that code may call");
  CHECK(error(tiny_object("memcpy", R_X86_64_TPOFF32)) ==
        "code object with relocations of type 23, which the loader does not support");
  CHECK(error(tiny_object("memcpy", R_X86_64_PLT32, SHF_ALLOC | SHF_EXECINSTR | SHF_TLS)) ==
        "code object with thread-local data, which the loader does not support");
  CHECK(error("hello") == "damaged code object: it is shorter than an ELF header");
  CHECK(error(std::string(200, 'x')) == "damaged code object: it is not a relocatable x86-64 ELF object");
}

TEST_CASE("launch: library kernels run their phases in order over all items") {
  static const auto fill = [](void* const* b, const int64_t* p, int64_t begin, int64_t end, CallContext*) -> int32_t {
    for (int64_t i = begin; i < end; ++i) static_cast<int64_t*>(b[1])[i] = i * p[1];
    return 0;
  };
  static const auto sum = [](void* const* b, const int64_t* p, int64_t, int64_t, CallContext* c) -> int32_t {
    int64_t total = 0;
    for (int64_t i = 0; i < p[0]; ++i) total += static_cast<int64_t*>(b[1])[i];
    *static_cast<int64_t*>(b[0]) = total;
    if (total > 0) return 0;
    std::strcpy(c->message, "nothing to sum");
    return 3;
  };
  const auto extent = [](const int64_t* p) { return p[0]; };
  const auto one = [](const int64_t*) { return int64_t{1}; };
  const LibraryPhase phases[] = {{fill, extent, [](const int64_t*) { return int64_t{20}; }}, {sum, one, one}};
  const LibraryKernel kernel{"test", phases, 2, [](const int64_t* p) { return p[0] * 8; }};
  const int64_t params[] = {10000, 3}, zeros[] = {10000, 0};
  CHECK(workspace_bytes(kernel, params) == 80000);
  int64_t result = 0;
  std::vector<int64_t> workspace(10000);
  void* buffers[] = {&result, workspace.data()};
  REQUIRE(run_library_kernel(kernel, buffers, params).ok());
  CHECK(result == 3 * 10000 * 9999 / 2);
  const Status status = run_library_kernel(kernel, buffers, zeros);
  CHECK(status.code() == Code::invalid_argument);
  CHECK(status.message() == "nothing to sum");
}

TEST_CASE("launch: how an error names its op and line") {
  CHECK(located_message("gather", "index 7", "/src/project/model.cc", 41) == "gather: index 7 (model.cc:41)");
  CHECK(located_message("", "index 7", "", 0) == "index 7");
}

}  // namespace kiln
