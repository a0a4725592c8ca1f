#include <algorithm>
#include <cmath>

#include "agent/host/pictures/plots.hpp"
#include "agent/host/pictures/scale.hpp"

namespace idletune::report {
namespace {

constexpr Frame kFrame{44, 28, 318, 238};

Scale x_scale(const CurvePlot& plot) {
  Limits limits;
  for (const Curve& curve : plot.curves) {
    for (const Point& point : curve.points) limits.include(point.x);
  }
  return plot.linear_x ? Scale::linear(limits.low, limits.high, kFrame.left, kFrame.right)
                       : Scale::logarithmic(limits.low, limits.high, kFrame.left, kFrame.right);
}

Scale y_scale(const CurvePlot& plot) {
  Limits limits;
  for (const Curve& curve : plot.curves) {
    for (const auto* points : {&curve.points, &curve.low, &curve.high}) {
      for (const Point& point : *points) limits.include(point.y);
    }
  }
  if (plot.y_low < plot.y_high) limits = {plot.y_low, plot.y_high};
  return plot.logarithmic_y ? Scale::logarithmic(limits.low, limits.high, kFrame.bottom, kFrame.top)
                            : Scale::linear(limits.low, limits.high, kFrame.bottom, kFrame.top);
}

std::vector<Point> placed(const std::vector<Point>& points, const Scale& x, const Scale& y) {
  std::vector<Point> result;
  result.reserve(points.size());
  for (const Point& point : points) result.push_back({x.at(point.x), y.at(point.y)});
  return result;
}

// Narrows [begin, end] to where least <= share * slope; false if that is nowhere.
bool cut(double least, double slope, double& begin, double& end) {
  if (slope == 0) return least <= 0;
  const double share = least / slope;
  if (slope > 0) {
    begin = std::max(begin, share);
  } else {
    end = std::min(end, share);
  }
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
    const bool inside = std::isfinite(rise) && cut(kFrame.top - from.y, rise, begin, end) &&
                        cut(from.y - kFrame.bottom, -rise, begin, end) && begin < end;
    if (!inside) {
      open = false;
      continue;
    }
    const auto at = [&](double share) {
      return Point{from.x + share * (to.x - from.x), from.y + share * rise};
    };
    if (!open || begin > 0) parts.push_back({at(begin)});
    parts.back().push_back(at(end));
    open = end == 1;
  }
  return parts;
}

void draw_mark(Drawing& drawing, const CurvePlot::Mark& mark, const Scale& x) {
  const double at = x.at(mark.x);
  drawing.line("mark", {at, kFrame.top}, {at, kFrame.bottom});
  const bool right = at < (kFrame.left + kFrame.right) / 2;
  drawing.fitted_label("note", {right ? at + 4 : at - 4, kFrame.top + 12},
                       right ? Anchor::start : Anchor::end, mark.label,
                       right ? kFrame.right - at - 4 : at - 4 - kFrame.left);
}

}  // namespace

std::string draw(const CurvePlot& plot) {
  Drawing drawing(plot.caption, kFrame.bottom + kAxisHeight);
  const Scale x = x_scale(plot);
  const Scale y = y_scale(plot);
  draw_horizontal_axis(drawing, kFrame, x,
                       plot.x_percentages ? as_percentages(x.ticks(6)) : x.ticks(8), plot.x_name);
  const std::vector<Tick> ticks = y.ticks(6);
  draw_vertical_axis(drawing, kFrame, y, plot.percentages ? as_percentages(ticks) : ticks,
                     plot.y_name);
  if (plot.level != 0) {
    drawing.line("threshold", {kFrame.left, y.at(plot.level)}, {kFrame.right, y.at(plot.level)});
  }
  for (const CurvePlot::Mark& mark : plot.marks) draw_mark(drawing, mark, x);
  for (const Curve& curve : plot.curves) {
    std::vector<Point> band = placed(curve.low, x, y);
    const std::vector<Point> upper = placed(curve.high, x, y);
    band.insert(band.end(), upper.rbegin(), upper.rend());
    drawing.area("band b" + std::to_string(curve.series), band);
  }
  for (const Curve& curve : plot.curves) {
    drawing.lines("curve s" + std::to_string(curve.series), clipped(curve.points, x, y));
  }
  return drawing.take();
}

}  // namespace idletune::report
