// compile(): the disk cache first, then the compiler in libkiln_compiler.so, which is opened when it is first needed.
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "compiler/api/compiler.h"
#include "compiler/api/graph_hash.h"
#include "compiler/cache/disk_cache.h"
#include "runtime/artifact/hash.h"
#include "runtime/artifact/writer.h"
#include "runtime/exec/program.h"

namespace kiln {
namespace {

constexpr const char* library_name = "libkiln_compiler.so";

std::string file_of(const void* address) {
  Dl_info found;
  return dladdr(address, &found) && found.dli_fname ? found.dli_fname : "";
}

// $KILN_COMPILER, else beside libkiln.so.
std::string compiler_path() {
  if (const char* given = std::getenv("KILN_COMPILER"); given && *given) return given;
  const std::string own = file_of(reinterpret_cast<const void*>(&compiler_path));
  const size_t slash = own.rfind('/');
  const std::string beside = slash == std::string::npos ? library_name : own.substr(0, slash + 1) + library_name;
  struct stat ignored;
  if (stat(beside.c_str(), &ignored) == 0) return beside;
  // A program that links Kiln statically: its libraries' folder.
  return slash == std::string::npos ? beside : own.substr(0, slash + 1) + "../lib/" + library_name;
}

Result<const CompilerInterface*> open_compiler() {
  static const Result<const CompilerInterface*> opened = []() -> Result<const CompilerInterface*> {
    const std::string path = compiler_path();
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return Status(Code::unavailable, std::string("the compiler cannot be loaded, and the function is not in the disk "
                                                   "cache: ") +
                                           dlerror());
    const void* symbol = dlsym(library, "kiln_compiler_interface");
    if (!symbol) return Status(Code::unavailable, path + " is not Kiln's compiler: it has no kiln_compiler_interface");
    return static_cast<const CompilerInterface*>(symbol);
  }();
  return opened;
}

// Which build of Kiln this is: its libraries by size and time.
const std::string& build_id() {
  static const std::string id = [] {
    std::string text = "1";  // the layout of this text and of graph_bytes
    for (const std::string& path : {file_of(reinterpret_cast<const void*>(&compile)),
                                    file_of(reinterpret_cast<const void*>(&host_target)), compiler_path()}) {
      struct stat s{};
      stat(path.c_str(), &s);
      text += "/" + std::to_string(s.st_size) + "." + std::to_string(s.st_mtim.tv_sec) + "." +
              std::to_string(s.st_mtim.tv_nsec);
    }
    return text;
  }();
  return id;
}

std::string cache_key(const Graph& graph, const std::string& target) {
  const std::string bytes = build_id() + "\n" + target + "\n" + graph_bytes(graph);
  char text[33];
  std::snprintf(text, sizeof(text), "%016llx%016llx", static_cast<unsigned long long>(xxhash64(bytes, 0)),
                static_cast<unsigned long long>(xxhash64(bytes, 1)));
  return text;
}

// KILN_DUMP=folder: the IR of each compiled function, one file <function>.<n>.<stage>.mlir for each of the stages in
// KILN_DUMP_STAGES (default: kiln), then <function>.<n>.times: how long each stage took. For `kiln ir`.
class Dump {
 public:
  explicit Dump(const std::string& function) {
    const char* folder = std::getenv("KILN_DUMP");
    if (!folder || !*folder) return;
    static std::atomic<int> next = 0;
    std::string name = function;
    std::replace(name.begin(), name.end(), '/', '_');
    path_ = std::string(folder) + "/" + name + "." + std::to_string(next++);
  }
  bool on() const { return !path_.empty(); }

  Status write_stages(const Graph& graph, const CompileOptions& options) const {
    const char* wanted = std::getenv("KILN_DUMP_STAGES");
    const std::string list = "," + std::string(wanted && *wanted ? wanted : "kiln") + ",";
    for (size_t i = 0; i < std::size(stage_table); ++i) {
      const std::string name(stage_table[i].name);
      if (list.find("," + name + ",") == std::string::npos) continue;
      KILN_ASSIGN_OR_RETURN(const std::string text, lower_to_text(graph, static_cast<Stage>(i), options));
      KILN_RETURN_IF_ERROR(write_file_atomically(path_ + "." + name + ".mlir", text));
    }
    return {};
  }

  Status write_times(const CompileResult& result) const {
    std::string text;
    for (const StageTime& t : result.times) text += t.stage + " " + std::to_string(t.milliseconds) + "\n";
    return write_file_atomically(path_ + ".times", text);
  }

 private:
  std::string path_;  // without ".<stage>.mlir"; empty: off
};

CompileOptions with_defaults(CompileOptions options) {
  if (options.target.empty()) options.target = host_target();
  if (const char* verify = std::getenv("KILN_VERIFY"); verify && *verify == '1') options.verify = true;
  return options;
}

}  // namespace

Result<CompileResult> compile(const Graph& graph, const CompileOptions& given) {
  const auto start = std::chrono::steady_clock::now();
  CompileOptions options = with_defaults(given);
  const Dump dump(graph.name);
  if (dump.on()) {
    options.use_cache = false;  // for the times
    KILN_RETURN_IF_ERROR(dump.write_stages(graph, options));
  }
  const DiskCache cache;
  const std::string key = options.use_cache ? cache_key(graph, options.target) : "";
  if (options.use_cache) {
    if (auto executable = cache.load(key)) {
      CompileResult result;
      result.executable = std::move(executable);
      result.from_cache = true;
      result.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
      return result;
    }
  }
  KILN_ASSIGN_OR_RETURN(const CompilerInterface* compiler, open_compiler());
  KILN_ASSIGN_OR_RETURN(CompileResult result, compiler->compile(graph, options));
  if (options.use_cache) cache.store(key, *result.executable);
  if (dump.on()) KILN_RETURN_IF_ERROR(dump.write_times(result));
  return result;
}

Result<std::string> lower_to_text(const Graph& graph, Stage stage, const CompileOptions& options) {
  KILN_ASSIGN_OR_RETURN(const CompilerInterface* compiler, open_compiler());
  return compiler->lower_graph(graph, stage, with_defaults(options));
}

Result<std::string> lower_to_text(std::string_view kiln_ir, Stage stage, const CompileOptions& options) {
  KILN_ASSIGN_OR_RETURN(const CompilerInterface* compiler, open_compiler());
  return compiler->lower_text(kiln_ir, stage, with_defaults(options));
}

}  // namespace kiln
