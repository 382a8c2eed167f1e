#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "frontend/data/pipeline.h"
#include "frontend/include/kiln/error.h"

namespace kiln::detail {
namespace {

class PrefetchStream : public ElementStream {
 public:
  PrefetchStream(std::unique_ptr<ElementStream> input, size_t count, std::source_location where)
      : input_(std::move(input)), count_(count) {
    try {
      worker_ = std::thread([this] { work(); });
    } catch (const std::system_error& e) {
      throw_error(Code::resource_exhausted, std::string("prefetch: no thread: ") + e.what(), where);
    }
  }
  // Waits for the element being made, if any, and no longer.
  ~PrefetchStream() override {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }

  std::optional<Element> next() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || ended_; });
    if (ready_.empty()) {
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
      return std::nullopt;
    }
    Element element = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return element;
  }

 private:
  void work() {
    std::exception_ptr failure;
    try {
      for (;;) {
        {
          std::unique_lock lock(mutex_);
          changed_.wait(lock, [&] { return stop_ || ready_.size() < count_; });
          if (stop_) return;
        }
        std::optional<Element> element = input_->next();
        if (!element) break;
        {
          std::lock_guard lock(mutex_);
          ready_.push_back(std::move(*element));
        }
        changed_.notify_all();
      }
    } catch (...) {
      failure = std::current_exception();
    }
    {
      std::lock_guard lock(mutex_);
      failure_ = std::move(failure);
      ended_ = true;
    }
    changed_.notify_all();
  }

  std::unique_ptr<ElementStream> input_;  // the worker's
  const size_t count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Element> ready_;
  std::exception_ptr failure_;
  bool ended_ = false, stop_ = false;
  std::thread worker_;
};

class Prefetch : public Stage {
 public:
  Prefetch(StagePtr input, int64_t count, std::source_location where)
      : input_(std::move(input)), count_(static_cast<size_t>(count)), where_(where) {}
  std::optional<int64_t> size() const override { return input_->size(); }
  std::unique_ptr<ElementStream> start() const override {
    return std::make_unique<PrefetchStream>(input_->start(), count_, where_);
  }

 private:
  StagePtr input_;
  size_t count_;
  std::source_location where_;
};

}  // namespace

StagePtr prefetch_stage(StagePtr input, int64_t count, std::source_location where) {
  if (count < 1)
    throw_error(Code::invalid_argument, "prefetch: the count must be at least 1, got " + std::to_string(count), where);
  return std::make_shared<Prefetch>(std::move(input), count, where);
}

}  // namespace kiln::detail
