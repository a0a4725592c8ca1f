#include <algorithm>
#include <cmath>

#include "agent/host/pictures/plots.hpp"

namespace idletune::report {
namespace {

// Cells of the same shade that touch in a row, as a thick line through their middle: the shortest
// way to say a rectangle. `shades`: row after row from below, 0: nothing; `style`: of the first
// shade without its number; `corner`: the lowest cell's, on the left.
void draw_cells(Drawing& drawing, const std::string& style, const std::vector<int>& shades,
                std::size_t columns, Point corner, double width, double height) {
  const int most = shades.empty() ? 0 : *std::max_element(shades.begin(), shades.end());
  for (int shade = 1; shade <= most; ++shade) {
    std::vector<std::vector<Point>> runs;
    for (std::size_t i = 0; i < shades.size(); ++i) {
      if (shades[i] != shade) continue;
      const auto row = static_cast<double>(i / columns), column = static_cast<double>(i % columns);
      const double y = corner.y - height * (row + 0.5), x = corner.x + width * column;
      if (i % columns > 0 && shades[i - 1] == shade)
        runs.back().back().x = x + width;
      else
        runs.push_back({{x, y}, {x + width, y}});
    }
    drawing.lines(style + std::to_string(shade), runs);
  }
}

// The shade of so many points: 1 ... kShades, the darkest for the most; of none 0.
int shade_of_count(std::uint32_t count) {
  int shade = count > 0 ? 1 : 0;
  for (std::uint32_t most = 1; count > most && shade < ScatterPlot::kShades; most *= 2) ++shade;
  return shade;
}

// The shade of a relative performance: 1 ... kShades, the darkest for the best; of none 0.
int shade_of_share(double value) {
  if (!std::isfinite(value)) return 0;
  int shade = 1;
  for (const double edge : HeatMap::kEdges) shade += value >= edge ? 1 : 0;
  return shade;
}

// Labels that have room, beginning with the first.
template <class Place>
std::vector<std::size_t> shown_labels(std::size_t count, double room, Place place) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < count; ++i) {
    if (shown.empty() || std::fabs(place(i) - place(shown.back())) >= room) shown.push_back(i);
  }
  return shown;
}

constexpr Frame kCurves{44, 28, 318, 238};
constexpr Frame kSquare{44, 26, 324, 306};  // 280 units: 4 per cell

// Narrows [begin, end] to where least <= share * slope; false if that is nowhere.
bool cut(double least, double slope, double& begin, double& end) {
  if (slope == 0) return least <= 0;
  (slope > 0 ? begin : end) =
      slope > 0 ? std::max(begin, least / slope) : std::min(end, least / slope);
  return begin <= end;
}

// The parts of a curve inside the frame's height, cut where it crosses the edges.
std::vector<std::vector<Point>> clipped(const std::vector<Point>& points, const Scale& x,
                                        const Scale& y) {
  std::vector<std::vector<Point>> parts;
  bool open = false;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const Point from{x.at(points[i].x), y.place(points[i].y)};
    const Point to{x.at(points[i + 1].x), y.place(points[i + 1].y)};
    double begin = 0;
    double end = 1;
    const double rise = to.y - from.y;
    const bool inside = std::isfinite(rise) && cut(kCurves.top - from.y, rise, begin, end) &&
                        cut(from.y - kCurves.bottom, -rise, begin, end) && begin < end;
    const auto at = [&](double share) {
      return Point{from.x + share * (to.x - from.x), from.y + share * rise};
    };
    if (inside && (!open || begin > 0)) parts.push_back({at(begin)});
    if (inside) parts.back().push_back(at(end));
    open = inside && end == 1;
  }
  if (points.size() == 1 && std::isfinite(y.place(points[0].y)))
    parts.push_back({{x.at(points[0].x), y.at(points[0].y)}});
  return parts;
}

void draw_mark(Drawing& drawing, const CurvePlot::Mark& mark, double at) {
  drawing.line("mark", {at, kCurves.top}, {at, kCurves.bottom});
  const double before = at - 4 - kCurves.left;
  const double behind = Drawing::kWidth - at - 4;
  const bool right = behind > before;
  drawing.label("note", {right ? at + 4 : at - 4, kCurves.top + 12},
                right ? Anchor::start : Anchor::end, mark.label, right ? behind : before);
}

}  // namespace

std::string draw(const Caption& caption, const ScatterPlot& plot) {
  Drawing drawing(caption, kSquare.bottom + kAxisHeight);
  const Axis axes[] = {{plot.x_name, Axis::shares, 0, 1}, {plot.y_name, Axis::shares, 0, 1}};
  const Scale x = axes[0].scale({}, kSquare.left, kSquare.right);
  const Scale y = axes[1].scale({}, kSquare.bottom, kSquare.top);
  draw_horizontal_axis(drawing, kSquare, axes[0], x);
  draw_vertical_axis(drawing, kSquare, axes[1], y);
  const Point corner{x.at(plot.threshold), y.at(plot.threshold)};
  drawing.rectangle("corner", {corner.x, kSquare.top}, kSquare.right - corner.x,
                    corner.y - kSquare.top);
  if (plot.points.size() <= ScatterPlot::kMostDiscs) {
    for (const Point& point : plot.points)
      drawing.disc("point", {x.at(point.x), y.at(point.y)}, 2.5);
    return drawing.markup();
  }
  std::vector<int> shades;
  for (const std::uint32_t count : counts_on_grid(plot.points, ScatterPlot::kCells))
    shades.push_back(shade_of_count(count));
  const double unit = (kSquare.right - kSquare.left) / ScatterPlot::kCells;
  draw_cells(drawing, "cells d", shades, ScatterPlot::kCells, {kSquare.left, kSquare.bottom}, unit,
             unit);
  return drawing.markup();
}

std::string draw(const Caption& caption, const HeatMap& plot) {
  constexpr double kLeft = 44, kRight = 330, kTop = 26;
  const std::size_t rows = plot.y_labels.size();
  const std::size_t columns = std::max<std::size_t>(plot.x_labels.size(), 1);
  const bool high = rows <= 12;  // rows that are so few are twice as high
  const double height = high ? 16 : 8;
  const double width = (kRight - kLeft) / static_cast<double>(columns);
  const double bottom = kTop + height * static_cast<double>(rows);
  Drawing drawing(caption, bottom + kAxisHeight);
  std::vector<int> shades;
  for (const double cell : plot.cells) shades.push_back(shade_of_share(cell));
  draw_cells(drawing, high ? "heat high h" : "heat h", shades, columns, {kLeft, bottom}, width,
             height);
  drawing.line("axis", {kLeft, kTop}, {kLeft, bottom});
  drawing.line("axis", {kLeft, bottom}, {kRight, bottom});
  const auto middle = [&](std::size_t row) {
    return bottom - height * (static_cast<double>(row) + 0.5);
  };
  for (const std::size_t row : shown_labels(rows, 15, middle))
    drawing.label("tick", {kLeft - 5, middle(row) + 4}, Anchor::end, plot.y_labels[row], kLeft - 5);
  std::size_t longest = 1;
  for (const std::string& label : plot.x_labels)
    longest = std::max(longest, character_count(label));
  const double room = std::min(Drawing::kDigitWidth * static_cast<double>(longest) + 6, 120.0);
  const auto centre = [&](std::size_t column) {
    return std::clamp(kLeft + width * (static_cast<double>(column) + 0.5), room / 2,
                      Drawing::kWidth - room / 2);
  };
  for (const std::size_t column : shown_labels(plot.x_labels.size(), room, centre)) {
    drawing.label("tick", {centre(column), bottom + 15}, Anchor::middle, plot.x_labels[column],
                  room);
  }
  drawing.label("name", {(kLeft + kRight) / 2, bottom + 32}, Anchor::middle, plot.x_name,
                kRight - kLeft);
  drawing.label("name", {0, kTop - 10}, Anchor::start, plot.y_name, Drawing::kWidth);
  return drawing.markup();
}

std::string draw(const Caption& caption, const CurvePlot& plot) {
  Drawing drawing(caption, kCurves.bottom + kAxisHeight);
  Limits xs;
  Limits ys;
  for (const Curve& curve : plot.curves) {
    for (const Point& point : curve.points) xs.include(point.x);
    for (const auto* points : {&curve.points, &curve.low, &curve.high}) {
      for (const Point& point : *points) ys.include(point.y);
    }
  }
  const Scale x = plot.x.scale(xs, kCurves.left, kCurves.right);
  const Scale y = plot.y.scale(ys, kCurves.bottom, kCurves.top);
  draw_horizontal_axis(drawing, kCurves, plot.x, x);
  draw_vertical_axis(drawing, kCurves, plot.y, y);
  if (plot.level != 0) {
    drawing.line("threshold", {kCurves.left, y.at(plot.level)}, {kCurves.right, y.at(plot.level)});
  }
  for (const CurvePlot::Mark& mark : plot.marks) draw_mark(drawing, mark, x.at(mark.x));
  for (const Curve& curve : plot.curves) {
    std::vector<Point> band;
    for (const Point& point : curve.low) band.push_back({x.at(point.x), y.at(point.y)});
    for (auto point = curve.high.rbegin(); point != curve.high.rend(); ++point)
      band.push_back({x.at(point->x), y.at(point->y)});
    drawing.area("band b" + std::to_string(curve.series), band);
  }
  for (const Curve& curve : plot.curves)
    drawing.lines("curve s" + std::to_string(curve.series), clipped(curve.points, x, y));
  return drawing.markup();
}

}  // namespace idletune::report
