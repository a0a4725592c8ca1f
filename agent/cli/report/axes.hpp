// The axes of a picture.
#pragma once

#include <string>
#include <vector>

#include "agent/cli/report/drawing.hpp"
#include "agent/cli/report/scale.hpp"

namespace idletune::report {

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
void draw_horizontal_axis(Drawing& drawing, const Frame& frame, const Scale& scale,
                          const std::vector<Tick>& ticks, const std::string& name);
// Likewise with the labels to the left of the frame. The name stands above the frame, on the left.
void draw_vertical_axis(Drawing& drawing, const Frame& frame, const Scale& scale,
                        const std::vector<Tick>& ticks, const std::string& name);

}  // namespace idletune::report
