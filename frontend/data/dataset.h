// Dataset: a stream of elements that can be run through again and again. Nothing is computed before the loop asks for
// it.
//   auto train = from_slices(images, labels).shuffle(10'000, {.seed = 1}).batch(128).prefetch(2);
//   for (auto [image, label] : train) step(image, label);
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <source_location>
#include <tuple>
#include <utility>

#include "frontend/data/pipeline.h"
#include "frontend/tensor/operand.h"

namespace kiln {

struct ShuffleOptions {
  std::optional<uint64_t> seed = {};     // none: the next one of the program
  bool reshuffle_each_iteration = true;  // each pass over the Dataset has another order
};
struct BatchOptions {
  bool drop_remainder = false;  // leaves out a last batch that is not full
};

namespace detail {

// How an element is taken apart into Tensors and put together again: a Tensor, or a tuple or pair of Tensors.
template <class T>
struct ElementOf {
  static constexpr bool valid = false;
};
template <>
struct ElementOf<Tensor> {
  static constexpr bool valid = true;
  static Element split(Tensor x) { return {std::move(x)}; }
  static Tensor join(Element parts) { return std::move(parts[0]); }
};
template <class... T>
  requires(std::same_as<T, Tensor> && ...)
struct ElementOf<std::tuple<T...>> {
  static constexpr bool valid = true;
  static Element split(std::tuple<T...> x) {
    return std::apply([](auto&&... part) { return Element{std::move(part)...}; }, std::move(x));
  }
  static std::tuple<T...> join(Element parts) {
    return [&]<size_t... i>(std::index_sequence<i...>) {
      return std::tuple<T...>{std::move(parts[i])...};
    }(std::index_sequence_for<T...>{});
  }
};
template <>
struct ElementOf<std::pair<Tensor, Tensor>> : ElementOf<std::tuple<Tensor, Tensor>> {
  static std::pair<Tensor, Tensor> join(Element parts) { return {std::move(parts[0]), std::move(parts[1])}; }
};

template <class F, class T>
decltype(auto) call_map(F& f, T element) {
  if constexpr (std::same_as<T, Tensor>)
    return f(std::move(element));
  else
    return std::apply(f, std::move(element));
}

}  // namespace detail

// T: Tensor, or std::tuple<Tensor, ...>. Copies share what they are made of. A Dataset may be used by several threads,
// an iterator by one.
template <class T>
class Dataset {
  static_assert(detail::ElementOf<T>::valid,
                "kiln::Dataset: an element must be a Tensor, or a tuple or pair of Tensors");

 public:
  explicit Dataset(detail::StagePtr stage) : stage_(std::move(stage)) {}

  // The elements in random order: each is drawn from the next `buffer` ones, so all orders can occur if `buffer` is not
  // less than size(). With a seed: the same orders in every run. An error if buffer < 1.
  Dataset shuffle(int64_t buffer, const ShuffleOptions& options = {},
                  std::source_location where = std::source_location::current()) const {
    return Dataset(detail::shuffle_stage(stage_, buffer, options.seed, options.reshuffle_each_iteration, where));
  }
  // `size` elements stacked into one along a new first axis: f32[28,28] becomes f32[size,28,28]. An error if size < 1;
  // in the loop, if elements have different shapes.
  Dataset batch(int64_t size, const BatchOptions& options = {},
                std::source_location where = std::source_location::current()) const {
    return Dataset(detail::batch_stage(stage_, size, options.drop_remainder, where));
  }
  // f of each element; f takes the element's Tensors and gives a Tensor, or a tuple or pair of Tensors.
  //   data.map([](Tensor x, Tensor y) { return std::pair(x / 255.f, y); })
  template <class F>
  auto map(F f) const {
    using Result = std::remove_cvref_t<decltype(detail::call_map(f, std::declval<T>()))>;
    static_assert(detail::ElementOf<Result>::valid,
                  "kiln::Dataset::map: the function must give a Tensor, or a tuple or pair of Tensors");
    return Dataset<Result>(detail::map_stage(stage_, [f = std::move(f)](detail::Element parts) mutable {
      return detail::ElementOf<Result>::split(detail::call_map(f, detail::ElementOf<T>::join(std::move(parts))));
    }));
  }
  // All elements `times` times; without end if no number is given.
  Dataset repeat(std::optional<int64_t> times = {},
                 std::source_location where = std::source_location::current()) const {
    return Dataset(detail::repeat_stage(stage_, times, where));
  }
  // The first `count` elements, or all if there are fewer.
  Dataset take(int64_t count, std::source_location where = std::source_location::current()) const {
    return Dataset(detail::take_stage(stage_, count, where));
  }
  // Up to `count` elements are made ahead by a thread of its own. What that thread throws is thrown by the loop, after
  // the elements that came before. The loop may be left at any time.
  Dataset prefetch(int64_t count, std::source_location where = std::source_location::current()) const {
    return Dataset(detail::prefetch_stage(stage_, count, where));
  }

  // How many elements a pass has; nothing if it is endless.
  std::optional<int64_t> size() const { return stage_->size(); }

  class Iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(detail::StagePtr stage) : stage_(std::move(stage)), stream_(stage_->start()) { ++*this; }
    const T& operator*() const { return *value_; }
    const T* operator->() const { return &*value_; }
    Iterator& operator++() {
      std::optional<detail::Element> parts = stream_->next();
      if (parts)
        value_ = detail::ElementOf<T>::join(std::move(*parts));
      else
        value_.reset();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !value_; }

   private:
    detail::StagePtr stage_;  // the stream refers to it
    std::unique_ptr<detail::ElementStream> stream_;
    std::optional<T> value_;
  };
  // Starts a new pass.
  Iterator begin() const { return Iterator(stage_); }
  std::default_sentinel_t end() const { return {}; }

 private:
  detail::StagePtr stage_;
};

// One element for each index of the first axis: row i of each of the Tensors, as a tuple, or alone if there is one.
// They need at least one axis and equal first sizes; their rows are not copied.
//   for (auto [x, y] : from_slices(images, labels)) ...
inline Dataset<Tensor> from_slices(const Operand& x) {
  return Dataset<Tensor>(detail::slices_stage({x.tensor()}, x.where()));
}
template <class... More>
  requires(sizeof...(More) > 0 && (std::convertible_to<const More&, Operand> && ...))
auto from_slices(const Operand& first, const More&... more) {
  using Row = decltype(std::tuple_cat(std::tuple<Tensor>(), std::declval<std::array<Tensor, sizeof...(More)>>()));
  return Dataset<Row>(detail::slices_stage({first.tensor(), Operand(more).tensor()...}, first.where()));
}

}  // namespace kiln
