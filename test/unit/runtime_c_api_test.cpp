#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "runtime/artifact/writer.h"
#include "runtime/include/kiln/runtime.h"
#include "test/unit/runtime_testing.h"

namespace kiln {
namespace {

using namespace testing;

// A saved model with `serve` (no state), `update` (w = w + x, gives w + 1 of the old w) and `read` (w + x).
struct SavedModel {
  std::string path;
  SavedModel() {
    path = (std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp") + std::string("/kiln-test-XXXXXX");
    const int fd = mkstemp(path.data());
    REQUIRE(fd >= 0);
    close(fd);
    Executable read = update_executable();
    read.name = "read";
    read.outputs.pop_back();
    read.buffers.pop_back();
    read.steps = {kernel_step("add", {1, 0, 2}, read.inputs[0].shape[0])};
    ModelFile model;
    const float w[] = {10, 20, 30};
    model.variables = {{"w", DType::f32, {3}, buffer_of(w, sizeof(w))}};
    const std::vector<InputBinding> x_and_w = {{InputSource::argument, 0}, {InputSource::variable, 0}};
    model.functions = {{"serve", std::make_shared<Executable>(serve_executable()), {{InputSource::argument, 0}}},
                       {"update", std::make_shared<Executable>(update_executable()), x_and_w},
                       {"read", std::make_shared<Executable>(std::move(read)), x_and_w}};
    REQUIRE(save_model(path, model).ok());
  }
  ~SavedModel() { unlink(path.c_str()); }
};

rt::Model load(const SavedModel& saved) {
  auto model = rt::Model::load(saved.path.c_str());
  INFO(model.status().message());
  REQUIRE(model.ok());
  return *model;
}

}  // namespace

TEST_CASE("embedding: dtypes and codes are those of the runtime") {
  for (int32_t i = 0; i < dtype_count; ++i) {
    CHECK(std::string(kiln_dtype_name(i)) == name_of(static_cast<DType>(i)));
    CHECK(kiln_dtype_size(i) == size_of(static_cast<DType>(i)));
  }
  for (int32_t i : {-1, dtype_count}) {
    CHECK(kiln_dtype_name(i) == nullptr);
    CHECK(kiln_dtype_size(i) == 0);
  }
  for (int32_t i = 0; i < 20; ++i) {
    const std::string_view name = code_name(static_cast<Code>(i));
    static constexpr std::pair<rt::Code, std::string_view> codes[] = {
        {rt::Code::ok, "ok"},
        {rt::Code::invalid_argument, "invalid_argument"},
        {rt::Code::not_found, "not_found"},
        {rt::Code::resource_exhausted, "resource_exhausted"},
        {rt::Code::failed_precondition, "failed_precondition"},
        {rt::Code::out_of_range, "out_of_range"},
        {rt::Code::unimplemented, "unimplemented"},
        {rt::Code::internal, "internal"},
        {rt::Code::unavailable, "unavailable"},
        {rt::Code::data_loss, "data_loss"}};
    std::string_view found = "unknown";
    for (auto [code, text] : codes)
      if (static_cast<int32_t>(code) == i) found = text;
    CHECK(found == name);
  }
}

TEST_CASE("embedding: a model says what it holds") {
  const SavedModel saved;
  const rt::Model model = load(saved);
  const kiln_model* m = model.handle();
  REQUIRE(kiln_model_function_count(m) == 3);
  CHECK(std::string(kiln_model_function_name(m, 1)) == "update");
  CHECK(kiln_model_function_name(m, 3) == nullptr);
  CHECK(kiln_model_find_function(m, "serve", 5) == 0);
  CHECK(kiln_model_find_function(m, "serv", 4) == -1);
  CHECK(kiln_model_argument_count(m, 1) == 1);
  CHECK(kiln_model_result_count(m, 1) == 1);
  kiln_tensor_info info;
  REQUIRE(kiln_model_argument(m, 0, 0, &info) == KILN_OK);
  CHECK(std::string(info.name) == "x");
  CHECK(info.dtype == KILN_F32);
  CHECK(info.rank == 2);
  CHECK(info.dims[0] == -1);
  CHECK(info.dims[1] == 2);
  CHECK(kiln_model_argument(m, 0, 1, &info) == KILN_INVALID_ARGUMENT);
  REQUIRE(kiln_model_result(m, 0, 0, &info) == KILN_OK);
  CHECK(info.dims[1] == 2);
}

TEST_CASE("embedding: a function runs on the caller's memory") {
  const SavedModel saved;
  const rt::Model model = load(saved);
  unlink(saved.path.c_str());  // no longer needed
  auto session = model.session();
  REQUIRE(session.ok());
  const float x[] = {1, 2, 3, 4};
  float y[4] = {};
  const rt::View in{rt::f32, {2, 2}, x}, out{rt::f32, {2, 2}, y};
  for (int i = 0; i < 3; ++i) {
    const rt::Status status = session->run("serve", {&in, 1}, {&out, 1});
    INFO(status.message());
    REQUIRE(status.ok());
    CHECK(y[3] == 15);
    y[3] = 0;
  }
  rt::View shape;
  REQUIRE(session->infer("serve", {&in, 1}, {&shape, 1}).ok());
  CHECK(shape.dtype == KILN_F32);
  CHECK(shape.rank == 2);
  CHECK(shape.dims[0] == 2);
}

TEST_CASE("embedding: variables are the model's state, shared by its sessions") {
  const SavedModel saved;
  const rt::Model model = load(saved), other = load(saved);
  const float x[] = {1, 2, 3};
  float y[3];
  const rt::View in{rt::f32, {3}, x}, out{rt::f32, {3}, y};
  auto one = model.session(), two = model.session(), apart = other.session();
  REQUIRE(one->run("update", {&in, 1}, {&out, 1}).ok());
  CHECK(y[0] == 11);
  REQUIRE(two->run("read", {&in, 1}, {&out, 1}).ok());
  CHECK(y[2] == 36);
  REQUIRE(apart->run("read", {&in, 1}, {&out, 1}).ok());
  CHECK(y[2] == 33);
}

TEST_CASE("embedding: updates from many threads are not lost") {
  const SavedModel saved;
  const rt::Model model = load(saved);
  std::vector<std::thread> threads;
  std::atomic<int> failed{0}, torn{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto session = model.session();
      const float ones[] = {1, 1, 1}, zeros[] = {0, 0, 0};
      float y[3];
      const rt::View add{rt::f32, {3}, ones}, nothing{rt::f32, {3}, zeros}, out{rt::f32, {3}, y};
      for (int i = 0; i < 500; ++i) {
        const bool updates = (i + t) % 2;
        failed += !session->run(updates ? "update" : "read", {updates ? &add : &nothing, 1}, {&out, 1}).ok();
        torn += y[1] - y[0] != 10 || y[2] - y[0] != 20;
      }
    });
  for (auto& t : threads) t.join();
  CHECK(failed == 0);
  CHECK(torn == 0);
  auto session = model.session();
  const float zeros[] = {0, 0, 0};
  float y[3];
  const rt::View in{rt::f32, {3}, zeros}, out{rt::f32, {3}, y};
  REQUIRE(session->run("read", {&in, 1}, {&out, 1}).ok());
  CHECK(y[0] == 10 + 1000);
}

TEST_CASE("embedding: errors say what is wrong and leave the session usable") {
  const SavedModel saved;
  const rt::Model model = load(saved);
  auto session = model.session();
  const float x[4] = {};
  float y[4];
  const rt::View in{rt::f32, {2, 2}, x}, out{rt::f32, {2, 2}, y}, flat{rt::f32, {4}, x}, small{rt::f32, {1, 2}, y};
  const auto error = [&](const char* name, std::span<const rt::View> inputs, std::span<const rt::View> results) {
    const rt::Status status = session->run(name, inputs, results);
    CHECK(!status.ok());
    return status.message();
  };
  CHECK(error("gone", {&in, 1}, {&out, 1}) == "the model has no function 'gone'; it has 'serve', 'update', 'read'");
  CHECK(error("serve", {}, {&out, 1}) == "serve: got 0 arguments, needs 1");
  CHECK(error("serve", {&in, 1}, {}) == "serve: got 0 results, needs 1");
  CHECK(error("serve", {&flat, 1}, {&out, 1}) == "serve: input 'x' is f32[4], needs f32[batch,2]");
  CHECK(error("serve", {&in, 1}, {&small, 1}) == "serve: result 0 is f32[1,2], needs f32[2,2]");
  CHECK(error("serve", {&in, 1}, {&in, 1}) == "serve: result 0 overlaps input 'x'");
  rt::View odd = in;
  odd.dtype = 256 + KILN_F32;
  CHECK(error("serve", {&odd, 1}, {&out, 1}).find("needs f32[batch,2]") != std::string::npos);
  odd = in;
  odd.rank = 99;
  CHECK(error("serve", {&odd, 1}, {&out, 1}).find("needs f32[batch,2]") != std::string::npos);
  CHECK(error("serve", {&in, 1}, {&odd, 1}).find("needs f32[2,2]") != std::string::npos);
  CHECK(session->run("serve", {&in, 1}, {&out, 1}).ok());
}

TEST_CASE("embedding: loading refuses what it cannot do") {
  const SavedModel saved;
  const auto error = [](const char* path, const rt::LoadOptions& options = {}) {
    const auto model = rt::Model::load(path, options);
    CHECK(!model.ok());
    return model.status().message();
  };
  CHECK(error("/no/such.kiln").find("No such file") != std::string::npos);
  CHECK(error(saved.path.c_str(), {.device = "tpu"}) == "there is no device 'tpu'; this build has 'cpu'");
  CHECK(error(saved.path.c_str(), {.threads = -1}) == "threads is -1");
  CHECK(error(nullptr) == "kiln_model_load needs a path and where to put the model");
  CHECK(kiln_model_load(saved.path.c_str(), nullptr, nullptr, nullptr) == KILN_INVALID_ARGUMENT);
  CHECK(kiln_session_create(nullptr, nullptr, nullptr) == KILN_INVALID_ARGUMENT);
  CHECK(kiln_session_run(nullptr, 0, nullptr, 0, nullptr, 0, nullptr) == KILN_INVALID_ARGUMENT);
  kiln_model_release(nullptr);
  kiln_session_release(nullptr);
}

}  // namespace kiln
