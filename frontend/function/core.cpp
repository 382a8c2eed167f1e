#include "frontend/function/core.h"

#include <algorithm>
#include <thread>

#include "frontend/autodiff/tape_impl.h"
#include "frontend/include/kiln/error.h"

namespace kiln::detail {
namespace {

// The concrete functions last hit on this thread, by function: a hit takes no lock.
struct LastHit {
  uint64_t function = 0, version = 0;
  std::weak_ptr<Concrete> concrete;
};
constexpr size_t last_hits = 16;
LastHit& last_hit(uint64_t function) {
  thread_local LastHit hits[last_hits];
  return hits[function % last_hits];
}

uint64_t next_id() {
  static std::atomic<uint64_t> next{1};
  return next++;
}

std::string describe(const ArgumentType& type) {
  std::string text = std::string(name_of(type.dtype)) + "[";
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (i) text += ",";
    if (type.dims[i] >= 0)
      text += std::to_string(type.dims[i]);
    else
      text += type.dim_names[i].empty() ? "?" : type.dim_names[i];
  }
  return text + "]";
}

// "tensor argument 0", "tensor argument 0 (image)"
std::string argument_text(size_t i, const TensorSpec& spec) {
  return "tensor argument " + std::to_string(i) + (spec.name.empty() ? "" : " (" + spec.name + ")");
}

ArgumentType typed(const TensorSpec& spec) {
  ArgumentType type{spec.dtype, {}, {}, spec.name};
  for (const DimSpec& d : spec.dims) {
    type.dims.push_back(d.known() ? d.size() : -2);
    type.dim_names.push_back(d.name() == "?" ? "" : d.name());
  }
  return type;
}

std::string describe(const Tensor& x) { return std::string(name_of(x.dtype())) + to_string(x.shape()); }

}  // namespace

FunctionCore::FunctionCore(FunctionBody body, FunctionOptions options, int tensor_parameters)
    : id(next_id()),
      body_(std::move(body)),
      options_([&] {
        if (options.name.empty()) options.name = "function";
        return std::move(options);
      }()),
      tensor_parameters_(tensor_parameters) {}

// A key: static words, then for each tensor its dtype, rank and dims (unless they are declared), then for each Variable
// the same and the first argument that is the same Variable.
void FunctionCore::make_key(const FunctionCall& call, InlineVector<uint64_t, 64>& key) const {
  const Leaves& leaves = call.leaves;
  key.push_back(leaves.words.size());
  for (uint64_t word : leaves.words) key.push_back(word);
  key.push_back(leaves.tensors.size() << 16 | leaves.variables.size());
  if (options_.input_signature.empty()) {
    InlineVector<int64_t, 8> unknown;  // raw dims met, by class
    for (const Tensor* x : leaves.tensors) {
      const TensorRep& rep = *x->rep();
      key.push_back(static_cast<uint64_t>(rep.dtype) << 8 | static_cast<uint64_t>(rep.shape.rank()));
      for (Dim d : rep.shape) {
        if (d.known()) {
          key.push_back(static_cast<uint64_t>(d.raw()));
          continue;
        }
        size_t k = 0;
        while (k < unknown.size() && unknown[k] != d.raw()) ++k;
        if (k == unknown.size()) unknown.push_back(d.raw());
        key.push_back(static_cast<uint64_t>(-2 - static_cast<int64_t>(k)));
      }
    }
  }
  for (size_t i = 0; i < leaves.variables.size(); ++i) {
    VariableState* state = leaves.variables[i]->state()->canonical();
    size_t same = 0;
    while (leaves.variables[same]->state()->canonical() != state) ++same;
    key.push_back(static_cast<uint64_t>(state->dtype) << 24 | static_cast<uint64_t>(state->shape.rank()) << 16 |
                  same << 1 | static_cast<uint64_t>(state->trainable));
    for (Dim d : state->shape) key.push_back(static_cast<uint64_t>(d.raw()));
  }
}

ArgumentType FunctionCore::declared(size_t argument) const { return typed(options_.input_signature[argument]); }

void FunctionCore::check_signature(const FunctionCall& call) const {
  const auto& specs = options_.input_signature;
  const auto& tensors = call.leaves.tensors;
  if (tensors.size() != specs.size())
    throw_error(Code::invalid_argument,
                options_.name + ": the input signature declares " + std::to_string(specs.size()) +
                    " tensors, the call has " + std::to_string(tensors.size()),
                call.where);
  for (size_t i = 0; i < specs.size(); ++i) {
    const TensorRep& rep = *tensors[i]->rep();
    bool fits = rep.dtype == specs[i].dtype && rep.shape.rank() == static_cast<int>(specs[i].dims.size());
    for (int d = 0; fits && d < rep.shape.rank(); ++d)
      fits = !specs[i].dims[d].known() || rep.shape[d] == Dim(specs[i].dims[d].size());
    if (!fits)
      throw_error(Code::invalid_argument,
                  options_.name + ": " + argument_text(i, specs[i]) + " is declared " + describe(declared(i)) +
                      ", the call gives " + describe(*tensors[i]),
                  call.where);
  }
}

FunctionCore::Request FunctionCore::request_of(const FunctionCall& call) const {
  Request request;
  request.words.assign(call.leaves.words.begin(), call.leaves.words.end());
  request.variables.assign(call.leaves.variables.begin(), call.leaves.variables.end());
  std::vector<int64_t> unknown;
  for (size_t i = 0; i < call.leaves.tensors.size(); ++i) {
    if (!options_.input_signature.empty()) {
      request.tensors.push_back(declared(i));
      continue;
    }
    const TensorRep& rep = *call.leaves.tensors[i]->rep();
    ArgumentType type{rep.dtype, {}, {}, {}};
    for (Dim d : rep.shape) {
      std::string name;
      int64_t dim = d.raw();
      if (!d.known()) {
        const auto it = std::find(unknown.begin(), unknown.end(), d.raw());
        dim = -2 - (it - unknown.begin());
        if (it == unknown.end()) unknown.push_back(d.raw());
        name = TraceContext::current() ? TraceContext::current()->dims().to_string(d) : std::string();
        if (name == "?") name = "d" + std::to_string(-2 - dim);  // equal ones stay equal
      }
      type.dims.push_back(dim);
      type.dim_names.push_back(std::move(name));
    }
    request.tensors.push_back(std::move(type));
  }
  return request;
}

std::shared_ptr<Concrete> FunctionCore::trace(const Request& request, std::source_location where) const {
  TraceContext context(options_.name);
  std::vector<Tensor> tensors;
  std::vector<Variable> variables;
  int input = 0;
  for (size_t i = 0; i < request.tensors.size(); ++i, ++input) {
    const ArgumentType& argument = request.tensors[i];
    TensorType type{argument.dtype, {}};
    for (size_t d = 0; d < argument.dims.size(); ++d)
      type.shape.push_back(argument.dims[d] >= 0
                               ? Dim(argument.dims[d])
                               : context.dims().symbol(argument.dim_names[d], input, static_cast<int>(d)));
    check(check_rank(type.shape), where);
    tensors.push_back(context.add_tensor_argument(
        type, argument.name.empty() ? "arg" + std::to_string(i) : argument.name, static_cast<int>(i)));
  }
  for (size_t i = 0; i < request.variables.size(); ++i)
    variables.push_back(context.add_variable_argument(*request.variables[i], {}, static_cast<int>(i)));
  LeafReader reader{tensors, variables, request.words};
  OwnedLeaves results = body_(reader);
  std::vector<bool> captured_too;
  for (size_t i = 0; i < request.variables.size(); ++i)
    captured_too.push_back(context.captured_too(static_cast<int>(i)));
  Graph graph = context.finish(results.tensors, where);
  auto made = std::make_shared<Concrete>(std::move(graph), context.sources());
  made->result_words = std::move(results.words);
  for (size_t i = 0; i < request.variables.size(); ++i)
    made->argument_captures.push_back(captured_too[i] ? request.variables[i]->state()->canonical() : nullptr);
  made->arguments = request.tensors;
  made->words = request.words;
  return made;
}

std::shared_ptr<Concrete> FunctionCore::find(const Key& key, const Request& request) {
  const auto [begin, end] = entries_.equal_range(key);
  for (auto it = begin; it != end; ++it)
    if (it->second->accepts(request.variables)) return it->second;
  // A trace for unknown dims may serve the call too: the one with the fewest, the oldest of these.
  std::shared_ptr<Concrete> best;
  int best_unknown = 0;
  for (const auto& [other_key, other] : entries_) {
    int unknown = 0;
    if (other->words != request.words || !other->accepts(request.variables) ||
        !other->generalizes(request.tensors, &unknown))
      continue;
    if (!best || unknown < best_unknown || (unknown == best_unknown && other->made < best->made))
      best = other, best_unknown = unknown;
  }
  return best;
}

std::string FunctionCore::reason(const Key& key, const Request& request, std::source_location where) const {
  const std::string file = where.file_name();
  std::string text = "trace " + std::to_string(traces.load() + 1) + " of \"" + options_.name + "\" at " +
                     file.substr(file.rfind('/') + 1) + ":" + std::to_string(where.line()) + ": ";
  // The nearest trace differs in the fewest arguments.
  std::vector<std::string> best;
  bool any = false;
  for (const auto& [other_key, other] : entries_) {
    if (other->arguments.size() != request.tensors.size()) continue;
    std::vector<std::string> differences;
    for (size_t i = 0; i < request.tensors.size(); ++i) {
      const std::string now = describe(request.tensors[i]), was = describe(other->arguments[i]);
      if (now != was) differences.push_back("tensor argument " + std::to_string(i) + " was " + was + ", is now " + now);
    }
    if (other->words != request.words)
      differences.push_back("a number, bool, enum, string or length among the arguments has another value");
    if (differences.empty())
      differences.push_back("the Variables among the arguments are others, or other ones are the same");
    if (!any || differences.size() < best.size()) best = std::move(differences);
    any = true;
  }
  if (!any)
    return text + (key.empty() || entries_.empty() ? "the first call" : "another number of tensors than before");
  for (size_t i = 0; i < best.size(); ++i) text += (i ? "; " : "") + best[i];
  return text;
}

void FunctionCore::insert(std::shared_ptr<Concrete> made) {
  made->made = made->last_use = ++clock_;
  entries_.emplace(made->key, std::move(made));
  while (static_cast<int>(entries_.size()) > std::max(1, options_.max_signatures)) {
    auto oldest = entries_.begin();
    for (auto it = entries_.begin(); it != entries_.end(); ++it)
      if (it->second->last_use < oldest->second->last_use) oldest = it;
    entries_.erase(oldest);
    ++version;
  }
}

std::shared_ptr<Concrete> FunctionCore::obtain(Key key, const Request& request, std::source_location where) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (auto found = find(key, request)) {
      found->last_use = ++clock_;
      return found;
    }
    const auto it = pending_.find(key);
    if (it == pending_.end()) break;
    const std::shared_ptr<Pending> pending = it->second;
    if (pending->tracer == std::this_thread::get_id())
      throw_error(Code::failed_precondition,
                  "\"" + options_.name +
                      "\" calls itself with the same signature while it is being traced; a recursion "
                      "must change an argument that is part of the signature, and end",
                  where);
    pending->done.wait(lock, [&] { return pending->finished; });
    if (pending->error) std::rethrow_exception(pending->error);
  }
  const auto pending = std::make_shared<Pending>();
  pending->tracer = std::this_thread::get_id();
  pending_[key] = pending;
  std::string why = reason(key, request, where);
  lock.unlock();
  std::shared_ptr<Concrete> made;
  std::exception_ptr error;
  try {
    made = trace(request, where);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  pending_.erase(key);
  pending->finished = true;
  pending->error = error;
  if (made) {
    made->key = std::move(key);
    insert(made);
    ++traces;
    last_reason_ = std::move(why);
  }
  lock.unlock();
  pending->done.notify_all();
  if (error) std::rethrow_exception(error);
  return made;
}

std::shared_ptr<Concrete> FunctionCore::concrete_of(FunctionCall& call) {
  TraceContext* outer = TraceContext::current();
  for (const Tensor* x : call.leaves.tensors) {
    if (!x->defined()) throw_error(Code::invalid_argument, options_.name + ": a Tensor argument is empty", call.where);
    if (outer)
      outer->import(*x, options_.name.c_str(), call.where);
    else if (x->rep()->trace)
      throw_escaped(*x->rep(), options_.name.c_str(), call.where);
  }
  for (const Variable* v : call.leaves.variables)
    if (!v->defined())
      throw_error(Code::invalid_argument, options_.name + ": a Variable argument is empty", call.where);
  if (!options_.input_signature.empty()) check_signature(call);
  InlineVector<uint64_t, 64> key;
  make_key(call, key);
  LastHit& hit = last_hit(id);
  if (hit.function == id && hit.version == version.load(std::memory_order_acquire)) {
    std::shared_ptr<Concrete> found = hit.concrete.lock();
    if (found && found->key.size() == key.size() && std::equal(key.begin(), key.end(), found->key.begin()) &&
        found->accepts(call.leaves.variables.span()))
      return found;
  }
  const uint64_t seen = version.load(std::memory_order_acquire);
  std::shared_ptr<Concrete> found = obtain(Key(key.begin(), key.end()), request_of(call), call.where);
  hit = {id, seen, found};
  return found;
}

void FunctionCore::invoke(FunctionCall& call) {
  std::shared_ptr<Concrete> concrete = concrete_of(call);
  concrete->hits.fetch_add(1, std::memory_order_relaxed);
  const auto tensors = call.leaves.tensors.span();
  const auto variables = call.leaves.variables.span();
  if (TraceContext::current())
    concrete->replay(tensors, variables, call.results, call.where);
  else if (tapes_active())
    concrete->run_recorded(tensors, variables, call.results, call.where);
  else
    concrete->run(tensors, variables, call.results, call.where);
  call.result_words = concrete->result_words;
  call.concrete = std::move(concrete);
}

std::shared_ptr<Concrete> FunctionCore::concrete_of(const std::vector<TensorSpec>& specs, std::source_location where) {
  if (tensor_parameters_ < 0)
    throw_error(Code::invalid_argument,
                options_.name +
                    ": concrete(specs) needs a function whose parameters are all Tensors; give example "
                    "arguments instead: concrete(arguments...)",
                where);
  if (static_cast<int>(specs.size()) != tensor_parameters_)
    throw_error(Code::invalid_argument,
                options_.name + ": " + std::to_string(specs.size()) + " specs for " +
                    std::to_string(tensor_parameters_) + " parameters",
                where);
  Request request;
  Key key{0, specs.size() << 16};
  std::vector<std::string> classes;
  for (size_t i = 0; i < specs.size(); ++i) {
    ArgumentType type{specs[i].dtype, {}, {}, specs[i].name};
    if (!options_.input_signature.empty()) {
      const ArgumentType wanted = declared(i);
      bool fits = wanted.dtype == specs[i].dtype && wanted.dims.size() == specs[i].dims.size();
      for (size_t d = 0; fits && d < wanted.dims.size(); ++d)
        fits = wanted.dims[d] < 0 || (specs[i].dims[d].known() && specs[i].dims[d].size() == wanted.dims[d]);
      if (!fits)
        throw_error(Code::invalid_argument,
                    options_.name + ": " + argument_text(i, options_.input_signature[i]) + " is declared " +
                        describe(wanted) + ", concrete() is given " + describe(typed(specs[i])),
                    where);
      request.tensors.push_back(wanted);
      continue;
    }
    key.push_back(static_cast<uint64_t>(type.dtype) << 8 | specs[i].dims.size());
    for (const DimSpec& d : specs[i].dims) {
      int64_t dim = d.size();
      if (!d.known()) {
        auto it = d.name() == "?" ? classes.end() : std::find(classes.begin(), classes.end(), d.name());
        dim = -2 - (it - classes.begin());
        if (it == classes.end()) classes.push_back(d.name());
      }
      type.dims.push_back(dim);
      type.dim_names.push_back(d.name() == "?" ? "" : d.name());
      key.push_back(static_cast<uint64_t>(dim));
    }
    request.tensors.push_back(std::move(type));
  }
  return obtain(std::move(key), request, where);
}

void FunctionCore::clear() {
  std::lock_guard lock(mutex_);
  entries_.clear();
  traces = 0;
  ++version;
}

std::vector<std::shared_ptr<Concrete>> FunctionCore::concretes() {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Concrete>> result;
  for (const auto& [key, concrete] : entries_) result.push_back(concrete);
  return result;
}

std::string FunctionCore::explain() {
  std::lock_guard lock(mutex_);
  return last_reason_.empty() ? "\"" + options_.name + "\" has not been traced" : last_reason_;
}

}  // namespace kiln::detail
