#include "runtime/artifact/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "runtime/artifact/format.h"
#include "runtime/artifact/hash.h"
#include "runtime/base/no_throw.h"

namespace kiln {
namespace {

using namespace format;

Status damaged(const std::string& what) { return Status(Code::data_loss, "the file is damaged: " + what); }

// Where the bytes come from: memory or a file.
class Source {
 public:
  explicit Source(std::string_view bytes) : bytes_(bytes), size_(bytes.size()) {}
  Source(int fd, uint64_t size) : fd_(fd), size_(size) {}
  uint64_t size() const { return size_; }

  // The caller has checked that [offset, offset + length) lies inside.
  Status read(uint64_t offset, uint64_t length, char* to) const {
    if (fd_ < 0) {
      if (length) std::memcpy(to, bytes_.data() + offset, length);
      return Status();
    }
    while (length) {
      const ssize_t n = pread(fd_, to, length, static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Status(Code::unavailable, "cannot read: " + std::generic_category().message(errno));
      if (n == 0) return damaged("it ends while it is read");
      to += n;
      offset += static_cast<uint64_t>(n);
      length -= static_cast<uint64_t>(n);
    }
    return Status();
  }

 private:
  int fd_ = -1;
  std::string_view bytes_;
  uint64_t size_;
};

class Reader {
 public:
  explicit Reader(const Source& source) : source_(source) {}

  Result<ModelFile> read() {
    KILN_RETURN_IF_ERROR(read_header());
    ModelFile model;
    std::string index;
    std::vector<std::string> functions;
    for (const SectionEntry& s : sections_) {
      if (s.kind == SectionKind::data) {
        KILN_ASSIGN_OR_RETURN(auto buffer, Buffer::allocate(s.length));
        KILN_RETURN_IF_ERROR(read_section(s, reinterpret_cast<char*>(buffer->data())));
        data_.push_back({std::move(buffer)});
        continue;
      }
      std::string bytes(s.length, '\0');
      KILN_RETURN_IF_ERROR(read_section(s, bytes.data()));
      if (s.kind == SectionKind::function)
        functions.push_back(std::move(bytes));
      else if (index.empty())
        index = std::move(bytes);
      else
        return damaged("it has two indices");
    }
    KILN_RETURN_IF_ERROR(read_index(index, model));
    if (functions.size() != model.functions.size()) return damaged("it has not all of its functions");
    for (size_t i = 0; i < functions.size(); ++i) {
      auto executable = std::make_shared<Executable>();
      KILN_RETURN_IF_ERROR(read_executable(functions[i], *executable));
      functions[i] = {};
      model.functions[i].executable = std::move(executable);
    }
    return model;
  }

 private:
  struct Data {
    std::shared_ptr<Buffer> buffer;
    bool used = false, is_variable = false;
  };

  Status read_header() {
    char head[header_bytes];
    if (source_.size() < header_bytes) return damaged("it has only " + std::to_string(source_.size()) + " bytes");
    KILN_RETURN_IF_ERROR(source_.read(0, header_bytes, head));
    Decoder in({head, header_bytes});
    for (char c : magic)
      if (in.get<char>() != c) return damaged("it does not start as a .kiln file does");
    const auto made_by = in.get<uint32_t>();
    if (made_by > version)
      return Status(Code::unimplemented, "made by a newer Kiln (format " + std::to_string(made_by) +
                                             ", this build reads up to " + std::to_string(version) + ")");
    if (made_by == 0) return damaged("it has no version");
    const auto count = in.get<uint32_t>();
    const auto size = in.get<uint64_t>(), checksum = in.get<uint64_t>();
    if (size != source_.size())
      return damaged("it has " + std::to_string(source_.size()) + " bytes and should have " + std::to_string(size));
    if (count > most_sections || count > (size - header_bytes) / sizeof(SectionEntry))
      return damaged("its section table is cut short");
    const size_t table_bytes = count * sizeof(SectionEntry);
    std::string all(header_bytes + table_bytes, '\0');
    KILN_RETURN_IF_ERROR(source_.read(0, all.size(), all.data()));
    all.replace(checksum_offset, sizeof(uint64_t), sizeof(uint64_t), '\0');
    if (xxhash64(all) != checksum) return damaged("the checksum of its header is wrong");
    sections_.resize(count);
    std::memcpy(sections_.data(), all.data() + header_bytes, table_bytes);
    uint64_t end = all.size();
    for (const SectionEntry& s : sections_) {
      if (s.offset != end || s.length > size - end || s.zero != 0 || s.kind < SectionKind::index ||
          s.kind > SectionKind::data || (s.kind != SectionKind::data && s.length > most_structure_bytes))
        return damaged("its section table does not fit its size");
      end += s.length;
    }
    if (end != size) return damaged("it is longer than its sections");
    return Status();
  }

  Status read_section(const SectionEntry& s, char* to) const {
    KILN_RETURN_IF_ERROR(source_.read(s.offset, s.length, to));
    if (xxhash64({to, s.length}) != s.checksum)
      return damaged("the checksum of section " + std::to_string(&s - sections_.data()) + " is wrong");
    return Status();
  }

  Status read_index(std::string_view bytes, ModelFile& model) {
    Decoder in(bytes);
    get_tensors(in, model.variables, true);
    get_tensors(in, model.constants, false);
    const uint32_t functions = in.count(8);
    model.functions.reserve(functions);
    for (uint32_t i = 0; i < functions; ++i) {
      SavedFunction& f = model.functions.emplace_back();
      f.name = in.text();
      const uint32_t inputs = in.count(5);
      f.inputs.reserve(inputs);
      for (uint32_t k = 0; k < inputs; ++k) {
        const auto source = in.below<uint8_t>(3);
        f.inputs.push_back({static_cast<InputSource>(source), in.get<int32_t>()});
      }
    }
    if (!in.ok() || !in.at_end()) return damaged("its index does not hold together");
    return Status();
  }

  void get_tensors(Decoder& in, std::vector<SavedTensor>& tensors, bool variables) {
    const uint32_t count = in.count(13);
    tensors.reserve(count);
    for (uint32_t i = 0; i < count; ++i) {
      SavedTensor& t = tensors.emplace_back();
      t.name = in.text();
      t.dtype = static_cast<DType>(in.below<uint8_t>(dtype_count));
      const uint32_t rank = in.count(8);
      for (uint32_t d = 0; d < rank; ++d) t.dims.push_back(in.get<int64_t>());
      t.data = get_data(in, variables);
      if (!in.ok()) break;
    }
  }

  Dim get_dim(Decoder& in) {
    const auto raw = in.get<int64_t>();
    if (raw < -int64_t{INT32_MAX}) return in.fail(), Dim();  // the id of an unknown dim has 31 bits
    return Dim::from_raw(raw);
  }

  Shape get_shape(Decoder& in, DType& dtype) {
    dtype = static_cast<DType>(in.below<uint8_t>(dtype_count));
    Shape shape;
    for (int rank = in.below<uint8_t>(max_rank + 1); rank > 0; --rank) shape.push_back(get_dim(in));
    return shape;
  }

  void get_steps(Decoder& in, std::vector<Step>& steps, int depth) {
    constexpr size_t least_bytes = 45;
    const uint32_t count = in.count(least_bytes);
    if (depth > max_step_depth) return in.fail();
    steps.reserve(count);
    for (uint32_t i = 0; i < count && in.ok(); ++i) {
      Step& s = steps.emplace_back();
      s.kind = static_cast<StepKind>(in.below<uint8_t>(static_cast<int>(StepKind::while_) + 1));
      s.callee = in.text();
      const uint32_t buffers = in.count(sizeof(int32_t));
      s.buffers.reserve(buffers);
      for (uint32_t b = 0; b < buffers; ++b) s.buffers.push_back(in.get<int32_t>());
      s.output_count = in.get<int32_t>();
      const uint32_t params = in.count(sizeof(int64_t));
      s.params.reserve(params);
      for (uint32_t p = 0; p < params; ++p) s.params.push_back(get_dim(in));
      s.extent = get_dim(in);
      s.item_cost = in.get<int64_t>();
      s.location = in.get<int32_t>();
      get_steps(in, s.first, depth + 1);
      get_steps(in, s.second, depth + 1);
    }
  }

  // A data section. That of a variable, which is written to, is used once.
  std::shared_ptr<Buffer> get_data(Decoder& in, bool variable = false) {
    const auto number = in.below<uint32_t>(data_.size());
    if (!in.ok()) return nullptr;
    Data& data = data_[number];
    if (data.is_variable || (variable && data.used)) return in.fail(), nullptr;
    data.used = true;
    data.is_variable = variable;
    return data.buffer;
  }

  Status read_executable(std::string_view bytes, Executable& e) {
    Decoder in(bytes);
    e.name = in.text();
    e.target = in.text();
    for (uint32_t n = in.count(21); n > 0 && in.ok(); --n) {
      DimExpr& x = e.dims.exprs().emplace_back();
      x.op = static_cast<DimOp>(in.below<uint8_t>(static_cast<int>(DimOp::positive) + 1));
      x.a = get_dim(in);
      x.b = get_dim(in);
      x.name = in.text();
    }
    for (uint32_t n = in.count(7); n > 0 && in.ok(); --n) {
      InputInfo& i = e.inputs.emplace_back();
      i.name = in.text();
      i.is_variable = in.below<uint8_t>(2) != 0;
      i.shape = get_shape(in, i.dtype);
    }
    for (uint32_t n = in.count(6); n > 0 && in.ok(); --n) {
      OutputInfo& o = e.outputs.emplace_back();
      o.shape = get_shape(in, o.dtype);
      o.updates = in.get<int32_t>();
    }
    for (uint32_t n = in.count(7); n > 0 && in.ok(); --n) {
      BufferInfo& b = e.buffers.emplace_back();
      b.kind = static_cast<BufferKind>(in.below<uint8_t>(static_cast<int>(BufferKind::view) + 1));
      b.index = in.get<int32_t>();
      b.shape = get_shape(in, b.dtype);
    }
    for (uint32_t n = in.count(4); n > 0; --n) e.constants.push_back(get_data(in));
    get_steps(in, e.steps, 0);
    for (uint32_t n = in.count(12); n > 0 && in.ok(); --n) {
      Location& l = e.locations.emplace_back();
      l.file = in.text();
      l.line = in.get<int32_t>();
      l.op = in.text();
    }
    for (uint32_t n = in.count(4); n > 0; --n)
      if (auto code = get_data(in)) e.code.emplace_back(reinterpret_cast<const char*>(code->data()), code->bytes());
    e.ir = in.text();
    if (!in.ok() || !in.at_end()) return damaged("function '" + e.name + "' does not hold together");
    return Status();
  }

  const Source& source_;
  std::vector<SectionEntry> sections_;
  std::vector<Data> data_;
};

Result<ModelFile> read_checked(const Source& source) {
  KILN_ASSIGN_OR_RETURN(ModelFile model, Reader(source).read());
  if (Status status = check_model(model); !status.ok()) return damaged(std::string(status.message()));
  return model;
}

Result<ModelFile> load_file(const std::string& path) {
  const auto named = [&](const Status& s) { return Status(s.code(), "'" + path + "': " + std::string(s.message())); };
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const int error = errno;
    return named(Status(error == ENOENT || error == ENOTDIR ? Code::not_found : Code::unavailable,
                        "cannot open: " + std::generic_category().message(error)));
  }
  const struct Closer {
    int fd;
    ~Closer() { close(fd); }
  } closer{fd};
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return named(Status(Code::invalid_argument, "not a file"));
  Result<ModelFile> model = read_checked(Source(fd, static_cast<uint64_t>(info.st_size)));
  if (!model.ok()) return named(model.status());
  return model;
}

}  // namespace

Result<ModelFile> load_model(const std::string& path) {
  return no_throw([&] { return load_file(path); });
}

Result<ModelFile> deserialize_model(std::string_view bytes) {
  return no_throw([&] { return read_checked(Source(bytes)); });
}

Result<std::shared_ptr<const Executable>> deserialize_executable(std::string_view bytes) {
  return no_throw([&]() -> Result<std::shared_ptr<const Executable>> {
    const Source source(bytes);
    KILN_ASSIGN_OR_RETURN(ModelFile model, Reader(source).read());
    if (model.functions.size() != 1) return damaged("it holds not one function");
    return std::move(model.functions[0].executable);
  });
}

}  // namespace kiln
