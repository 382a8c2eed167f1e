#include "runtime/artifact/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <unordered_map>

#include "runtime/artifact/format.h"
#include "runtime/artifact/hash.h"
#include "runtime/base/no_throw.h"

namespace kiln {
namespace {

using namespace format;

// The file as a list of pieces, so that tensors are written from where they are.
class Layout {
 public:
  explicit Layout(const ModelFile& model) {
    Encoder index;
    put_tensors(index, model.variables, true);
    put_tensors(index, model.constants, false);
    index.count(model.functions.size());
    std::vector<std::string> functions;
    for (const SavedFunction& f : model.functions) {
      index.text(f.name);
      index.count(f.inputs.size());
      for (const InputBinding& b : f.inputs) {
        index.put(b.source);
        index.put(b.index);
      }
      Encoder function;
      put_executable(function, *f.executable);
      functions.push_back(std::move(function.bytes));
    }
    owned_.push_back({SectionKind::index, std::move(index.bytes)});
    for (std::string& f : functions) owned_.push_back({SectionKind::function, std::move(f)});
    finish();
  }

  const std::vector<std::string_view>& pieces() const { return pieces_; }

 private:
  struct Owned {
    SectionKind kind;
    std::string bytes;
  };
  struct Data {
    std::string_view bytes;
    uint64_t hash;
  };

  // The number of a data section with this content; equal contents share one.
  uint32_t data(std::string_view bytes) {
    const uint64_t hash = xxhash64(bytes);
    auto [begin, end] = by_hash_.equal_range(hash);
    for (auto i = begin; i != end; ++i)
      if (data_[i->second].bytes == bytes) return i->second;
    const auto number = static_cast<uint32_t>(data_.size());
    data_.push_back({bytes, hash});
    by_hash_.emplace(hash, number);
    return number;
  }

  // A variable is written to after loading: its section is its own.
  uint32_t own_data(std::string_view bytes) {
    data_.push_back({bytes, xxhash64(bytes)});
    return static_cast<uint32_t>(data_.size() - 1);
  }

  static std::string_view bytes_of(const Buffer& b) { return {reinterpret_cast<const char*>(b.data()), b.bytes()}; }

  void put_tensors(Encoder& out, const std::vector<SavedTensor>& tensors, bool variables) {
    out.count(tensors.size());
    for (const SavedTensor& t : tensors) {
      out.text(t.name);
      out.put(t.dtype);
      out.count(t.dims.size());
      for (int64_t d : t.dims) out.put(d);
      out.put(variables ? own_data(bytes_of(*t.data)) : data(bytes_of(*t.data)));
    }
  }

  static void put_shape(Encoder& out, DType dtype, const Shape& shape) {
    out.put(dtype);
    out.put(static_cast<uint8_t>(shape.rank()));
    for (Dim d : shape) out.put(d.raw());
  }

  static void put_steps(Encoder& out, const std::vector<Step>& steps) {
    out.count(steps.size());
    for (const Step& s : steps) {
      out.put(s.kind);
      out.text(s.callee);
      out.count(s.buffers.size());
      for (int32_t b : s.buffers) out.put(b);
      out.put(s.output_count);
      out.count(s.params.size());
      for (Dim d : s.params) out.put(d.raw());
      out.put(s.extent.raw());
      out.put(s.item_cost);
      out.put(s.location);
      put_steps(out, s.first);
      put_steps(out, s.second);
    }
  }

  void put_executable(Encoder& out, const Executable& e) {
    out.text(e.name);
    out.text(e.target);
    out.count(e.dims.exprs().size());
    for (const DimExpr& x : e.dims.exprs()) {
      out.put(x.op);
      out.put(x.a.raw());
      out.put(x.b.raw());
      out.text(x.name);
    }
    out.count(e.inputs.size());
    for (const InputInfo& i : e.inputs) {
      out.text(i.name);
      out.put(i.is_variable);
      put_shape(out, i.dtype, i.shape);
    }
    out.count(e.outputs.size());
    for (const OutputInfo& o : e.outputs) {
      put_shape(out, o.dtype, o.shape);
      out.put(o.updates);
    }
    out.count(e.buffers.size());
    for (const BufferInfo& b : e.buffers) {
      out.put(b.kind);
      out.put(b.index);
      put_shape(out, b.dtype, b.shape);
    }
    out.count(e.constants.size());
    for (const auto& c : e.constants) out.put(data(bytes_of(*c)));
    put_steps(out, e.steps);
    out.count(e.locations.size());
    for (const Location& l : e.locations) {
      out.text(l.file);
      out.put(l.line);
      out.text(l.op);
    }
    out.count(e.code.size());
    for (const std::string& c : e.code) out.put(data(c));
    out.text(e.ir);
  }

  void finish() {
    std::vector<SectionEntry> table;
    const size_t sections = owned_.size() + data_.size();
    uint64_t end = header_bytes + sections * sizeof(SectionEntry);
    pieces_.push_back({});
    const auto add = [&](SectionKind kind, std::string_view bytes, uint64_t hash) {
      table.push_back({kind, 0, end, bytes.size(), hash});
      pieces_.push_back(bytes);
      end += bytes.size();
    };
    for (const Owned& o : owned_) add(o.kind, o.bytes, xxhash64(o.bytes));
    for (const Data& d : data_) add(SectionKind::data, d.bytes, d.hash);
    Encoder header;
    header.bytes = magic;
    header.put(version);
    header.count(sections);
    header.put(end);
    header.put(uint64_t{0});
    for (const SectionEntry& e : table) header.put(e);
    const uint64_t hash = xxhash64(header.bytes);
    header.bytes.replace(checksum_offset, sizeof(hash), reinterpret_cast<const char*>(&hash), sizeof(hash));
    header_ = std::move(header.bytes);
    pieces_[0] = header_;
  }

  std::string header_;
  std::vector<Owned> owned_;
  std::vector<Data> data_;
  std::unordered_multimap<uint64_t, uint32_t> by_hash_;
  std::vector<std::string_view> pieces_;
};

std::string join(const std::vector<std::string_view>& pieces) {
  size_t bytes = 0;
  for (std::string_view p : pieces) bytes += p.size();
  std::string all;
  all.reserve(bytes);
  for (std::string_view p : pieces) all.append(p);
  return all;
}

Status save_error(const std::string& path, int error) {
  const Code code = error == ENOSPC || error == EDQUOT || error == EFBIG || error == ENOMEM || error == EMFILE
                        ? Code::resource_exhausted
                    : error == ENOENT || error == ENOTDIR ? Code::not_found
                                                          : Code::unavailable;
  return Status(code, "cannot save '" + path + "': " + std::generic_category().message(error));
}

int write_all(int fd, const std::vector<std::string_view>& pieces) {
  for (std::string_view p : pieces)
    while (!p.empty()) {
      const ssize_t n = write(fd, p.data(), p.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno;
      p.remove_prefix(static_cast<size_t>(n));
    }
  return 0;
}

// A temporary file beside `path`, of a name that no one else has.
int open_beside(const std::string& path, std::string& temporary) {
  static std::atomic<unsigned> counter{0};
  for (int tries = 0; tries < 100; ++tries) {
    temporary = path + ".tmp." + std::to_string(getpid()) + "." + std::to_string(counter++);
    const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

Status write_pieces(const std::string& path, const std::vector<std::string_view>& pieces) {
  std::string temporary;
  const int fd = open_beside(path, temporary);
  if (fd < 0) return save_error(path, errno);
  int error = write_all(fd, pieces);
  if (!error && fsync(fd) != 0) error = errno;
  if (close(fd) != 0 && !error) error = errno;
  if (!error && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error) {
    unlink(temporary.c_str());
    return save_error(path, error);
  }
  // The new name itself must survive a power loss too. Not all file systems can sync a folder: that is no failure.
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  if (const int dir = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); dir >= 0) {
    (void)fsync(dir);
    close(dir);
  }
  return Status();
}

}  // namespace

Status save_model(const std::string& path, const ModelFile& model) {
  return no_throw([&]() -> Status {
    KILN_RETURN_IF_ERROR(check_model(model));
    return write_pieces(path, Layout(model).pieces());
  });
}

Result<std::string> serialize_model(const ModelFile& model) {
  return no_throw([&]() -> Result<std::string> {
    KILN_RETURN_IF_ERROR(check_model(model));
    return join(Layout(model).pieces());
  });
}

std::string serialize_executable(const Executable& executable) {
  ModelFile model;
  model.functions.push_back({executable.name, {std::shared_ptr<void>(), &executable}, {}});
  return join(Layout(model).pieces());
}

Status write_file_atomically(const std::string& path, std::string_view bytes) {
  return no_throw([&] { return write_pieces(path, {bytes}); });
}

}  // namespace kiln
