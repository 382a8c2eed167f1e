#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "runtime/artifact/format.h"
#include "runtime/artifact/hash.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/writer.h"
#include "test/unit/runtime_testing.h"

namespace kiln {
namespace {

using namespace testing;
namespace fs = std::filesystem;

struct TemporaryFolder {
  fs::path path;
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "kiln-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~TemporaryFolder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(path), {})); }
};

SavedTensor tensor(std::string name, std::vector<float> values) {
  return {std::move(name),
          DType::f32,
          {static_cast<int64_t>(values.size())},
          buffer_of(values.data(), values.size() * sizeof(float))};
}

// Two functions that share a variable, a branch, a loop, and all that an Executable can hold.
ModelFile sample_model() {
  ModelFile model;
  model.variables = {tensor("w", {10, 20, 30}), tensor("m", {0, 0, 0})};
  model.constants = {tensor("table", {0, 0, 0})};
  Executable update = update_executable();
  update.target = "x86-64";
  update.locations = {{"model.cc", 7, "add"}};
  update.steps[0].location = 0;
  update.ir = "kiln.func @update";
  Executable show = update_executable();
  show.name = "show";
  show.outputs.pop_back();
  show.buffers.pop_back();
  const float c[] = {0, 0, 0};
  show.constants = {buffer_of(c, sizeof(c))};
  show.buffers.push_back({BufferKind::constant, 0, DType::f32, Shape{3}});
  show.buffers.push_back({BufferKind::temp, 0, DType::bool_, Shape{}});
  show.steps = {kernel_step("less", {0, 1, 4}, 1),
                region_step(StepKind::if_, 4, {kernel_step("add", {0, 1, 2}, show.inputs[0].shape[0])},
                            {kernel_step("add_one", {1, 2}, show.inputs[0].shape[0])})};
  show.inputs[1].is_variable = false;
  model.functions = {{"update",
                      std::make_shared<Executable>(std::move(update)),
                      {{InputSource::argument, 0}, {InputSource::variable, 0}}},
                     {"show",
                      std::make_shared<Executable>(std::move(show)),
                      {{InputSource::argument, 0}, {InputSource::constant, 0}}}};
  return model;
}

std::string sample_bytes() { return serialize_model(sample_model()).value(); }

void write_file(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

}  // namespace

TEST_CASE("xxhash64: published vectors") {
  CHECK(xxhash64("") == 0xef46db3751d8e999);
  CHECK(xxhash64("a") == 0xd24ec4f1a98c6e5b);
  CHECK(xxhash64("abc") == 0x44bc2cf5ad770999);
  CHECK(xxhash64("Nobody inspects the spammish repetition") == 0xfbcea83c8a378bf1);
}

TEST_CASE("artifact: a model comes back as it was") {
  const ModelFile before = sample_model();
  Result<ModelFile> after = deserialize_model(serialize_model(before).value());
  INFO(after.status().message());
  REQUIRE(after.ok());
  REQUIRE(after->functions.size() == 2);
  REQUIRE(after->variables.size() == 2);
  CHECK(after->variables[0].name == "w");
  CHECK(after->variables[0].dims == std::vector<int64_t>{3});
  CHECK(std::memcmp(after->variables[0].data->data(), before.variables[0].data->data(), 12) == 0);
  CHECK(after->functions[0].name == "update");
  CHECK(after->functions[0].inputs[1].source == InputSource::variable);
  const Executable& e = *after->functions[0].executable;
  CHECK(e.name == "update");
  CHECK(e.target == "x86-64");
  CHECK(e.ir == "kiln.func @update");
  CHECK(e.dims.exprs() == before.functions[0].executable->dims.exprs());
  CHECK(e.outputs[1].updates == 1);
  CHECK(e.steps[0].callee == "add_one");
  CHECK(e.locations[0].file == "model.cc");
  CHECK(e.code == before.functions[0].executable->code);
  const Executable& show = *after->functions[1].executable;
  REQUIRE(show.steps[1].first.size() == 1);
  CHECK(show.steps[1].second[0].callee == "add_one");
  // Written twice, the bytes are the same; read and written again too.
  CHECK(serialize_model(before).value() == serialize_model(*after).value());
  // It runs.
  Session session(load_program(e));
  Floats x({3}, {1, 2, 3}), y({3});
  TensorRef w{after->variables[0].data->data(), DType::f32, x.dims.data(), 1};
  const TensorRef in[] = {x, w}, out[] = {y};
  REQUIRE(session.run(in, out).ok());
  CHECK(y.data == std::vector<float>{11, 21, 31});
  CHECK(*reinterpret_cast<float*>(after->variables[0].data->data()) == 11);
}

TEST_CASE("artifact: equal contents are stored once, variables stay apart") {
  const std::string once = sample_bytes();
  ModelFile model = sample_model();
  std::vector<float> large(10000, 1.5f);
  for (int i = 0; i < 5; ++i) model.constants.push_back(tensor("c" + std::to_string(i), large));
  const std::string bytes = serialize_model(model).value();
  CHECK(bytes.size() < once.size() + 41000);
  Result<ModelFile> loaded = deserialize_model(bytes);
  REQUIRE(loaded.ok());
  CHECK(loaded->constants[1].data == loaded->constants[5].data);
  model.variables.push_back(tensor("v", large));
  loaded = deserialize_model(serialize_model(model).value());
  REQUIRE(loaded.ok());
  CHECK(loaded->variables.back().data != loaded->constants[1].data);
}

TEST_CASE("artifact: one executable by itself") {
  const Executable e = serve_executable();
  const auto back = deserialize_executable(serialize_executable(e));
  REQUIRE(back.ok());
  Session session(load_program(**back));
  Floats x({1, 2}), y({1, 2});
  const TensorRef in[] = {x}, out[] = {y};
  REQUIRE(session.run(in, out).ok());
  CHECK(y.data == std::vector<float>{3, 3});
  CHECK(deserialize_model(serialize_executable(e)).status().code() == Code::data_loss);  // its inputs are not bound
}

TEST_CASE("artifact: every flipped byte is found") {
  const std::string good = sample_bytes();
  REQUIRE(deserialize_model(good).ok());
  std::string bad = good;
  for (size_t i = 0; i < bad.size(); ++i) {
    for (unsigned char flip : {0x01, 0x80, 0xFF}) {
      bad[i] = static_cast<char>(good[i] ^ flip);
      const Code code = deserialize_model(bad).status().code();
      const bool version = i >= 8 && i < 12;
      if (code != Code::data_loss && !(version && code == Code::unimplemented)) FAIL("byte " << i << " flip " << +flip);
    }
    bad[i] = good[i];
  }
}

TEST_CASE("artifact: every truncation is found, and what is appended") {
  const std::string good = sample_bytes();
  TemporaryFolder folder;
  for (size_t n = 0; n < good.size(); ++n)
    if (deserialize_model(good.substr(0, n)).status().code() != Code::data_loss) FAIL("cut to " << n);
  CHECK(deserialize_model(good + "x").status().code() == Code::data_loss);
  for (size_t n : {size_t{0}, size_t{5}, size_t{40}, good.size() / 2, good.size() - 1}) {
    write_file(folder.file("cut.kiln"), good.substr(0, n));
    CHECK(load_model(folder.file("cut.kiln")).status().code() == Code::data_loss);
  }
}

TEST_CASE("artifact: damage with a right checksum does not crash either") {
  // Each byte of the structured sections is changed and the checksums are made to fit: hostile, not damaged.
  const std::string good = sample_bytes();
  const auto entry = [&](size_t k) {
    format::SectionEntry e;
    std::memcpy(&e, good.data() + format::header_bytes + k * sizeof(e), sizeof(e));
    return e;
  };
  int accepted = 0, refused = 0;
  for (size_t section = 0; section < 3; ++section) {
    const format::SectionEntry e = entry(section);
    REQUIRE(e.kind != format::SectionKind::data);
    for (uint64_t i = e.offset; i < e.offset + e.length; ++i)
      for (unsigned char flip : {0x01, 0x7F, 0x80, 0xFF}) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ flip);
        format::SectionEntry changed = e;
        changed.checksum = xxhash64(std::string_view(bad).substr(e.offset, e.length));
        std::memcpy(bad.data() + format::header_bytes + section * sizeof(e), &changed, sizeof(e));
        std::memset(bad.data() + format::checksum_offset, 0, 8);
        const uint64_t sum = xxhash64(std::string_view(bad).substr(0, entry(0).offset));
        std::memcpy(bad.data() + format::checksum_offset, &sum, 8);
        Result<ModelFile> model = deserialize_model(bad);
        ++(model.ok() ? accepted : refused);
        if (!model.ok()) continue;
        for (const SavedFunction& f : model->functions) {
          auto program = Program::load(f.executable);
          if (!program.ok()) continue;
          Session session(*program);
          Floats x({3}), w({3});
          const TensorRef in[] = {x, w};
          (void)session.bind(in);
        }
      }
  }
  CHECK(refused > 100);
  CHECK(accepted > 100);  // names and numbers that mean something else
}

TEST_CASE("artifact: a file of a newer version says so") {
  std::string bytes = sample_bytes();
  bytes[8] = 3;
  TemporaryFolder folder;
  write_file(folder.file("new.kiln"), bytes);
  const Status status = load_model(folder.file("new.kiln")).status();
  CHECK(status.code() == Code::unimplemented);
  CHECK(std::string(status.message()) ==
        "'" + folder.file("new.kiln") + "': made by a newer Kiln (format 3, this build reads up to 1)");
}

TEST_CASE("artifact: what is no .kiln file") {
  TemporaryFolder folder;
  CHECK(load_model(folder.file("none.kiln")).status().code() == Code::not_found);
  CHECK(load_model(folder.path.string()).status().code() == Code::invalid_argument);
  REQUIRE(mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  CHECK(load_model(folder.file("pipe")).status().code() == Code::invalid_argument);
  write_file(folder.file("text"), std::string(1000, 'x'));
  CHECK(load_model(folder.file("text")).status().code() == Code::data_loss);
}

TEST_CASE("artifact: a huge size in the header asks for no memory") {
  std::string bytes = sample_bytes();
  const uint64_t huge = uint64_t{1} << 50;
  std::memcpy(bytes.data() + 16, &huge, 8);
  const uint32_t many = 0xFFFFFFFF;
  std::memcpy(bytes.data() + 12, &many, 4);
  CHECK(deserialize_model(bytes).status().code() == Code::data_loss);
  // A file with holes of that size, too.
  TemporaryFolder folder;
  write_file(folder.file("holes.kiln"), bytes);
  if (truncate(folder.file("holes.kiln").c_str(), int64_t{1} << 40) == 0) {
    const uint64_t size = uint64_t{1} << 40;
    std::fstream file(folder.file("holes.kiln"), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(16);
    file.write(reinterpret_cast<const char*>(&size), 8);
    file.close();
    CHECK(load_model(folder.file("holes.kiln")).status().code() == Code::data_loss);
  }
}

TEST_CASE("artifact: saving replaces the old file and leaves no other") {
  TemporaryFolder folder;
  const std::string path = folder.file("m.kiln");
  write_file(path, "old");
  REQUIRE(save_model(path, sample_model()).ok());
  CHECK(read_file(path) == sample_bytes());
  CHECK(folder.files() == 1);
  CHECK(save_model(folder.file("no/such/m.kiln"), sample_model()).code() == Code::not_found);
  fs::create_directory(folder.path / "taken");
  CHECK(save_model(folder.file("taken"), sample_model()).code() == Code::unavailable);
  CHECK(folder.files() == 2);
}

TEST_CASE("artifact: no space leaves the old file whole and no other") {
  TemporaryFolder folder;
  const std::string path = folder.file("m.kiln");
  write_file(path, "old");
  const size_t size = sample_bytes().size();
  // A limit on file sizes gives a short write, then an error, as a full disk does. In a child: it cannot be undone.
  for (size_t limit : {size_t{0}, size_t{1}, size_t{100}, size / 2, size - 1}) {
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit most{limit, limit};
      if (setrlimit(RLIMIT_FSIZE, &most) != 0) _exit(2);
      const Status status = save_model(path, sample_model());
      _exit(status.code() == Code::resource_exhausted && status.message().find("cannot save") != std::string_view::npos
                ? 0
                : 1);
    }
    int result = -1;
    REQUIRE(waitpid(child, &result, 0) == child);
    CHECK(result == 0);
    CHECK(read_file(path) == "old");
    CHECK(folder.files() == 1);
  }
}

TEST_CASE("artifact: killed before or after any system call of a save, the file is the old or the new one") {
  TemporaryFolder folder;
  const std::string path = folder.file("m.kiln");
  ModelFile model = sample_model();
  REQUIRE(save_model(path, model).ok());
  const std::string before = read_file(path);
  model.constants.push_back(tensor("more", std::vector<float>(200000, 2.0f)));
  const std::string after = serialize_model(model).value();
  int stops_with_old = 0, stops_with_new = 0;
  for (int last_stop = 1;; ++last_stop) {
    const pid_t child = fork();
    if (child == 0) {
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      raise(SIGSTOP);
      _exit(save_model(path, model).ok() ? 0 : 1);
    }
    int state = 0, stop = 0;
    REQUIRE(waitpid(child, &state, 0) == child);
    REQUIRE(WIFSTOPPED(state));
    // Two stops for each system call: before and after it.
    while (stop < last_stop && !WIFEXITED(state)) {
      REQUIRE(ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0);
      REQUIRE(waitpid(child, &state, 0) == child);
      ++stop;
    }
    if (WIFEXITED(state)) {
      CHECK(WEXITSTATUS(state) == 0);
      break;
    }
    kill(child, SIGKILL);
    REQUIRE(waitpid(child, &state, 0) == child);
    const std::string now = read_file(path);
    REQUIRE((now == before || now == after));
    REQUIRE(load_model(path).ok());
    ++(now == before ? stops_with_old : stops_with_new);
    if (now == after) fs::rename(path, folder.file("new")), write_file(path, before);
  }
  CHECK(stops_with_old >= 10);
  CHECK(stops_with_new >= 3);
}

TEST_CASE("artifact: a model that does not fit together is not saved") {
  const auto refuse = [](auto change) {
    ModelFile model = sample_model();
    change(model);
    const auto result = serialize_model(model);
    CHECK(result.status().code() == Code::invalid_argument);
    return std::string(result.status().message());
  };
  CHECK(refuse([](ModelFile& m) { m.variables[0].dims = {4}; }) == "variable 'w' has not the size that its dims say");
  CHECK(refuse([](ModelFile& m) { m.functions[1].name = "update"; }) == "two functions have the name 'update'");
  CHECK(refuse([](ModelFile& m) { m.functions[0].inputs.pop_back(); }) ==
        "function 'update' has 2 inputs, 1 of them bound");
  CHECK(refuse([](ModelFile& m) { m.functions[0].inputs[1].index = 9; }) ==
        "function 'update': input 'w' is bound to a tensor that does not exist");
  CHECK(refuse([](ModelFile& m) { m.functions[0].inputs[1].source = InputSource::argument; }) ==
        "function 'update': input 'w' is argument 0, which is not free");
  CHECK(refuse([](ModelFile& m) { m.functions[0].inputs[0].index = 1; }) ==
        "function 'update': argument 0 is bound to no input");
  CHECK(refuse([](ModelFile& m) { m.functions[0].inputs[1].source = InputSource::constant; }) ==
        "function 'update' updates an input that is not a variable");
}

}  // namespace kiln
