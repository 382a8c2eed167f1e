// A callable with several signatures has none.
// error: give the lambda's parameters their types
#include "kiln/kiln.h"

struct One {
  kiln::Tensor operator()(kiln::Tensor x) const { return x; }
};
struct Two {
  kiln::Tensor operator()(kiln::Tensor x) const { return x; }
  kiln::Tensor operator()(kiln::Tensor x, kiln::Tensor) const { return x; }
};
kiln::Tensor plain(kiln::Tensor x) { return x; }
auto good = kiln::function(One());
auto pointer = kiln::function(plain);
auto safe = kiln::function([](kiln::Tensor x) noexcept { return x; });
auto counting = kiln::function([n = 0](kiln::Tensor x) mutable { return x + ++n; });
#ifdef KILN_WRONG
auto wrong = kiln::function(Two());
#endif
