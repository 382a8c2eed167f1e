// FunctionCore: the shared state of the copies of a Function: lambda, options, and the traces by signature. Internal.
#pragma once
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "frontend/function/concrete.h"
#include "frontend/function/function.h"

namespace kiln::detail {

class FunctionCore {
 public:
  FunctionCore(FunctionBody body, FunctionOptions options, int tensor_parameters);

  void invoke(FunctionCall& call);
  std::shared_ptr<Concrete> concrete_of(const std::vector<TensorSpec>& specs, std::source_location where);
  std::shared_ptr<Concrete> concrete_of(FunctionCall& call);
  void clear();
  std::vector<std::shared_ptr<Concrete>> concretes();
  std::string explain();

  const std::string& name() const { return options_.name; }
  const std::vector<TensorSpec>& input_signature() const { return options_.input_signature; }
  bool only_tensors() const { return tensor_parameters_ >= 0; }
  const uint64_t id;
  std::atomic<uint64_t> version{0};  // changes when an entry is dropped
  std::atomic<int> traces{0};
  std::atomic<bool> eager{false};

 private:
  struct Request {  // what a trace is made for
    std::vector<ArgumentType> tensors;
    std::vector<const Variable*> variables;
    std::vector<uint64_t> words;
  };
  // A trace being made; others that want the same wait for it.
  struct Pending {
    std::condition_variable done;
    std::thread::id tracer;
    bool finished = false;
    std::exception_ptr error;
  };

  void make_key(const FunctionCall& call, InlineVector<uint64_t, 64>& key) const;
  void check_signature(const FunctionCall& call) const;
  Request request_of(const FunctionCall& call) const;
  ArgumentType declared(size_t argument) const;
  std::shared_ptr<Concrete> find(const Key& key, const Request& request);
  std::shared_ptr<Concrete> obtain(Key key, const Request& request, std::source_location where);
  std::shared_ptr<Concrete> trace(const Request& request, std::source_location where) const;
  void insert(std::shared_ptr<Concrete> made);
  std::string reason(const Key& key, const Request& request, std::source_location where) const;

  const FunctionBody body_;
  const FunctionOptions options_;
  const int tensor_parameters_;  // -1: there are others too
  std::mutex mutex_;             // guards all below
  std::multimap<Key, std::shared_ptr<Concrete>> entries_;
  std::map<Key, std::shared_ptr<Pending>> pending_;
  std::string last_reason_;
  uint64_t clock_ = 0;
};

}  // namespace kiln::detail
