// A result that cannot be taken apart is refused with one readable line.
// error: must be a Tensor, Variable, number
#include "kiln/kiln.h"

auto good = kiln::function([](kiln::Tensor x) { return std::pair(x, 3); });
#ifdef KILN_WRONG
auto wrong = kiln::function([](kiln::Tensor x) { return std::pair(x, "text"); });
#endif
