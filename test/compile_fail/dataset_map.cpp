// What a Dataset's map gives must be Tensors.
// error: the function must give a Tensor, or a tuple or pair of Tensors
#include "kiln/kiln.h"

auto data = kiln::from_slices(kiln::Tensor{1, 2});
auto good = data.map([](kiln::Tensor x) { return x * 2; });
#ifdef KILN_WRONG
auto wrong = data.map([](kiln::Tensor) { return 2; });
#endif
