// From values to coordinates, and where an axis has its ticks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace idletune::report {

struct Tick {
  double value = 0;
  std::string label;
};

// Maps [low, high] onto [from, to] (`to` may be the smaller one). Values outside are clamped to the
// ends, so that a coordinate never leaves the plot.
class Scale {
 public:
  // An empty or non-finite range is widened to a usable one around `low` (or 0).
  static Scale linear(double low, double high, double from, double to);
  // Both ends must be positive; what is not is replaced by the other end's tenth (or 1).
  static Scale logarithmic(double low, double high, double from, double to);

  double low() const { return low_; }
  double high() const { return high_; }
  double at(double value) const;
  // The same without the clamping; not finite where the value cannot be placed (a logarithm of 0).
  double place(double value) const;

  // At most `limit` (>= 2) ticks within the range, ascending: linear at steps of 1, 2 or 5 times a
  // power of ten; logarithmic at powers of ten, evenly thinned, or at 1, 2, 5 where there is room.
  std::vector<Tick> ticks(std::size_t limit) const;

 private:
  Scale(bool logarithmic, double low, double high, double from, double to)
      : logarithmic_(logarithmic), low_(low), high_(high), from_(from), to_(to) {}
  bool logarithmic_;
  double low_;
  double high_;
  double from_;
  double to_;
};

// The same ticks labelled as percentages of 1: "0 %", "25 %".
std::vector<Tick> as_percentages(std::vector<Tick> ticks);

}  // namespace idletune::report
