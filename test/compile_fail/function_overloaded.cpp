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
auto good = kiln::function(One());
#ifdef KILN_WRONG
auto wrong = kiln::function(Two());
#endif
