#include <algorithm>

#include "agent/host/pictures/plots.hpp"
#include "models/core/number_text.hpp"

namespace idletune::report {
namespace {

constexpr double kHalfBand = 13;  // of a violin

std::vector<double> ascending(const RowPlot::Row& row) {
  std::vector<double> values;
  for (const RowPlot::Value& value : row.values) values.push_back(value.value);
  std::sort(values.begin(), values.end());
  return values;
}

// Its name, cut where need be, and on the right its note.
void draw_head(Drawing& drawing, const RowPlot::Row& row, double y) {
  const auto width = static_cast<double>(character_count(row.note)) * Drawing::kCharacterWidth;
  drawing.label("strong", {2, y}, Anchor::start, row.name, Drawing::kWidth - width - 12);
  drawing.label("note", {Drawing::kWidth - 2, y}, Anchor::end, row.note);
}

// The outline of the density from a position on, closed around the band's middle.
std::vector<Point> outline(const Density& density, const Scale& scale, double middle, double from) {
  std::vector<Point> upper;
  std::vector<Point> lower;
  for (std::size_t i = 0; i < density.height.size(); ++i) {
    if (Density::position(i + 1) <= from) continue;
    const double x = scale.at(std::max(Density::position(i), from));
    const double half = density.height[i] * kHalfBand / density.highest();
    upper.push_back({x, middle - half});
    lower.push_back({x, middle + half});
  }
  upper.insert(upper.end(), lower.rbegin(), lower.rend());
  return upper;
}

void draw_violin(Drawing& drawing, const RowPlot::Row& row, const Scale& scale, double middle,
                 double threshold) {
  const double edge = scale.at(threshold);
  drawing.line("threshold", {edge, middle - 14}, {edge, middle + 15});
  if (row.values.empty()) return;
  const std::vector<double> values = ascending(row);
  const Density density = density_of(values);
  drawing.area("violin", outline(density, scale, middle, 0));
  drawing.area("good", outline(density, scale, middle, threshold));
  const Box box = box_of(values);
  const double median = scale.at(box.median);
  drawing.line("quartiles", {scale.at(box.lower), middle}, {scale.at(box.upper), middle});
  drawing.line("median", {median, middle - 5}, {median, middle + 5});
}

void draw_box(Drawing& drawing, const RowPlot::Row& row, const Scale& scale, double middle) {
  if (row.values.empty()) return;
  const Box box = box_of(ascending(row));
  const double lower = scale.at(box.lower), upper = scale.at(box.upper);
  const double median = scale.at(box.median);
  drawing.line("whisker", {scale.at(box.low), middle}, {lower, middle});
  drawing.line("whisker", {upper, middle}, {scale.at(box.high), middle});
  drawing.rectangle("box", {lower, middle - 6}, upper - lower, 12);
  drawing.line("median", {median, middle - 6}, {median, middle + 6});
  if (row.values.size() <= RowPlot::kMostDiscs) {
    for (const RowPlot::Value& value : row.values)
      drawing.disc("point", {scale.at(value.value), middle}, 2.5, value.tip);
    return;
  }
  // Of many the rest would hide each other: the farthest, and evenly some between them.
  const std::size_t count = box.outside.size();
  const std::size_t drawn = std::min(count, RowPlot::kMostDiscs);
  for (std::size_t i = 0; i < drawn; ++i) {
    const std::size_t at = drawn > 1 ? i * (count - 1) / (drawn - 1) : 0;
    drawing.disc("point", {scale.at(box.outside[at]), middle}, 2.5);
  }
}

void draw_dots(Drawing& drawing, const RowPlot::Row& row, const Scale& scale, double middle) {
  Limits span;
  for (const RowPlot::Value& value : row.values) {
    if (value.value > 0) span.include(value.value);
  }
  if (span.high > span.low)
    drawing.line("span", {scale.at(span.low), middle}, {scale.at(span.high), middle});
  for (const RowPlot::Value& value : row.values) {
    if (!(value.value > 0)) continue;
    if (value.high > value.low)
      drawing.line("interval", {scale.at(value.low), middle}, {scale.at(value.high), middle});
    drawing.disc("dot", {scale.at(value.value), middle}, 4.5, value.tip);
  }
}

Axis axis_of(const RowPlot& plot) {
  if (plot.kind != RowPlot::dots) return {plot.axis, Axis::shares, 0, 1};
  Limits limits;
  for (const RowPlot::Row& row : plot.rows) {
    for (const RowPlot::Value& value : row.values) {
      for (const double end : {value.low, value.value, value.high}) {
        if (value.value > 0 && end > 0) limits.include(end);
      }
    }
  }
  return {plot.axis, Axis::logarithmic_shares, limits.low / 1.15,
          std::min(1.0, limits.high * 1.15)};
}

std::string described(const RowPlot& plot) {
  std::string text;
  for (const RowPlot::Row& row : plot.rows) {
    text += row.name + ": " + row.note;
    if (!row.values.empty())
      text += std::string(row.note.empty() ? "" : ", ") + "median " +
              number_text(100 * row.quantile(0.5), 3) + "\u00A0%, best " +
              number_text(100 * row.quantile(1), 3) + "\u00A0%";
    for (const RowPlot::Value& value : row.values) {
      if (row.values.size() <= RowPlot::kMostDiscs && !value.tip.empty()) text += "; " + value.tip;
    }
    text += ". ";
  }
  return text;
}

}  // namespace

double RowPlot::Row::quantile(double u) const { return quantile_of(ascending(*this), u); }

void RowPlot::sort_by_median() {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.quantile(0.5) > b.quantile(0.5); });
}

std::string draw(Caption caption, const RowPlot& plot) {
  const double height = plot.kind == RowPlot::violins ? 50 : 40;
  // Beside the frame there is room for half a label of the axis.
  const Frame frame{20, 4, Drawing::kWidth - 20,
                    4 + height * static_cast<double>(plot.rows.size())};
  caption.description = described(plot) + caption.description;
  Drawing drawing(caption, frame.bottom + kAxisHeight);
  const Axis axis = axis_of(plot);
  const Scale scale = axis.scale({}, frame.left, frame.right);
  draw_horizontal_axis(drawing, frame, axis, scale);
  double top = frame.top;
  for (const RowPlot::Row& row : plot.rows) {
    draw_head(drawing, row, top + 12);
    if (plot.kind == RowPlot::violins)
      draw_violin(drawing, row, scale, top + 33, plot.threshold);
    else if (plot.kind == RowPlot::boxes)
      draw_box(drawing, row, scale, top + 25);
    else
      draw_dots(drawing, row, scale, top + 25);
    top += height;
  }
  return drawing.markup();
}

}  // namespace idletune::report
