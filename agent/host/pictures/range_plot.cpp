#include <algorithm>
#include <cmath>

#include "agent/host/pictures/plots.hpp"
#include "agent/host/pictures/scale.hpp"

namespace idletune::report {
namespace {

constexpr double kRangeHeight = 40;

Scale scale_of(const RangePlot& plot, const Frame& frame) {
  Limits limits;
  for (const RangeRow& row : plot.rows) {
    for (const RangeRow::Value& value : row.values) {
      if (!(value.value > 0)) continue;
      for (const double end : {value.low, value.value, value.high}) {
        if (end > 0) limits.include(end);
      }
    }
  }
  const double high = plot.percentages ? std::min(1.0, limits.high * 1.15) : limits.high;
  return Scale::logarithmic(limits.low / 1.15, high, frame.left, frame.right);
}

void draw_row(Drawing& drawing, const RangeRow& row, const Scale& scale, double top) {
  draw_row_head(drawing, row.name, row.note, top + 12);
  const double middle = top + 25;
  Limits span;
  for (const RangeRow::Value& value : row.values) {
    if (value.value > 0) span.include(value.value);
  }
  if (span.high > span.low)
    drawing.line("span", {scale.at(span.low), middle}, {scale.at(span.high), middle});
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
  const Frame frame = frame_of_rows(plot.rows.size(), kRangeHeight);
  Drawing drawing(plot.caption, frame.bottom + kAxisHeight);
  const Scale scale = scale_of(plot, frame);
  const std::vector<Tick> ticks = scale.ticks(7);
  draw_horizontal_axis(drawing, frame, scale, plot.percentages ? as_percentages(ticks) : ticks,
                       plot.axis);
  for (std::size_t i = 0; i < plot.rows.size(); ++i) {
    draw_row(drawing, plot.rows[i], scale, frame.top + kRangeHeight * static_cast<double>(i));
  }
  return drawing.take();
}

}  // namespace idletune::report
