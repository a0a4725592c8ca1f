#include "agent/cli/report/plots.hpp"
#include "agent/cli/report/scale.hpp"

namespace idletune::report {
namespace {

constexpr double kRowHeight = 40;
constexpr double kTop = 4;
constexpr double kSide = 20;

Scale scale_of(const RangePlot& plot, const Frame& frame) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const RangeRow& row : plot.rows) {
    for (const RangeRow::Value& value : row.values) {
      if (!(value.value > 0)) continue;
      low = std::min(low, value.low > 0 ? value.low : value.value);
      high = std::max({high, value.high, value.value});
    }
  }
  if (plot.percentages) high = std::min(1.0, high * 1.15);
  return Scale::logarithmic(low / 1.15, high, frame.left, frame.right);
}

void draw_row(Drawing& drawing, const RangeRow& row, const Scale& scale, double top) {
  draw_row_head(drawing, row.name, row.note, top + 12);
  const double middle = top + 25;
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const RangeRow::Value& value : row.values) {
    if (!(value.value > 0)) continue;
    low = std::min(low, value.value);
    high = std::max(high, value.value);
  }
  if (high > low) drawing.line("span", {scale.at(low), middle}, {scale.at(high), middle});
  for (const RangeRow::Value& value : row.values) {
    if (!(value.value > 0)) continue;
    if (value.high > value.low) {
      drawing.line("interval", {scale.at(value.low), middle}, {scale.at(value.high), middle});
    }
    drawing.disc("dot", {scale.at(value.value), middle}, 4.5, value.tip);
  }
}

}  // namespace

std::string draw(const RangePlot& plot) {
  const double bottom = kTop + kRowHeight * static_cast<double>(plot.rows.size());
  const Frame frame{kSide, kTop, Drawing::kWidth - kSide, bottom};
  Drawing drawing(plot.caption, bottom + kAxisHeight);
  const Scale scale = scale_of(plot, frame);
  const std::vector<Tick> ticks = scale.ticks(7);
  draw_horizontal_axis(drawing, frame, scale, plot.percentages ? as_percentages(ticks) : ticks,
                       plot.axis);
  for (std::size_t i = 0; i < plot.rows.size(); ++i) {
    draw_row(drawing, plot.rows[i], scale, kTop + kRowHeight * static_cast<double>(i));
  }
  return drawing.take();
}

}  // namespace idletune::report
