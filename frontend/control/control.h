// Control flow on tensor values. Eagerly the lambdas just run; in the trace of a compiled function both become regions
// of one op, so that the choice is made at each call.
#pragma once
#include <functional>
#include <source_location>
#include <tuple>
#include <utility>

#include "frontend/function/flatten.h"

namespace kiln {

struct WhileOptions {
  int64_t max_iterations = -1;  // stops after that many; gradients of a compiled loop need less memory with it
};

namespace detail {
using RegionBody = std::function<OwnedLeaves(LeafReader&)>;
OwnedLeaves run_cond(const Operand& predicate, const std::function<OwnedLeaves()>& then_branch,
                     const std::function<OwnedLeaves()>& else_branch);
OwnedLeaves run_while(const std::function<Tensor(LeafReader&)>& condition, const RegionBody& body, OwnedLeaves initial,
                      const WhileOptions& options, std::source_location where);

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

// f(state), or f(a, b, ...) where the state is a tuple.
template <class F, class State>
decltype(auto) call_with(F& f, State&& state) {
  if constexpr (is_tuple<std::remove_cvref_t<State>>)
    return std::apply(f, std::forward<State>(state));
  else
    return f(std::forward<State>(state));
}

// Numbers of an initial state become tensors: they are to change in the loop.
template <class T>
struct StateOf {
  using Type = T;
};
template <Number T>
struct StateOf<T> {
  using Type = Tensor;
};
template <>
struct StateOf<Variable> {
  using Type = Tensor;
};
template <class... T>
struct StateOf<std::tuple<T...>> {
  using Type = std::tuple<typename StateOf<T>::Type...>;
};
}  // namespace detail

// f() if predicate (one bool) is true, else g(). Both must return the same structure and dtypes; Tensors, tuples,
// vectors, structs with KILN_FIELDS, or nothing. Variables assigned inside change only if that branch runs.
//   Tensor y = cond(sum(x) > 0, [&] { return x; }, [&] { return -x; });
template <class F, class G>
auto cond(const Operand& predicate, F&& f, G&& g) {
  using R = std::remove_cvref_t<decltype(f())>;
  static_assert(std::same_as<R, std::remove_cvref_t<decltype(g())>>, "kiln::cond: both branches must return one type");
  auto wrap = [](auto& branch) {
    return [&branch] {
      detail::OwnedLeaves out;
      if constexpr (std::is_void_v<R>)
        branch();
      else
        out.take<R>(branch());
      return out;
    };
  };
  const detail::OwnedLeaves out = detail::run_cond(predicate, wrap(f), wrap(g));
  if constexpr (!std::is_void_v<R>) {
    detail::LeafReader reader{out.tensors, {}, out.words};
    return detail::Flatten<detail::ResultOf<R>>::read(reader);
  }
}

// state = initial; while (condition(state)) state = body(state); gives the last state. The state is a Tensor, a tuple
// (then the lambdas take its parts), a vector, or a struct with KILN_FIELDS; its structure, dtypes and shapes must not
// change. Variables assigned inside are carried along.
//   auto [i, s] = while_loop([&](Tensor i, Tensor s) { return i < n; },
//                            [&](Tensor i, Tensor s) { return std::tuple(i + 1, s + i); }, std::tuple(0, 0));
template <class C, class B, class State>
auto while_loop(C&& condition, B&& body, const State& initial, const WhileOptions& options = {},
                std::source_location where = std::source_location::current()) {
  using S = typename detail::StateOf<State>::Type;
  static_assert(std::constructible_from<Tensor, decltype(detail::call_with(condition, std::declval<S>()))>,
                "kiln::while_loop: the condition must return a Tensor (one bool)");
  static_assert(std::constructible_from<S, decltype(detail::call_with(body, std::declval<S>()))>,
                "kiln::while_loop: the body must return the type of the initial state");
  detail::OwnedLeaves start;
  start.take<S>(S(initial));
  const detail::OwnedLeaves out = detail::run_while(
      [&](detail::LeafReader& in) { return Tensor(detail::call_with(condition, detail::Flatten<S>::read(in))); },
      [&](detail::LeafReader& in) {
        detail::OwnedLeaves next;
        next.take<S>(S(detail::call_with(body, detail::Flatten<S>::read(in))));
        return next;
      },
      std::move(start), options, where);
  detail::LeafReader reader{out.tensors, {}, out.words};
  return detail::Flatten<S>::read(reader);
}

}  // namespace kiln
