// A lambda with an `auto` parameter has no signature.
// error: give the lambda's parameters their types
#include "kiln/kiln.h"

auto good = kiln::function([](kiln::Tensor x) { return x; });
#ifdef KILN_WRONG
auto wrong = kiln::function([](auto x) { return x; });
#endif
