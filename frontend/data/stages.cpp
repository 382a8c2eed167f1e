#include <algorithm>
#include <atomic>
#include <cstring>

#include "frontend/data/integer_random.h"
#include "frontend/data/pipeline.h"
#include "frontend/include/kiln/error.h"
#include "frontend/tensor/rep.h"

namespace kiln::detail {
namespace {

class Slices : public Stage {
 public:
  explicit Slices(std::vector<Tensor> columns) : columns_(std::move(columns)) {
    for (const Tensor& column : columns_) {
      Shape row = column.shape();
      row.erase(0);
      rows_.push_back(row);
    }
  }
  std::optional<int64_t> size() const override { return columns_[0].shape()[0].size(); }
  // Row i of each column, in the column's own memory.
  Element row(int64_t i) const {
    Element element;
    element.reserve(columns_.size());
    for (size_t c = 0; c < columns_.size(); ++c) {
      const TensorRep& rep = *columns_[c].rep();
      element.push_back(make_concrete(rep.dtype, rows_[c], rep.buffer, rep.offset + i * rows_[c].size()));
    }
    return element;
  }
  std::unique_ptr<ElementStream> start() const override {
    struct Stream : ElementStream {
      explicit Stream(const Slices& stage) : stage(stage), count(*stage.size()) {}
      std::optional<Element> next() override {
        if (at == count) return std::nullopt;
        return stage.row(at++);
      }
      const Slices& stage;
      int64_t at = 0, count;
    };
    return std::make_unique<Stream>(*this);
  }

 private:
  std::vector<Tensor> columns_;
  std::vector<Shape> rows_;
};

class Map : public Stage {
 public:
  Map(StagePtr input, std::function<Element(Element)> map) : input_(std::move(input)), map_(std::move(map)) {}
  std::optional<int64_t> size() const override { return input_->size(); }
  std::unique_ptr<ElementStream> start() const override {
    struct Stream : ElementStream {
      explicit Stream(const Map& stage) : map(stage.map_), input(stage.input_->start()) {}
      std::optional<Element> next() override {
        std::optional<Element> element = input->next();
        if (element) element = map(std::move(*element));
        return element;
      }
      std::function<Element(Element)> map;  // each pass has its own copy: a lambda with state starts anew
      std::unique_ptr<ElementStream> input;
    };
    return std::make_unique<Stream>(*this);
  }

 private:
  StagePtr input_;
  std::function<Element(Element)> map_;
};

class Shuffle : public Stage {
 public:
  Shuffle(StagePtr input, int64_t buffer, uint64_t seed, bool reshuffle)
      : input_(std::move(input)), buffer_(static_cast<size_t>(buffer)), seed_(seed), reshuffle_(reshuffle) {}
  std::optional<int64_t> size() const override { return input_->size(); }
  std::unique_ptr<ElementStream> start() const override {
    struct Stream : ElementStream {
      Stream(std::unique_ptr<ElementStream> input, size_t size, IntegerRandom random)
          : input(std::move(input)), size(size), random(random) {}
      std::optional<Element> next() override {
        while (!ended && buffer.size() < size) {
          std::optional<Element> element = input->next();
          if (element)
            buffer.push_back(std::move(*element));
          else
            ended = true;
        }
        if (buffer.empty()) return std::nullopt;
        std::swap(buffer[random.below(buffer.size())], buffer.back());
        Element drawn = std::move(buffer.back());
        buffer.pop_back();
        return drawn;
      }
      std::unique_ptr<ElementStream> input;
      size_t size;
      IntegerRandom random;
      std::vector<Element> buffer;
      bool ended = false;
    };
    const uint64_t pass = passes_.fetch_add(1);
    return std::make_unique<Stream>(input_->start(), buffer_, IntegerRandom(seed_, reshuffle_ ? pass : 0));
  }

 private:
  StagePtr input_;
  size_t buffer_;
  uint64_t seed_;
  bool reshuffle_;
  mutable std::atomic<uint64_t> passes_ = 0;
};

// The elements stacked along a new first axis.
Element stack(const std::vector<Element>& elements, std::source_location where) {
  Element batch;
  for (size_t part = 0; part < elements[0].size(); ++part) {
    const Tensor& first = elements[0][part];
    Shape shape = first.shape();
    if (shape.rank() == max_rank)
      throw_error(Code::invalid_argument, "batch: the elements already have " + std::to_string(max_rank) + " axes",
                  where);
    shape.insert(0, static_cast<int64_t>(elements.size()));
    Tensor stacked = make_uninitialised(first.dtype(), shape, where);
    const size_t bytes = static_cast<size_t>(first.size()) * size_of(first.dtype());
    std::byte* to = stacked.rep()->data();
    for (size_t i = 0; i < elements.size(); ++i, to += bytes) {
      const Tensor& x = elements[i][part];
      if (x.shape() != first.shape() || x.dtype() != first.dtype())
        throw_error(Code::invalid_argument,
                    "batch: element " + std::to_string(i) + " of a batch has " + std::string(name_of(x.dtype())) +
                        kiln::to_string(x.shape()) + " where the first has " + std::string(name_of(first.dtype())) +
                        kiln::to_string(first.shape()),
                    where);
      if (bytes) std::memcpy(to, x.rep()->data(), bytes);
    }
    batch.push_back(std::move(stacked));
  }
  return batch;
}

class Batch : public Stage {
 public:
  Batch(StagePtr input, int64_t size, bool drop_remainder, std::source_location where)
      : input_(std::move(input)), size_(size), drop_remainder_(drop_remainder), where_(where) {}
  std::optional<int64_t> size() const override {
    std::optional<int64_t> n = input_->size();
    if (n) n = *n / size_ + (!drop_remainder_ && *n % size_ != 0);
    return n;
  }
  std::unique_ptr<ElementStream> start() const override {
    struct Stream : ElementStream {
      explicit Stream(const Batch& stage) : stage(stage), input(stage.input_->start()) {}
      std::optional<Element> next() override {
        elements.clear();
        while (static_cast<int64_t>(elements.size()) < stage.size_) {
          std::optional<Element> element = input->next();
          if (!element) break;
          elements.push_back(std::move(*element));
        }
        if (elements.empty()) return std::nullopt;
        if (stage.drop_remainder_ && static_cast<int64_t>(elements.size()) < stage.size_) return std::nullopt;
        return stack(elements, stage.where_);
      }
      const Batch& stage;
      std::unique_ptr<ElementStream> input;
      std::vector<Element> elements;
    };
    return std::make_unique<Stream>(*this);
  }

 private:
  StagePtr input_;
  int64_t size_;
  bool drop_remainder_;
  std::source_location where_;
};

class Repeat : public Stage {
 public:
  Repeat(StagePtr input, std::optional<int64_t> times) : input_(std::move(input)), times_(times) {}
  std::optional<int64_t> size() const override {
    const std::optional<int64_t> n = input_->size();
    int64_t all = 0;
    if (n == 0 || times_ == 0) return 0;
    if (!n || !times_ || __builtin_mul_overflow(*n, *times_, &all)) return std::nullopt;
    return all;
  }
  std::unique_ptr<ElementStream> start() const override {
    struct Stream : ElementStream {
      explicit Stream(const Repeat& stage) : stage(stage) {}
      std::optional<Element> next() override {
        while (!stage.times_ || passes < *stage.times_ || input) {
          if (!input) {
            input = stage.input_->start();
            ++passes, any = false;
          }
          if (std::optional<Element> element = input->next()) {
            any = true;
            return element;
          }
          input.reset();
          if (!any) return std::nullopt;  // an empty pass: repeating it would never end
        }
        return std::nullopt;
      }
      const Repeat& stage;
      std::unique_ptr<ElementStream> input;
      int64_t passes = 0;
      bool any = false;
    };
    return std::make_unique<Stream>(*this);
  }

 private:
  StagePtr input_;
  std::optional<int64_t> times_;
};

class Take : public Stage {
 public:
  Take(StagePtr input, int64_t count) : input_(std::move(input)), count_(count) {}
  std::optional<int64_t> size() const override { return std::min(input_->size().value_or(count_), count_); }
  std::unique_ptr<ElementStream> start() const override {
    struct Stream : ElementStream {
      Stream(std::unique_ptr<ElementStream> input, int64_t left) : input(std::move(input)), left(left) {}
      std::optional<Element> next() override {
        if (left == 0) return std::nullopt;
        --left;
        return input->next();
      }
      std::unique_ptr<ElementStream> input;
      int64_t left;
    };
    return std::make_unique<Stream>(input_->start(), count_);
  }

 private:
  StagePtr input_;
  int64_t count_;
};

void at_least(int64_t value, int64_t least, const char* what, std::source_location where) {
  if (value < least)
    throw_error(Code::invalid_argument,
                std::string(what) + " must be at least " + std::to_string(least) + ", got " + std::to_string(value),
                where);
}

}  // namespace

StagePtr slices_stage(std::vector<Tensor> columns, std::source_location where) {
  for (const Tensor& column : columns) {
    if (!column.defined()) throw_error(Code::invalid_argument, "from_slices: an empty Tensor", where);
    if (column.symbolic())
      throw_error(Code::failed_precondition, "from_slices: a tensor has no rows while its function is being traced",
                  where);
    if (column.rank() == 0) throw_error(Code::invalid_argument, "from_slices: a 0-d tensor has no first axis", where);
    if (column.dim(0) != columns[0].dim(0))
      throw_error(Code::invalid_argument,
                  "from_slices: the first axes differ: " + kiln::to_string(columns[0].shape()) + " and " +
                      kiln::to_string(column.shape()),
                  where);
  }
  return std::make_shared<Slices>(std::move(columns));
}
StagePtr map_stage(StagePtr input, std::function<Element(Element)> map) {
  return std::make_shared<Map>(std::move(input), std::move(map));
}
StagePtr shuffle_stage(StagePtr input, int64_t buffer, std::optional<uint64_t> seed, bool reshuffle,
                       std::source_location where) {
  at_least(buffer, 1, "shuffle: the buffer", where);
  return std::make_shared<Shuffle>(std::move(input), buffer, seed ? *seed : next_seed(), reshuffle);
}
StagePtr batch_stage(StagePtr input, int64_t size, bool drop_remainder, std::source_location where) {
  at_least(size, 1, "batch: the size", where);
  return std::make_shared<Batch>(std::move(input), size, drop_remainder, where);
}
StagePtr repeat_stage(StagePtr input, std::optional<int64_t> times, std::source_location where) {
  if (times) at_least(*times, 0, "repeat: the number of times", where);
  return std::make_shared<Repeat>(std::move(input), times);
}
StagePtr take_stage(StagePtr input, int64_t count, std::source_location where) {
  at_least(count, 0, "take: the count", where);
  return std::make_shared<Take>(std::move(input), count);
}

}  // namespace kiln::detail
