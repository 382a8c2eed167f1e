// The body of a loop must return the state.
// error: the body must return the type of the initial state
#include "kiln/kiln.h"

auto more = [](kiln::Tensor i) { return i < 3; };
kiln::Tensor good(kiln::Tensor x) {
  return kiln::while_loop(more, [](kiln::Tensor i) { return i + 1; }, x);
}
#ifdef KILN_WRONG
kiln::Tensor wrong(kiln::Tensor x) {
  return kiln::while_loop(more, [](kiln::Tensor i) { return std::tuple(i, i); }, x);
}
#endif
