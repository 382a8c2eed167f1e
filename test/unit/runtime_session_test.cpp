#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "runtime/base/thread_pool.h"
#include "test/unit/runtime_testing.h"

namespace kiln {
namespace {

using namespace testing;

std::string run_error(Session& session, std::vector<TensorRef> inputs, std::vector<TensorRef> results,
                      Code code = Code::invalid_argument) {
  const Status status = session.run(inputs, results);
  CHECK(code_name(status.code()) == code_name(code));
  return std::string(status.message());
}

void run(Session& session, std::vector<TensorRef> inputs, std::vector<TensorRef> results) {
  const Status status = session.run(inputs, results);
  INFO(status.message());
  REQUIRE(status.ok());
}

}  // namespace

TEST_CASE("session: one program serves many batch sizes") {
  Session session(load_program(serve_executable()));
  for (int round = 0; round < 2; ++round)
    for (int64_t batch : {3, 1, 0, 40000, 3, 2}) {
      Floats x({batch, 2}), y({batch, 2});
      for (size_t i = 0; i < x.data.size(); ++i) x.data[i] = static_cast<float>(i % 1000);
      run(session, {x}, {y});
      for (size_t i = 0; i < x.data.size(); ++i) REQUIRE(y.data[i] == (static_cast<float>(i % 1000) + 1) * 3);
    }
}

TEST_CASE("session: more dim sets than it keeps plans for") {
  Session session(load_program(serve_executable()));
  for (int round = 0; round < 2; ++round)
    for (int64_t batch = 1; batch < 40; ++batch) {
      Floats x({batch, 2}), y({batch, 2});
      x.data.back() = static_cast<float>(batch);
      run(session, {x}, {y});
      REQUIRE(y.data.back() == static_cast<float>((batch + 1) * 3));
    }
}

TEST_CASE("session: results are known after bind, before memory is given") {
  Session session(load_program(serve_executable()));
  Floats x({5, 2});
  const TensorRef inputs[] = {x};
  REQUIRE(session.bind(inputs).ok());
  REQUIRE(session.results().size() == 1);
  const ResultInfo result = session.results()[0];
  CHECK(result.dtype == DType::f32);
  CHECK(std::vector(result.dims.begin(), result.dims.end()) == std::vector<int64_t>{5, 2});
  CHECK(result.bytes == 40);
  std::vector<float> y(10);
  void* const addresses[] = {y.data()};
  REQUIRE(session.execute(addresses).ok());
  CHECK(y == std::vector<float>(10, 3.0f));
}

TEST_CASE("session: execute without bind is refused") {
  Session session(load_program(serve_executable()));
  float y[2];
  void* const addresses[] = {y};
  CHECK(session.execute(addresses).code() == Code::failed_precondition);
}

TEST_CASE("session: wrong inputs and results are named") {
  Session session(load_program(serve_executable()));
  Floats x({3, 2}), y({3, 2}), wide({3, 4}), flat({6});
  Longs whole({3, 2});
  CHECK(run_error(session, {}, {y}) == "serve: got 0 inputs, needs 1");
  CHECK(run_error(session, {wide}, {y}) == "serve: input 'x' is f32[3,4], needs f32[batch,2]");
  CHECK(run_error(session, {flat}, {y}) == "serve: input 'x' is f32[6], needs f32[batch,2]");
  CHECK(run_error(session, {whole}, {y}) == "serve: input 'x' is i64[3,2], needs f32[batch,2]");
  CHECK(run_error(session, {x}, {}) == "serve: got 0 results, needs 1");
  CHECK(run_error(session, {x}, {wide}) == "serve: result 0 is f32[3,4], needs f32[3,2]");
  CHECK(run_error(session, {x}, {x}) == "serve: result 0 overlaps input 'x'");
  TensorRef empty = x;
  empty.data = nullptr;
  CHECK(run_error(session, {empty}, {y}) == "serve: input 'x' has no data");
  CHECK(run_error(session, {x}, {TensorRef{nullptr, DType::f32, y.dims.data(), 2}}) == "serve: result 0 has no memory");
  TensorRef odd = x;
  odd.data = static_cast<char*>(odd.data) + 1;
  CHECK(run_error(session, {odd}, {y}) == "serve: input 'x' is not aligned to its element size");
  TensorRef bad = x;
  bad.dtype = static_cast<DType>(200);
  CHECK(run_error(session, {bad}, {y}) == "serve: input 'x' is dtype?[3,2], needs f32[batch,2]");
  const int64_t negative[] = {-1, 2};
  CHECK(run_error(session, {TensorRef{x.data.data(), DType::f32, negative, 2}}, {y}) ==
        "serve: input 'x' is f32[-1,2], needs f32[batch,2]");
  run(session, {x}, {y});  // still usable
}

TEST_CASE("session: dims too large for memory are refused") {
  Session session(load_program(serve_executable()));
  Floats x({1, 2}), y({1, 2});
  const int64_t huge[] = {int64_t{1} << 61, 2}, large[] = {int64_t{1} << 45, 2};
  CHECK(run_error(session, {TensorRef{x.data.data(), DType::f32, huge, 2}}, {y}, Code::resource_exhausted) ==
        "serve: a value of type f32[batch,2] does not fit in memory");
  CHECK(run_error(session, {TensorRef{x.data.data(), DType::f32, large, 2}}, {y}, Code::resource_exhausted) ==
        "serve: no memory for a buffer of 281474976710656 bytes (temporary values)");
  const int64_t overflow[] = {std::numeric_limits<int64_t>::max(), 2};
  CHECK(run_error(session, {TensorRef{x.data.data(), DType::f32, overflow, 2}}, {y}) ==
        "serve: dim batch*2 does not fit in 64 bits");
  run(session, {x}, {y});
  CHECK(y.data == std::vector<float>{3, 3});
}

TEST_CASE("session: a repeated unknown dim has one value") {
  Session session(load_program(update_executable()));
  Floats x({3}), w({4}), y({3});
  CHECK(run_error(session, {x, w}, {y}) == "update: dim 0 of input 'w' is 4, but 'n' is 3 in dim 0 of input 'x'");
}

TEST_CASE("session: a variable is updated in place") {
  Session session(load_program(update_executable()));
  Floats x({3}, {1, 2, 3}), w({3}, {10, 20, 30}), y({3});
  run(session, {x, w}, {y});
  CHECK(y.data == std::vector<float>{11, 21, 31});
  CHECK(w.data == std::vector<float>{11, 22, 33});
  run(session, {x, w}, {y});
  CHECK(y.data == std::vector<float>{12, 23, 34});
  CHECK(w.data == std::vector<float>{12, 24, 36});
}

TEST_CASE("session: branches and loops") {
  // f(x f32[], limit f32[]): if (x < limit) while (x < limit) x = x + 1; else x = x * 2
  Executable e;
  e.name = "f";
  const Shape scalar;
  e.inputs = {{"x", false, DType::f32, scalar}, {"limit", false, DType::f32, scalar}};
  e.outputs = {{DType::f32, scalar}};
  e.buffers = {{BufferKind::input, 0, DType::f32, scalar},  {BufferKind::input, 1, DType::f32, scalar},
               {BufferKind::output, 0, DType::f32, scalar}, {BufferKind::temp, 0, DType::bool_, scalar},
               {BufferKind::temp, 0, DType::f32, scalar},   {BufferKind::temp, 0, DType::bool_, scalar},
               {BufferKind::temp, 0, DType::f32, scalar}};
  std::vector<Step> loop = {copy_step(0, 4),
                            region_step(StepKind::while_, 5, {kernel_step("less", {4, 1, 5}, 1)},
                                        {kernel_step("add_one", {4, 6}, 1), copy_step(6, 4)}),
                            copy_step(4, 2)};
  e.steps = {kernel_step("less", {0, 1, 3}, 1),
             region_step(StepKind::if_, 3, loop, {kernel_step("scale", {0, 2}, 1, {2})})};
  e.code = {test_object()};
  Session session(load_program(e));
  Floats x({}, {0.5f}), limit({}, {1000}), y({});
  run(session, {x, limit}, {y});
  CHECK(y.data[0] == 1000.5f);
  limit.data[0] = 0;
  run(session, {x, limit}, {y});
  CHECK(y.data[0] == 1.0f);
}

TEST_CASE("session: constants and views share memory") {
  // f(x f32[2,3]) = reshape(x, [6]) + c
  Executable e;
  e.name = "f";
  const float c[] = {1, 2, 3, 4, 5, 6};
  e.inputs = {{"x", false, DType::f32, Shape{2, 3}}};
  e.outputs = {{DType::f32, Shape{6}}};
  e.constants = {buffer_of(c, sizeof(c))};
  e.buffers = {{BufferKind::input, 0, DType::f32, Shape{2, 3}},
               {BufferKind::view, 0, DType::f32, Shape{6}},
               {BufferKind::constant, 0, DType::f32, Shape{6}},
               {BufferKind::output, 0, DType::f32, Shape{6}}};
  e.steps = {kernel_step("add", {1, 2, 3}, 6)};
  e.code = {test_object()};
  Session session(load_program(e));
  Floats x({2, 3}, {10, 20, 30, 40, 50, 60}), y({6});
  run(session, {x}, {y});
  CHECK(y.data == std::vector<float>{11, 22, 33, 44, 55, 66});
}

TEST_CASE("session: a library kernel's workspace is in the arena, apart from the values") {
  // f(x f32[n,m]) = sort(x + 1) along the last dim
  Executable e;
  e.name = "f";
  const Dim n = e.dims.symbol("n", 0, 0), m = e.dims.symbol("m", 0, 1);
  const Shape shape{n, m};
  e.inputs = {{"x", false, DType::f32, shape}};
  e.outputs = {{DType::f32, shape}};
  e.buffers = {{BufferKind::input, 0, DType::f32, shape},
               {BufferKind::temp, 0, DType::f32, shape},
               {BufferKind::temp, 0, DType::f32, shape},
               {BufferKind::output, 0, DType::f32, shape}};
  Step sort = kernel_step("sort.f32", {1, 2}, 1, {n, m, 0});
  sort.kind = StepKind::library;
  e.steps = {kernel_step("add_one", {0, 1}, e.dims.intern(DimOp::multiply, n, m)), sort, copy_step(2, 3)};
  e.code = {test_object()};
  Session session(load_program(e));
  for (int64_t rows : {1, 5, 0, 300})
    for (int64_t columns : {1, 7, 130}) {
      Floats x({rows, columns}), y({rows, columns});
      for (size_t i = 0; i < x.data.size(); ++i) x.data[i] = static_cast<float>((i * 7919) % 1009);
      run(session, {x}, {y});
      for (int64_t r = 0; r < rows; ++r) {
        std::vector<float> expected(x.data.begin() + r * columns, x.data.begin() + (r + 1) * columns);
        for (float& v : expected) v += 1;
        std::sort(expected.begin(), expected.end());
        REQUIRE(std::equal(expected.begin(), expected.end(), y.data.begin() + r * columns));
      }
    }
}

TEST_CASE("session: a kernel's error names the op and the user's line, for any number of threads") {
  Executable e;
  e.name = "f";
  const Dim n = e.dims.symbol("n", 0, 0);
  e.inputs = {{"x", false, DType::i64, Shape{n}}};
  e.outputs = {{DType::f32, Shape{n}}};
  e.buffers = {{BufferKind::input, 0, DType::i64, Shape{n}}, {BufferKind::output, 0, DType::f32, Shape{n}}};
  e.locations = {{"model.cc", 41, "gather"}};
  e.steps = {kernel_step("lookup", {0, 1}, n)};
  e.steps[0].location = 0;
  e.steps[0].item_cost = 50000;
  e.code = {test_object()};
  Session session(load_program(e));
  for (int threads : {1, 4}) {
    set_thread_count(threads);
    for (int round = 0; round < 50; ++round) {
      Longs x({5000});
      Floats y({5000});
      run(session, {x}, {y});
      for (int64_t at : {4999, 3000, 1234}) x.data[at] = 4 + at % 5;
      CHECK(run_error(session, {x}, {y}, Code::out_of_range) ==
            "gather: index 8 is out of range for a dim of size 4 (model.cc:41)");
    }
  }
  set_thread_count(0);
  e.steps[0].callee = "fail_silently";
  e.steps[0].location = -1;
  Session silent(load_program(e));
  Longs x({1});
  Floats y({1});
  CHECK(run_error(silent, {x}, {y}, Code::resource_exhausted) == "the kernel failed with code 8");
}

TEST_CASE("session: kernels see the default floating-point mode and the host keeps its own") {
  Executable e = serve_executable();
  e.steps = {kernel_step("third", {0, 2}, e.steps[0].extent)};
  e.steps[0].item_cost = 100000;
  Session session(load_program(e));
  set_thread_count(3);
  const int64_t batch = 2000;
  Floats x({batch, 2}), y({batch, 2});
  x.data.assign(x.data.size(), 3e-39f);
  const unsigned before = _mm_getcsr(), mode = 0x1F80 | 0x8040 | 0x6000;  // flush, denormals are zero, round to zero
  _mm_setcsr(mode);
  set_thread_count(2);  // workers started in this mode must not inherit it
  const Status status = session.run(std::vector<TensorRef>{x}, std::vector<TensorRef>{y});
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  set_thread_count(0);
  REQUIRE(status.ok());
  CHECK((after & ~0x3Fu) == mode);
  for (float v : y.data) REQUIRE(v == 1e-39f);
}

TEST_CASE("session: sessions of one program run at once") {
  const auto program = load_program(serve_executable());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Session session(program);
      for (int i = 0; i < 200; ++i) {
        const int64_t batch = 1 + (i * 7 + t) % 900;
        Floats x({batch, 2}), y({batch, 2});
        x.data.assign(x.data.size(), static_cast<float>(i + t));
        const TensorRef in[] = {x}, out[] = {y};
        if (!session.run(in, out).ok()) ++wrong;
        for (float v : y.data) wrong += v != static_cast<float>((i + t + 1) * 3);
      }
    });
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("program: what does not hold together is refused") {
  const auto refuse = [](auto change, Code code = Code::data_loss) {
    Executable e = serve_executable();
    change(e);
    const auto program = Program::load(std::make_shared<const Executable>(std::move(e)));
    CHECK(code_name(program.status().code()) == code_name(code));
    return std::string(program.status().message());
  };
  refuse([](Executable& e) { e.steps[0].buffers[0] = 99; });
  refuse([](Executable& e) { e.steps[0].buffers[0] = -1; });
  refuse([](Executable& e) { e.steps[0].output_count = 3; });
  refuse([](Executable& e) { e.steps[0].params = {Dim::symbol(7)}; });
  refuse([](Executable& e) { e.steps[0].extent = Dim::symbol(7); });
  refuse([](Executable& e) { e.steps[0].location = 1; });
  refuse([](Executable& e) { e.steps[1].buffers = {1, 0}; });  // writes an input
  refuse([](Executable& e) { e.steps[0].kind = static_cast<StepKind>(9); });
  refuse([](Executable& e) { e.buffers[1].kind = static_cast<BufferKind>(9); });
  refuse([](Executable& e) { e.buffers[0].index = 5; });
  refuse([](Executable& e) { e.buffers[2].index = 5; });
  refuse([](Executable& e) { e.buffers[1] = {BufferKind::view, 1, DType::f32, Shape{2}}; });
  refuse([](Executable& e) { e.buffers.push_back({BufferKind::constant, 0, DType::f32, Shape{}}); });
  refuse([](Executable& e) { e.buffers[2].kind = BufferKind::temp; });
  refuse([](Executable& e) { e.outputs[0].updates = 0; });
  refuse([](Executable& e) { e.outputs[0].shape[0] = Dim::symbol(9); });
  refuse([](Executable& e) { e.inputs[0].shape[0] = Dim::symbol(9); });
  refuse([](Executable& e) { e.dims.exprs()[0].a = Dim(3); });
  refuse([](Executable& e) { e.dims.exprs()[1].a = Dim::symbol(1); });
  refuse([](Executable& e) { e.steps = {region_step(StepKind::if_, 1, {}, {})}; });
  refuse([](Executable& e) { e.code.clear(); });
  refuse([](Executable& e) {
    e.buffers.push_back({BufferKind::temp, 0, DType::bool_, Shape{}});
    for (int i = 0; i < 1000; ++i) e.steps = {region_step(StepKind::if_, 3, std::move(e.steps), {})};
  });
  CHECK(refuse([](Executable& e) { e.steps[0].callee = "gone"; }) ==
        "function 'serve' does not hold together: its code has no kernel 'gone'");
  CHECK(refuse([](Executable& e) { e.target = "x86-64-v9"; }, Code::unavailable).find("made for x86-64-v9") !=
        std::string::npos);
  CHECK(refuse(
            [](Executable& e) {
              e.steps[0].kind = StepKind::library;
              e.steps[0].callee = "no.such";
            },
            Code::unavailable) == "function 'serve' needs the kernel 'no.such', which this build does not have");
}

TEST_CASE("session: sizes that do not fit together are refused at the call") {
  Executable e = serve_executable();
  e.buffers[1].shape = Shape{3};
  e.steps = {copy_step(0, 1), copy_step(1, 2)};
  Session session(load_program(e));
  Floats x({3, 2}), y({3, 2});
  CHECK(run_error(session, {x}, {y}, Code::internal).find("a copy between buffers of 24 and 12 bytes") !=
        std::string::npos);
}

TEST_CASE("session: temps are placed so that live values never share memory, also over loops") {
  // A loop whose body overwrites a temp before the next iteration reads one that was made before the loop.
  Executable e;
  e.name = "f";
  const Shape v{1000}, scalar;
  e.inputs = {{"x", false, DType::f32, v}, {"limit", false, DType::f32, scalar}};
  e.outputs = {{DType::f32, v}};
  e.buffers = {{BufferKind::input, 0, DType::f32, v},       {BufferKind::input, 1, DType::f32, scalar},
               {BufferKind::output, 0, DType::f32, v},      {BufferKind::temp, 0, DType::f32, v},  // 3: before the loop
               {BufferKind::temp, 0, DType::f32, v},                                               // 4: the loop's own
               {BufferKind::temp, 0, DType::f32, v},                                               // 5: carried
               {BufferKind::temp, 0, DType::bool_, scalar}, {BufferKind::temp, 0, DType::f32, v}};  // 7: the loop's own
  e.steps = {
      kernel_step("add_one", {0, 3}, 1000), copy_step(0, 5),
      region_step(StepKind::while_, 6, {kernel_step("less", {5, 1, 6}, 1)},
                  {kernel_step("add", {5, 3, 4}, 1000), kernel_step("scale", {4, 7}, 1000, {2}), copy_step(7, 5)}),
      copy_step(5, 2)};
  e.code = {test_object()};
  const auto program = load_program(e);
  Session session(program);
  Floats x({1000}), limit({}, {100}), y({1000});
  for (int i = 0; i < 1000; ++i) x.data[i] = static_cast<float>(i % 3);
  run(session, {x, limit}, {y});
  float probe = 0;
  int loops = 0;
  for (; probe < 100; ++loops) probe = (probe + 1) * 2;
  for (int i = 0; i < 1000; ++i) {
    float expected = x.data[i];
    for (int k = 0; k < loops; ++k) expected = (expected + (x.data[i] + 1)) * 2;
    REQUIRE(y.data[i] == expected);
  }
  // The value from before the loop is alive during all of it, the loop's own only from write to read.
  const LiveRange before = program->lifetimes()[3], own = program->lifetimes()[4];
  CHECK(before.first < own.first);
  CHECK(before.last > own.last);
}

}  // namespace kiln
