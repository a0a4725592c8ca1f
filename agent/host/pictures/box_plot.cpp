#include <algorithm>

#include "agent/host/pictures/plots.hpp"
#include "agent/host/pictures/scale.hpp"

namespace idletune::report {
namespace {

constexpr double kRowHeight = 40;

void draw_box(Drawing& drawing, const Box& box, const Scale& scale, double middle) {
  drawing.line("whisker", {scale.at(box.low), middle}, {scale.at(box.lower), middle});
  drawing.line("whisker", {scale.at(box.upper), middle}, {scale.at(box.high), middle});
  drawing.rectangle("box", {scale.at(box.lower), middle - 6},
                    scale.at(box.upper) - scale.at(box.lower), 12);
  drawing.line("median", {scale.at(box.median), middle - 6}, {scale.at(box.median), middle + 6});
}

void draw_row(Drawing& drawing, const BoxRow& row, const Scale& scale, double top) {
  draw_row_head(drawing, row.name, row.note, top + 12);
  if (row.values.empty()) return;
  const double middle = top + 25;
  std::vector<double> values;
  for (const BoxRow::Value& value : row.values) values.push_back(value.value);
  const Box box = box_of(values);
  draw_box(drawing, box, scale, middle);
  if (row.values.size() <= BoxPlot::kMostDiscs) {
    for (const BoxRow::Value& value : row.values) {
      drawing.disc("point", {scale.at(value.value), middle}, 2.5, value.tip);
    }
    return;
  }
  // Of many the rest would hide each other: the farthest, and evenly some between them.
  const std::size_t count = box.outside.size();
  const std::size_t drawn = std::min(count, BoxPlot::kMostDiscs);
  for (std::size_t i = 0; i < drawn; ++i) {
    const std::size_t at = drawn > 1 ? i * (count - 1) / (drawn - 1) : 0;
    drawing.disc("point", {scale.at(box.outside[at]), middle}, 2.5);
  }
}

}  // namespace

std::string draw(const BoxPlot& plot) {
  const Frame frame = frame_of_rows(plot.rows.size(), kRowHeight);
  Drawing drawing(plot.caption, frame.bottom + kAxisHeight);
  const Scale scale = Scale::linear(0, 1, frame.left, frame.right);
  draw_horizontal_axis(drawing, frame, scale, as_percentages(scale.ticks(6)), plot.axis);
  for (std::size_t i = 0; i < plot.rows.size(); ++i) {
    draw_row(drawing, plot.rows[i], scale, frame.top + kRowHeight * static_cast<double>(i));
  }
  return drawing.take();
}

}  // namespace idletune::report
