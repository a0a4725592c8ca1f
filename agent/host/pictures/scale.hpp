// From values to coordinates, and the axes that show them.
#pragma once

#include "agent/host/pictures/drawing.hpp"

namespace idletune::report {

// Short, for axes: "20", "1k", "2.5M", "0.01".
std::string axis_text(double value);

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

// What lies between the least and the greatest of some values.
struct Limits {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

struct Axis {
  enum Kind { linear, shares, logarithmic, logarithmic_shares };  // shares: labelled as per cents
  std::string name = {};
  Kind kind = linear;
  double low = 0;  // both 0: from the data
  double high = 0;

  bool of_shares() const { return kind == shares || kind == logarithmic_shares; }
  Scale scale(Limits data, double from, double to) const;
};

// The part of a picture inside its axes.
struct Frame {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

// Height that an axis with its name takes under a frame.
inline constexpr double kAxisHeight = 38;

// A rule through the frame and a label under it for every tick; the axis' name below, centred.
void draw_horizontal_axis(Drawing& drawing, const Frame& frame, const Axis& axis,
                          const Scale& scale);
// Likewise with the labels to the left of the frame. The name stands above the frame, on the left.
void draw_vertical_axis(Drawing& drawing, const Frame& frame, const Axis& axis, const Scale& scale);

}  // namespace idletune::report
