// Prints tensors as NumPy does: one width per tensor, at most 8 digits after the point, big ones summarised to three
// items at each end of each axis. Unlike NumPy, whole floats have no point: the dtype stands behind.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>
#include <sstream>

#include "frontend/tensor/rep.h"
#include "frontend/tensor/tensor.h"
#include "frontend/variable/variable.h"

namespace kiln {
namespace {

constexpr int64_t summary_threshold = 1000;
constexpr int64_t edge_items = 3;
constexpr size_t line_width = 75;
constexpr int precision = 8;

// The shortest digits that give the number back, at most `precision` after the point.
template <class T>
std::string fixed_digits(T v) {
  char shortest[512], limited[512];
  const auto s = std::to_chars(shortest, shortest + sizeof(shortest), v, std::chars_format::fixed);
  std::string text(shortest, s.ptr);
  const size_t point = text.find('.');
  if (point == std::string::npos) return text + ".";
  if (text.size() - point - 1 > precision) {
    const auto l = std::to_chars(limited, limited + sizeof(limited), v, std::chars_format::fixed, precision);
    text.assign(limited, l.ptr);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

template <class T>
std::string scientific_digits(T v, size_t* digits) {
  char shortest[64];
  auto s = std::to_chars(shortest, shortest + sizeof(shortest), v, std::chars_format::scientific);
  std::string text(shortest, s.ptr);
  size_t e = text.find('e'), point = text.find('.');
  if (point != std::string::npos && e - point - 1 > precision) {
    s = std::to_chars(shortest, shortest + sizeof(shortest), v, std::chars_format::scientific, precision);
    text.assign(shortest, s.ptr);
    e = text.find('e'), point = text.find('.');
    size_t last = text.find_last_not_of('0', e - 1);
    text.erase(last + 1, e - last - 1);
    e = text.find('e');
  }
  if (point == std::string::npos) text.insert(e, "."), point = e, ++e;
  *digits = std::max(*digits, e - point - 1);
  return text;
}

class Printer {
 public:
  explicit Printer(const detail::TensorRep& rep) : rep_(rep) {
    for (Dim d : rep.shape) dims_.push_back(d.size());
    summary_ = rep.shape.size() > summary_threshold;
    collect(0, 0);
    format();
  }

  std::string text() { return dims_.empty() ? cells_[0] : block(0, 1); }

 private:
  int64_t shown(size_t axis) const { return summary_ && dims_[axis] > 2 * edge_items ? 2 * edge_items : dims_[axis]; }
  int64_t index(size_t axis, int64_t i) const {
    return shown(axis) < dims_[axis] && i >= edge_items ? dims_[axis] - 2 * edge_items + i : i;
  }
  void collect(size_t axis, int64_t offset) {
    if (axis == dims_.size()) return positions_.push_back(offset);
    for (int64_t i = 0; i < shown(axis); ++i) collect(axis + 1, offset * dims_[axis] + index(axis, i));
  }

  void format() {
    const bool known = visit_dtype(rep_.dtype, [&]<class T>(T) {
      const T* data = reinterpret_cast<const T*>(rep_.data());
      if constexpr (std::floating_point<T>) {
        format_floats(data);
      } else {
        for (int64_t p : positions_) {
          if constexpr (std::same_as<T, bool>)
            cells_.push_back(data[p] ? "true" : "false");
          else
            cells_.push_back(std::to_string(data[p]));
        }
      }
    });
    if (!known) cells_.assign(positions_.size(), "?");
    if (dims_.empty()) {
      cells_[0].erase(0, cells_[0].find_first_not_of(' '));
      return;
    }
    size_t width = 0;
    for (const std::string& cell : cells_) width = std::max(width, cell.size());
    for (std::string& cell : cells_) cell.insert(0, width - cell.size(), ' ');
  }

  template <class T>
  void format_floats(const T* data) {
    T largest = 0, smallest = std::numeric_limits<T>::infinity();
    for (int64_t p : positions_) {
      const T a = std::fabs(data[p]);
      if (!std::isfinite(a) || a == 0) continue;
      largest = std::max(largest, a), smallest = std::min(smallest, a);
    }
    const bool scientific = largest > 0 && (largest >= T(1e8) || smallest < T(1e-4) || largest / smallest > T(1000));
    size_t digits = 0;
    for (int64_t p : positions_) {
      const T v = data[p];
      if (std::isnan(v))
        cells_.push_back("nan");
      else if (std::isinf(v))
        cells_.push_back(v < 0 ? "-inf" : "inf");
      else if (scientific)
        cells_.push_back(scientific_digits(v, &digits));
      else {
        cells_.push_back(fixed_digits(v));
        const std::string& c = cells_.back();
        digits = std::max(digits, c.size() - c.find('.') - 1);
      }
    }
    // One number of digits for all: spaces in fixed form, zeros in scientific form, as NumPy does.
    for (std::string& cell : cells_) {
      const size_t point = cell.find('.');
      if (point == std::string::npos) continue;  // nan, inf
      if (scientific) {
        const size_t e = cell.find('e');
        cell.insert(e, digits - (e - point - 1), '0');
      } else {
        cell.append(digits - (cell.size() - point - 1), ' ');
        if (digits == 0) cell.pop_back();  // all are whole numbers
      }
    }
  }

  std::string block(size_t axis, size_t indent) {
    std::string out = "[";
    const bool cut = shown(axis) < dims_[axis];
    if (axis + 1 == dims_.size()) {
      size_t column = indent;
      for (int64_t i = 0; i < shown(axis); ++i) {
        if (cut && i == edge_items) {
          out += column + 4 > line_width ? ",\n" + std::string(indent, ' ') + "..." : ", ...";
          column += 5;
        }
        const std::string& cell = cells_[next_++];
        if (i && column + 2 + cell.size() > line_width) {
          out += ",\n" + std::string(indent, ' ');
          column = indent;
        } else if (i) {
          out += ", ";
          column += 2;
        }
        out += cell;
        column += cell.size();
      }
      return out + "]";
    }
    const std::string gap = "," + std::string(dims_.size() - axis - 1, '\n') + std::string(indent, ' ');
    for (int64_t i = 0; i < shown(axis); ++i) {
      if (i) out += gap;
      if (cut && i == edge_items) out += "..." + gap;
      out += block(axis + 1, indent + 1);
    }
    return out + "]";
  }

  const detail::TensorRep& rep_;
  std::vector<int64_t> dims_;
  bool summary_ = false;
  std::vector<int64_t> positions_;
  std::vector<std::string> cells_;
  size_t next_ = 0;
};

}  // namespace

std::string to_string(const Tensor& x) {
  if (!x.defined()) return "(empty Tensor)";
  const detail::TensorRep& rep = *x.rep();
  const std::string type = std::string(name_of(rep.dtype)) + to_string(rep.shape);
  if (rep.trace) return "symbolic " + type + " (" + rep.op + " in \"" + rep.trace->function + "\")";
  return Printer(rep).text() + "  " + type + " cpu";
}

std::ostream& operator<<(std::ostream& out, const Tensor& x) { return out << to_string(x); }

std::ostream& operator<<(std::ostream& out, const Variable& v) {
  if (!v.defined()) return out << "(empty Variable)";
  return out << v.name() << " = " << v.read();
}

}  // namespace kiln
