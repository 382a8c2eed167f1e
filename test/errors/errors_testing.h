// What the tests of wrong uses share.
#pragma once
#include <catch2/catch.hpp>
#include <cstdlib>
#include <initializer_list>
#include <source_location>
#include <string>

#include "kiln/kiln.h"

namespace kiln::testing {

// The text names a line of the test between `first` and `last`: that of the wrong use.
inline bool names_line(const std::string& text, const char* file, unsigned first, unsigned last) {
  std::string name(file);
  name = name.substr(name.rfind('/') + 1) + ":";
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const unsigned long line = std::strtoul(text.c_str() + at + name.size(), nullptr, 10);
    if (line >= first && line <= last) return true;
  }
  return false;
}

// What `wrong` throws must have the code and hold all the parts; returns the text.
template <class F>
std::string refused(Code code, std::initializer_list<const char*> parts, F&& wrong) {
  try {
    wrong();
  } catch (const Error& e) {
    const std::string text = e.what();
    INFO(text);
    CHECK(code_name(e.code()) == code_name(code));
    for (const char* part : parts) {
      INFO(part);
      CHECK(text.find(part) != std::string::npos);
    }
    return text;
  }
  FAIL("no error");
  return {};
}

// The same; the text must also name the line of the wrong use, which stands within the call of refuses().
template <class F>
void refuses(Code code, std::initializer_list<const char*> parts, F&& wrong,
             std::source_location where = std::source_location::current()) {
  const std::string text = refused(code, parts, wrong);
  INFO(text);
  CHECK(names_line(text, where.file_name(), where.line(), where.line() + 4));
}

// The same eagerly and in the trace or the run of a compiled function, which must name the function too.
template <class F, class... T>
void refuses_both(Code code, std::initializer_list<const char*> parts, F body, const T&... inputs) {
  const std::string eager = refused(code, parts, [&] { body(inputs...); });
  auto f = function([body](std::conditional_t<true, Tensor, T>... x) { return body(x...); }, {.name = "wrong"});
  const std::string compiled = refused(code, parts, [&] { f(inputs...); });
  INFO(eager);
  INFO(compiled);
  // "text (file.cpp:12)" and "text (file.cpp:12, in "wrong")" differ in the function only.
  CHECK(eager.substr(0, eager.rfind(')')) == compiled.substr(0, eager.rfind(')')));
}

}  // namespace kiln::testing
