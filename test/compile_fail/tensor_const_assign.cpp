// A const Tensor keeps what it holds.
// error: no viable overloaded '='
#include "kiln/kiln.h"

auto good = kiln::function([](kiln::Tensor x) { return x = x * 2; });
#ifdef KILN_WRONG
auto wrong = kiln::function([](const kiln::Tensor& x) { return x = x * 2; });
#endif
