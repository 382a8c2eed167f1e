// The condition of a loop must return a Tensor.
// error: the condition must return a Tensor
#include "kiln/kiln.h"

auto next = [](kiln::Tensor i) { return i + 1; };
kiln::Tensor good(kiln::Tensor x) {
  return kiln::while_loop([](kiln::Tensor i) { return i < 3; }, next, x);
}
#ifdef KILN_WRONG
kiln::Tensor wrong(kiln::Tensor x) {
  return kiln::while_loop([](kiln::Tensor) {}, next, x);
}
#endif
