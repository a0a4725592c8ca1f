#include <algorithm>

#include "agent/host/pictures/plots.hpp"
#include "agent/host/pictures/scale.hpp"

namespace idletune::report {
namespace {

constexpr Frame kSquare{44, 26, 324, 306};  // 280 units: 4 per cell
constexpr double kUnit = (kSquare.right - kSquare.left) / ScatterPlot::kCells;

int shade_of(std::uint32_t count) {
  int shade = count > 0 ? 1 : 0;
  for (std::uint32_t most = 1; count > most && shade < ScatterPlot::kShades; most *= 2) ++shade;
  return shade;
}

}  // namespace

std::string draw(const ScatterPlot& plot) {
  Drawing drawing(plot.caption, kSquare.bottom + kAxisHeight);
  const Scale x = Scale::linear(0, 1, kSquare.left, kSquare.right);
  const Scale y = Scale::linear(0, 1, kSquare.bottom, kSquare.top);
  draw_horizontal_axis(drawing, kSquare, x, as_percentages(x.ticks(6)), plot.x_name);
  draw_vertical_axis(drawing, kSquare, y, as_percentages(y.ticks(6)), plot.y_name);
  const double corner_x = x.at(plot.threshold);
  const double corner_y = y.at(plot.threshold);
  drawing.rectangle("corner", {corner_x, kSquare.top}, kSquare.right - corner_x,
                    corner_y - kSquare.top);
  if (plot.points.size() <= ScatterPlot::kMostDiscs) {
    for (const Point& point : plot.points)
      drawing.disc("point", {x.at(point.x), y.at(point.y)}, 2.5);
    return drawing.take();
  }
  Grid grid(ScatterPlot::kCells);
  for (const Point& point : plot.points) grid.add(point.x, point.y);
  draw_shades(
      drawing, "cells d", ScatterPlot::kShades, grid.side(), grid.side(),
      [&](std::size_t row, std::size_t column) { return shade_of(grid.count(column, row)); },
      [](std::size_t row, std::size_t column) {
        return Point{kSquare.left + kUnit * static_cast<double>(column),
                     kSquare.bottom - kUnit * (static_cast<double>(row) + 0.5)};
      });
  return drawing.take();
}

}  // namespace idletune::report
