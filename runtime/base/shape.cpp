#include "runtime/base/shape.h"

#include <algorithm>
#include <limits>

namespace kiln {
namespace {

constexpr int64_t max_size = std::numeric_limits<int64_t>::max();

thread_local DimTable* current_table = nullptr;

// Floor division; 0 where b is not positive, so that no input can trap.
int64_t divide(int64_t a, int64_t b) {
  if (b <= 0) return 0;
  return a / b - (a % b < 0 ? 1 : 0);
}

// One operation on values. False: the result does not fit in 64 bits.
bool apply(DimOp op, int64_t a, int64_t b, int64_t* result) {
  switch (op) {
    case DimOp::add:
      return !__builtin_add_overflow(a, b, result);
    case DimOp::subtract:
      return !__builtin_sub_overflow(a, b, result);
    case DimOp::multiply:
      return !__builtin_mul_overflow(a, b, result);
    case DimOp::floor_div:
      *result = divide(a, b);
      return true;
    case DimOp::maximum:
      *result = std::max(a, b);
      return true;
    case DimOp::broadcast:
      *result = a == 1 ? b : a;
      return true;
    case DimOp::positive:
      *result = a;
      return true;
    case DimOp::symbol:
      return false;
  }
  return false;
}

// Known operands. A size below 0 becomes 0 (rules check first), one that does not fit becomes the largest, which no
// allocation accepts.
Dim fold(DimOp op, Dim a, Dim b) {
  int64_t result;
  if (!apply(op, a.size(), b.size(), &result)) return Dim(max_size);
  return Dim(std::max<int64_t>(result, 0));
}

// Whether `d` is an unknown dim that the table defines.
bool defined(const DimTable& table, Dim d) { return !d.known() && d.id() >= 0 && d.id() < table.size(); }

Dim combine(DimOp op, Dim a, Dim b) {
  if (a.inferred() || b.inferred()) return Dim(-1);
  if (a.known() && b.known()) return fold(op, a, b);
  if (DimTable* table = DimTable::current()) return table->intern(op, a, b);
  return Dim::symbol(std::numeric_limits<int32_t>::max() - 1);  // no table: a dim equal to no other, printed as "?"
}

// How tightly an expression binds when printed.
int precedence(const DimTable& table, Dim d) {
  if (!defined(table, d)) return 3;
  switch (table[d.id()].op) {
    case DimOp::add:
    case DimOp::subtract:
      return 1;
    case DimOp::multiply:
    case DimOp::floor_div:
      return 2;
    default:
      return 3;
  }
}

std::string print(const DimTable& table, Dim d, int depth);

std::string print_operand(const DimTable& table, Dim d, int least, int depth) {
  std::string text = print(table, d, depth + 1);
  return precedence(table, d) < least ? "(" + text + ")" : text;
}

std::string print(const DimTable& table, Dim d, int depth) {
  if (d.known() || d.inferred()) return std::to_string(d.raw());
  if (!defined(table, d) || depth > 16) return "?";
  const DimExpr& e = table[d.id()];
  switch (e.op) {
    case DimOp::symbol:
      return e.name.empty() ? "?" : e.name;
    case DimOp::add:
      return print_operand(table, e.a, 1, depth) + "+" + print_operand(table, e.b, 2, depth);
    case DimOp::subtract:
      return print_operand(table, e.a, 1, depth) + "-" + print_operand(table, e.b, 2, depth);
    case DimOp::multiply:
      return print_operand(table, e.a, 2, depth) + "*" + print_operand(table, e.b, 2, depth);
    case DimOp::floor_div:
      return print_operand(table, e.a, 2, depth) + "/" + print_operand(table, e.b, 3, depth);
    case DimOp::maximum:
      return "max(" + print(table, e.a, depth + 1) + "," + print(table, e.b, depth + 1) + ")";
    case DimOp::broadcast:
      return "broadcast(" + print(table, e.a, depth + 1) + "," + print(table, e.b, depth + 1) + ")";
    case DimOp::positive:
      return print(table, e.a, depth);
  }
  return "?";
}

}  // namespace

Dim DimTable::symbol(std::string name, int input, int axis) {
  for (int32_t i = 0; i < size(); ++i) {
    const DimExpr& e = exprs_[i];
    if (e.op != DimOp::symbol) continue;
    // The same name is the same size wherever it stands; dims without a name are told apart by their place.
    if (name.empty() ? e.name.empty() && e.a == Dim(input) && e.b == Dim(axis) : e.name == name) return Dim::symbol(i);
  }
  exprs_.push_back({DimOp::symbol, Dim(input), Dim(axis), std::move(name)});
  return Dim::symbol(size() - 1);
}

Dim DimTable::intern(DimOp op, Dim a, Dim b) {
  if (a.known() && b.known()) return fold(op, a, b);
  if (a.inferred() || b.inferred()) return Dim(-1);
  const bool commutes = op == DimOp::add || op == DimOp::multiply || op == DimOp::maximum || op == DimOp::broadcast;
  // Known operands go right, unknown ones in the order of their ids: equal expressions then look equal.
  if (commutes && (a.known() || (!b.known() && a.id() > b.id()))) std::swap(a, b);
  auto expr = [&](Dim d) -> const DimExpr* { return defined(*this, d) ? &exprs_[d.id()] : nullptr; };
  switch (op) {
    case DimOp::add:
      if (b == Dim(0)) return a;
      if (const DimExpr* e = expr(a); e && b.known() && e->b.known()) {  // (x + c) + d, (x - c) + d
        if (e->op == DimOp::add) return intern(DimOp::add, e->a, fold(DimOp::add, e->b, b));
        if (e->op == DimOp::subtract && b.size() >= e->b.size())
          return intern(DimOp::add, e->a, Dim(b.size() - e->b.size()));
        if (e->op == DimOp::subtract) return intern(DimOp::subtract, e->a, Dim(e->b.size() - b.size()));
      }
      if (const DimExpr* e = expr(a); e && e->op == DimOp::subtract && e->b == b) return e->a;  // (x - y) + y
      if (const DimExpr* e = expr(b); e && e->op == DimOp::subtract && e->b == a) return e->a;
      break;
    case DimOp::subtract:
      if (b == Dim(0)) return a;
      if (a == b) return Dim(0);
      if (const DimExpr* e = expr(a)) {
        if (e->op == DimOp::add && e->b == b) return e->a;
        if (e->op == DimOp::add && e->a == b) return e->b;
        if (e->op == DimOp::add && b.known() && e->b.known())  // (x + c) - d
          return e->b.size() >= b.size() ? intern(DimOp::add, e->a, Dim(e->b.size() - b.size()))
                                         : intern(DimOp::subtract, e->a, Dim(b.size() - e->b.size()));
        if (e->op == DimOp::subtract && b.known() && e->b.known())
          return intern(DimOp::subtract, e->a, fold(DimOp::add, e->b, b));
      }
      break;
    case DimOp::multiply:
      if (b == Dim(0)) return Dim(0);
      if (b == Dim(1)) return a;
      if (const DimExpr* e = expr(a); e && e->op == DimOp::multiply && e->b.known() && b.known())
        return intern(DimOp::multiply, e->a, fold(DimOp::multiply, e->b, b));
      break;
    case DimOp::floor_div:
      if (b == Dim(1)) return a;
      if (const DimExpr* e = expr(a); e && b.known() && b.size() > 0) {
        if (e->op == DimOp::multiply && e->b.known() && e->b.size() % b.size() == 0)  // (x * 6) / 3
          return intern(DimOp::multiply, e->a, Dim(e->b.size() / b.size()));
        if (e->op == DimOp::floor_div && e->b.known())
          return intern(DimOp::floor_div, e->a, fold(DimOp::multiply, e->b, b));
      }
      break;
    case DimOp::maximum:
      if (a == b || b == Dim(0)) return a;
      break;
    case DimOp::broadcast:
      if (a == b || b == Dim(1)) return a;
      break;
    case DimOp::positive:
      break;
    case DimOp::symbol:
      break;
  }
  for (int32_t i = 0; i < size(); ++i)
    if (exprs_[i].op == op && exprs_[i].a == a && exprs_[i].b == b) return Dim::symbol(i);
  exprs_.push_back({op, a, b, {}});
  return Dim::symbol(size() - 1);
}

Result<std::vector<int64_t>> DimTable::evaluate(std::span<const std::span<const int64_t>> input_dims) const {
  std::vector<int64_t> values;
  values.reserve(exprs_.size());
  for (int32_t i = 0; i < size(); ++i) {
    const DimExpr& e = exprs_[i];
    if (e.op == DimOp::symbol) {
      const int64_t input = e.a.raw(), axis = e.b.raw();
      if (input < 0 || input >= static_cast<int64_t>(input_dims.size()) || axis < 0 ||
          axis >= static_cast<int64_t>(input_dims[input].size()))
        return Status(Code::invalid_argument, "dim '" + to_string(Dim::symbol(i)) + "' needs input " +
                                                  std::to_string(input) + " with more than " + std::to_string(axis) +
                                                  " dims");
      values.push_back(input_dims[input][axis]);
      continue;
    }
    const auto earlier = [&](Dim d) { return d.known() || (defined(*this, d) && d.id() < i); };
    if (!earlier(e.a) || !earlier(e.b))
      return Status(Code::internal, "dim " + std::to_string(i) + " is made of dims that come after it");
    const int64_t a = e.a.known() ? e.a.size() : values[e.a.id()];
    const int64_t b = e.b.known() ? e.b.size() : values[e.b.id()];
    if (e.op == DimOp::broadcast && a != b && a != 1 && b != 1)
      return Status(Code::invalid_argument, "dims " + to_string(e.a) + " and " + to_string(e.b) + " are " +
                                                std::to_string(a) + " and " + std::to_string(b) +
                                                ": they must be equal, or one of them 1");
    if (e.op == DimOp::positive && a == 0)
      return Status(Code::invalid_argument,
                    "dim " + to_string(e.a) + " is 0, but the largest or smallest element along it is taken");
    int64_t result;
    if (!apply(e.op, a, b, &result))
      return Status(Code::invalid_argument, "dim " + to_string(Dim::symbol(i)) + " does not fit in 64 bits");
    values.push_back(result);
  }
  return values;
}

std::string DimTable::to_string(Dim d) const { return print(*this, d, 0); }

DimTable* DimTable::current() { return current_table; }

DimTable::Scope::Scope(DimTable* t) : previous_(current_table) { current_table = t; }
DimTable::Scope::~Scope() { current_table = previous_; }

Dim operator+(Dim a, Dim b) { return combine(DimOp::add, a, b); }
Dim operator-(Dim a, Dim b) { return combine(DimOp::subtract, a, b); }
Dim operator*(Dim a, Dim b) { return combine(DimOp::multiply, a, b); }
Dim floor_div(Dim a, Dim b) { return combine(DimOp::floor_div, a, b); }
Dim maximum(Dim a, Dim b) { return combine(DimOp::maximum, a, b); }

std::string to_string(const Shape& shape, const DimTable* table) {
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i) text += ',';
    text += shape[i].known() || shape[i].inferred() ? std::to_string(shape[i].raw())
            : table                                 ? table->to_string(shape[i])
                                                    : "?";
  }
  return text + (shape.excess() ? ",...]" : "]");
}

Status check_rank(const Shape& shape) {
  if (shape.excess() == 0) return {};
  return Status(Code::invalid_argument, "shape " + to_string(shape) + " has " +
                                            std::to_string(shape.rank() + shape.excess()) + " dims, the most is " +
                                            std::to_string(max_rank));
}

}  // namespace kiln
