#include "runtime/exec/code_loader.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/base/no_throw.h"

namespace kiln {
namespace {

// What loaded code may call. Calls go through a stub, as the functions are too far for a 32-bit distance.
struct External {
  const char* name;
  void* address;
};
const External externals[] = {
    {"memcpy", reinterpret_cast<void*>(&std::memcpy)},
    {"memmove", reinterpret_cast<void*>(&std::memmove)},
    {"memset", reinterpret_cast<void*>(&std::memset)},
    {"fmod", reinterpret_cast<void*>(static_cast<double (*)(double, double)>(&std::fmod))},
    {"fmodf", reinterpret_cast<void*>(static_cast<float (*)(float, float)>(&std::fmod))},
};
constexpr size_t external_count = sizeof(externals) / sizeof(externals[0]);
constexpr size_t stub_bytes = 8;           // jmp *distance(%rip), padded
constexpr uint64_t most_zeroed = 1 << 20;  // memory that an object may ask for beyond its own size
constexpr uint64_t most_bytes = uint64_t{1} << 30;

Status damaged(const std::string& what) { return Status(Code::data_loss, "damaged code object: " + what); }
Status unsupported(const std::string& what) {
  return Status(Code::unimplemented, "code object with " + what + ", which the loader does not support");
}

uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

}  // namespace

class ObjectLoader {
 public:
  ObjectLoader(std::string_view elf, CodeObject& object) : elf_(elf), object_(object) {}

  Status load() {
    KILN_RETURN_IF_ERROR(read_sections());
    KILN_RETURN_IF_ERROR(read_symbols());
    KILN_RETURN_IF_ERROR(scan_relocations());
    KILN_RETURN_IF_ERROR(map());
    KILN_RETURN_IF_ERROR(relocate());
    KILN_RETURN_IF_ERROR(protect());
    return list_functions();
  }

 private:
  enum Segment { text, constants, variables, segment_count };
  struct Section {
    Elf64_Shdr header;
    bool loaded = false;
    uint64_t address = 0;  // offset in the segment, then in memory
  };
  struct Target {
    uint64_t address = 0;
    int external = -1;
  };

  bool contains(uint64_t offset, uint64_t bytes) const {
    return offset <= elf_.size() && bytes <= elf_.size() - offset;
  }

  template <class T>
  T read(uint64_t offset) const {  // the caller has checked the bounds
    T value;
    std::memcpy(&value, elf_.data() + offset, sizeof(T));
    return value;
  }

  // A zero-terminated name in a string section; empty if it is not wholly inside.
  std::string_view name(const Elf64_Shdr& strings, uint64_t offset) const {
    if (offset >= strings.sh_size) return {};
    const std::string_view rest = elf_.substr(strings.sh_offset + offset, strings.sh_size - offset);
    const size_t end = rest.find('\0');
    return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
  }

  const Elf64_Shdr* strings_of(uint32_t section) const {
    return section < sections_.size() && sections_[section].header.sh_type == SHT_STRTAB ? &sections_[section].header
                                                                                         : nullptr;
  }

  Status read_sections() {
    if (!contains(0, sizeof(Elf64_Ehdr))) return damaged("it is shorter than an ELF header");
    const auto header = read<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL || header.e_machine != EM_X86_64)
      return damaged("it is not a relocatable x86-64 ELF object");
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 ||
        !contains(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)))
      return damaged("its section table lies outside of it");
    for (int i = 0; i < header.e_shnum; ++i) {
      const auto s = read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
      if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL && !contains(s.sh_offset, s.sh_size))
        return damaged("section " + std::to_string(i) + " lies outside of it");
      sections_.push_back({s});
    }
    const Elf64_Shdr* names = strings_of(header.e_shstrndx);
    if (!names) return damaged("it has no section names");
    uint64_t zeroed = 0;
    for (Section& section : sections_) {
      const Elf64_Shdr& s = section.header;
      if (!(s.sh_flags & SHF_ALLOC) || name(*names, s.sh_name) == ".eh_frame") continue;
      if (s.sh_flags & SHF_TLS) return unsupported("thread-local data");
      if (s.sh_type == SHT_INIT_ARRAY || s.sh_type == SHT_FINI_ARRAY || s.sh_type == SHT_PREINIT_ARRAY)
        return unsupported("static constructors");
      if (s.sh_type != SHT_PROGBITS && s.sh_type != SHT_NOBITS) continue;
      const uint64_t align = s.sh_addralign ? s.sh_addralign : 1;
      if ((align & (align - 1)) != 0 || align > 4096)
        return damaged("a section's alignment is " + std::to_string(align));
      if (s.sh_type == SHT_NOBITS && (s.sh_size > most_zeroed || (zeroed += s.sh_size) > most_zeroed))
        return damaged("it asks for more than 1 MiB of zeroed memory");
      uint64_t& end = segment_bytes_[segment_of(s)];
      section.address = round_up(end, align);
      section.loaded = true;
      end = section.address + s.sh_size;
      if (end > most_bytes) return damaged("it is too large");
    }
    return Status();
  }

  static Segment segment_of(const Elf64_Shdr& s) {
    return s.sh_flags & SHF_EXECINSTR ? text : s.sh_flags & SHF_WRITE ? variables : constants;
  }

  Status read_symbols() {
    for (const Section& section : sections_) {
      const Elf64_Shdr& s = section.header;
      if (s.sh_type == SHT_SYMTAB_SHNDX) return unsupported("more than 65279 sections");
      if (s.sh_type != SHT_SYMTAB) continue;
      if (names_) return damaged("it has two symbol tables");
      names_ = strings_of(s.sh_link);
      if (!names_ || s.sh_entsize != sizeof(Elf64_Sym) || s.sh_size % sizeof(Elf64_Sym) != 0)
        return damaged("its symbol table has a wrong form");
      for (uint64_t i = 0; i < s.sh_size / sizeof(Elf64_Sym); ++i)
        symbols_.push_back(read<Elf64_Sym>(s.sh_offset + i * sizeof(Elf64_Sym)));
    }
    return Status();
  }

  static bool is_got(uint32_t type) {
    return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
  }

  // Finds which symbols need a slot in the GOT, and whether the code must lie in the low 2 GiB.
  Status scan_relocations() {
    got_slots_.assign(symbols_.size(), -1);
    for (const Section& section : sections_) {
      const Elf64_Shdr& s = section.header;
      if (s.sh_type == SHT_REL) return unsupported("relocations without addend");
      if (s.sh_type != SHT_RELA) continue;
      if (s.sh_info >= sections_.size() || s.sh_entsize != sizeof(Elf64_Rela) || s.sh_size % sizeof(Elf64_Rela) != 0)
        return damaged("a relocation table has a wrong form");
      if (!sections_[s.sh_info].loaded) continue;
      if (sections_[s.sh_info].header.sh_type == SHT_NOBITS) return damaged("it relocates zeroed memory");
      for (uint64_t i = 0; i < s.sh_size / sizeof(Elf64_Rela); ++i) {
        const auto r = read<Elf64_Rela>(s.sh_offset + i * sizeof(Elf64_Rela));
        const uint32_t type = ELF64_R_TYPE(r.r_info), symbol = ELF64_R_SYM(r.r_info);
        if (type == R_X86_64_NONE) continue;
        if (symbol >= symbols_.size()) return damaged("a relocation names a symbol that does not exist");
        low_ |= type == R_X86_64_32 || type == R_X86_64_32S;
        if (is_got(type) && got_slots_[symbol] < 0) got_slots_[symbol] = got_count_++;
        relocations_.push_back({s.sh_info, r});
      }
    }
    return Status();
  }

  Status map() {
    const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    stubs_ = round_up(segment_bytes_[text], 16);
    segment_bytes_[text] = stubs_ + external_count * stub_bytes;
    got_ = round_up(segment_bytes_[constants], 16);
    segment_bytes_[constants] = got_ + (external_count + got_count_) * sizeof(uint64_t);
    uint64_t total = 0;
    for (int i = 0; i < segment_count; ++i) {
      segment_begin_[i] = total;
      segment_bytes_[i] = round_up(segment_bytes_[i], page);
      total += segment_bytes_[i];
    }
    void* p = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (low_ ? MAP_32BIT : 0), -1, 0);
    if (p == MAP_FAILED)
      return Status(Code::resource_exhausted, "no memory for " + std::to_string(total) + " bytes of code");
    object_.memory_ = static_cast<std::byte*>(p);
    object_.bytes_ = total;
    base_ = reinterpret_cast<uint64_t>(p);
    stubs_ += base_ + segment_begin_[text];
    got_ += base_ + segment_begin_[constants];
    for (Section& s : sections_) {
      if (!s.loaded) continue;
      s.address += base_ + segment_begin_[segment_of(s.header)];
      if (s.header.sh_type == SHT_PROGBITS && s.header.sh_size)
        std::memcpy(reinterpret_cast<void*>(s.address), elf_.data() + s.header.sh_offset, s.header.sh_size);
    }
    for (size_t i = 0; i < external_count; ++i) {
      const uint64_t stub = stubs_ + i * stub_bytes, slot = got_ + i * sizeof(uint64_t);
      const unsigned char jump[] = {0xFF, 0x25};
      const auto distance = static_cast<int32_t>(slot - (stub + 6));
      std::memcpy(reinterpret_cast<void*>(stub), jump, sizeof(jump));
      std::memcpy(reinterpret_cast<void*>(stub + 2), &distance, sizeof(distance));
      std::memcpy(reinterpret_cast<void*>(slot), &externals[i].address, sizeof(uint64_t));
    }
    return Status();
  }

  Result<Target> resolve(uint32_t index) const {
    const Elf64_Sym& s = symbols_[index];
    if (s.st_shndx == SHN_UNDEF) {
      const std::string_view wanted = name(*names_, s.st_name);
      if (wanted == "_GLOBAL_OFFSET_TABLE_") return Target{got_, -1};
      for (size_t i = 0; i < external_count; ++i)
        if (wanted == externals[i].name) return Target{stubs_ + i * stub_bytes, static_cast<int>(i)};
      return Status(Code::unimplemented, "code object needs the function '" + std::string(wanted) +
                                             "', which is not among those that code may call");
    }
    if (s.st_shndx == SHN_ABS) return Target{s.st_value, -1};
    if (s.st_shndx >= sections_.size() || !sections_[s.st_shndx].loaded ||
        s.st_value > sections_[s.st_shndx].header.sh_size)
      return damaged("symbol " + std::to_string(index) + " lies outside of its section");
    return Target{sections_[s.st_shndx].address + s.st_value, -1};
  }

  Status relocate() {
    for (const auto& [section, r] : relocations_) {
      const uint32_t type = ELF64_R_TYPE(r.r_info), symbol = ELF64_R_SYM(r.r_info);
      KILN_ASSIGN_OR_RETURN(const Target target, resolve(symbol));
      const auto addend = static_cast<uint64_t>(r.r_addend);
      const uint64_t place = sections_[section].address + r.r_offset;
      uint64_t value;
      int width = 4;
      bool is_signed = true;
      switch (type) {
        case R_X86_64_64:
          value =
              (target.external >= 0 ? reinterpret_cast<uint64_t>(externals[target.external].address) : target.address) +
              addend;
          width = 8;
          break;
        case R_X86_64_PC64:
          value = target.address + addend - place;
          width = 8;
          break;
        case R_X86_64_PC32:
        case R_X86_64_PLT32:
          value = target.address + addend - place;
          break;
        case R_X86_64_GOTPC32:
          value = got_ + addend - place;
          break;
        case R_X86_64_32:
          value = target.address + addend;
          is_signed = false;
          break;
        case R_X86_64_32S:
          value = target.address + addend;
          break;
        case R_X86_64_GOTPCREL:
        case R_X86_64_GOTPCRELX:
        case R_X86_64_REX_GOTPCRELX: {
          uint64_t slot = got_ + target.external * sizeof(uint64_t);
          if (target.external < 0) {
            slot = got_ + (external_count + got_slots_[symbol]) * sizeof(uint64_t);
            std::memcpy(reinterpret_cast<void*>(slot), &target.address, sizeof(uint64_t));
          }
          value = slot + addend - place;
          break;
        }
        default:
          return unsupported("relocations of type " + std::to_string(type));
      }
      const uint64_t size = sections_[section].header.sh_size;
      if (r.r_offset > size || size - r.r_offset < static_cast<uint64_t>(width))
        return damaged("a relocation lies outside of its section");
      if (width == 4 && (is_signed ? static_cast<int64_t>(value) != static_cast<int32_t>(value) : value > UINT32_MAX))
        return damaged("a relocation does not fit in 32 bits");
      std::memcpy(reinterpret_cast<void*>(place), &value, width);
    }
    return Status();
  }

  Status protect() {
    const int modes[segment_count] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    for (int i = 0; i < segment_count; ++i)
      if (segment_bytes_[i] && mprotect(object_.memory_ + segment_begin_[i], segment_bytes_[i], modes[i]) != 0)
        return Status(Code::unavailable, "this system does not allow memory to become executable");
    return Status();
  }

  Status list_functions() {
    for (const Elf64_Sym& s : symbols_) {
      if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || ELF64_ST_BIND(s.st_info) == STB_LOCAL || s.st_shndx == SHN_UNDEF ||
          s.st_shndx >= sections_.size())
        continue;
      const Section& section = sections_[s.st_shndx];
      const std::string_view function = name(*names_, s.st_name);
      if (!section.loaded || !(section.header.sh_flags & SHF_EXECINSTR) || s.st_value >= section.header.sh_size ||
          function.empty())
        return damaged("function '" + std::string(function) + "' lies outside of the code");
      object_.functions_.emplace(function, reinterpret_cast<void*>(section.address + s.st_value));
    }
    return Status();
  }

  std::string_view elf_;
  CodeObject& object_;
  std::vector<Section> sections_;
  std::vector<Elf64_Sym> symbols_;
  const Elf64_Shdr* names_ = nullptr;
  std::vector<std::pair<uint32_t, Elf64_Rela>> relocations_;
  std::vector<int32_t> got_slots_;  // of each symbol, -1: none
  int32_t got_count_ = 0;
  bool low_ = false;
  uint64_t segment_bytes_[segment_count] = {}, segment_begin_[segment_count] = {};
  uint64_t base_ = 0, stubs_ = 0, got_ = 0;
};

Result<std::shared_ptr<const CodeObject>> CodeObject::load(std::string_view elf) {
  return no_throw([&]() -> Result<std::shared_ptr<const CodeObject>> {
    std::shared_ptr<CodeObject> object(new CodeObject);
    KILN_RETURN_IF_ERROR(ObjectLoader(elf, *object).load());
    return std::shared_ptr<const CodeObject>(std::move(object));
  });
}

CodeObject::~CodeObject() {
  if (memory_) munmap(memory_, bytes_);
}

void* CodeObject::find(std::string_view symbol) const {
  const auto found = functions_.find(std::string(symbol));
  return found == functions_.end() ? nullptr : found->second;
}

}  // namespace kiln
