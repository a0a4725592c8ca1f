#include <array>

#include "agent/cli/report/plots.hpp"
#include "agent/cli/report/scale.hpp"

namespace idletune::report {
namespace {

constexpr Frame kFrame{44, 26, 324, 306};  // 280 units: 4 per cell
constexpr double kUnit = (kFrame.right - kFrame.left) / ScatterPlot::kCells;

int shade_of(std::uint32_t count) {
  int shade = 1;
  for (std::uint32_t most = 1; count > most && shade < ScatterPlot::kShades; most *= 2) ++shade;
  return shade;
}

// Cells of the same shade that touch in a row become one rectangle.
void draw_cells(Drawing& drawing, const Grid& grid) {
  std::array<std::vector<std::vector<Point>>, ScatterPlot::kShades + 1> runs;
  for (std::size_t row = 0; row < grid.side(); ++row) {
    for (std::size_t column = 0; column < grid.side();) {
      const std::size_t first = column;
      const std::uint32_t count = grid.count(column, row);
      const int shade = count == 0 ? 0 : shade_of(count);
      while (++column < grid.side()) {
        const std::uint32_t next = grid.count(column, row);
        if ((next == 0 ? 0 : shade_of(next)) != shade) break;
      }
      if (shade == 0) continue;
      // A thick line through the middle of its cells: the shortest way to say a rectangle.
      const double y = kFrame.bottom - kUnit * (static_cast<double>(row) + 0.5);
      runs[static_cast<std::size_t>(shade)].push_back(
          {{kFrame.left + kUnit * static_cast<double>(first), y},
           {kFrame.left + kUnit * static_cast<double>(column), y}});
    }
  }
  for (int shade = 1; shade <= ScatterPlot::kShades; ++shade) {
    drawing.lines("cells d" + std::to_string(shade), runs[static_cast<std::size_t>(shade)]);
  }
}

}  // namespace

std::string draw(const ScatterPlot& plot) {
  Drawing drawing(plot.caption, kFrame.bottom + kAxisHeight);
  const Scale x = Scale::linear(0, 1, kFrame.left, kFrame.right);
  const Scale y = Scale::linear(0, 1, kFrame.bottom, kFrame.top);
  draw_horizontal_axis(drawing, kFrame, x, as_percentages(x.ticks(6)), plot.x_name);
  draw_vertical_axis(drawing, kFrame, y, as_percentages(y.ticks(6)), plot.y_name);
  const double corner_x = x.at(plot.threshold);
  const double corner_y = y.at(plot.threshold);
  drawing.rectangle("corner", {corner_x, kFrame.top}, kFrame.right - corner_x,
                    corner_y - kFrame.top);
  if (plot.points.size() <= ScatterPlot::kMostDiscs) {
    for (const Point& point : plot.points)
      drawing.disc("point", {x.at(point.x), y.at(point.y)}, 2.5);
    return drawing.take();
  }
  Grid grid(ScatterPlot::kCells);
  for (const Point& point : plot.points) grid.add(point.x, point.y);
  draw_cells(drawing, grid);
  return drawing.take();
}

}  // namespace idletune::report
