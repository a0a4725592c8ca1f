// From values to coordinates, and the axes that show them.
#pragma once

#include <functional>
#include <limits>

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

// The part of a picture inside its axes.
struct Frame {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

// The frame of so many rows of that height, one below the other; beside it there is room for half a
// label of the axis.
inline Frame frame_of_rows(std::size_t rows, double height) {
  return {20, 4, Drawing::kWidth - 20, 4 + height * static_cast<double>(rows)};
}

// What lies between the least and the greatest of some values.
struct Limits {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// Height that an axis with its name takes under a frame.
inline constexpr double kAxisHeight = 38;

// Cells of the same shade that touch in a row, as a thick line through their middle: the shortest
// way to say a rectangle. `shade_of(row, column)`: 0 ... shades, 0: nothing; `style`: of the first
// shade without its number; `place(row, column)`: the middle of a cell's left edge.
void draw_shades(Drawing& drawing, const std::string& style, int shades, std::size_t rows,
                 std::size_t columns,
                 const std::function<int(std::size_t row, std::size_t column)>& shade_of,
                 const std::function<Point(std::size_t row, std::size_t column)>& place);
// What stands above a row of a picture: its name, cut where need be, and on the right its note.
void draw_row_head(Drawing& drawing, const std::string& name, const std::string& note, double y);
// A rule through the frame and a label under it for every tick; the axis' name below, centred.
void draw_horizontal_axis(Drawing& drawing, const Frame& frame, const Scale& scale,
                          const std::vector<Tick>& ticks, const std::string& name);
// Likewise with the labels to the left of the frame. The name stands above the frame, on the left.
void draw_vertical_axis(Drawing& drawing, const Frame& frame, const Scale& scale,
                        const std::vector<Tick>& ticks, const std::string& name);

}  // namespace idletune::report
