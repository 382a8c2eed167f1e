// An argument that cannot be keyed is refused with one readable line.
// error: must be a Tensor, Variable, number
#include "kiln/kiln.h"

struct Opaque {
  int* p = nullptr;
};

auto good = kiln::function([](kiln::Tensor x, int k) { return x * k; });
#ifdef KILN_WRONG
auto wrong = kiln::function([](kiln::Tensor x, Opaque) { return x; });
#endif
