#include "agent/host/pictures/plots.hpp"
#include "agent/host/pictures/scale.hpp"

namespace idletune::report {
namespace {

constexpr double kViolinHeight = 50;
constexpr double kHalfBand = 13;

// The outline of the density between two positions, closed around the band's middle.
std::vector<Point> outline(const Density& density, const Scale& scale, double middle, double from,
                           double to) {
  const double unit = kHalfBand / density.highest();
  std::vector<Point> upper;
  std::vector<Point> lower;
  for (std::size_t i = 0; i < density.height.size(); ++i) {
    const double position = Density::position(i);
    if (position < from || position > to) continue;
    const double x = scale.at(position);
    const double half = density.height[i] * unit;
    upper.push_back({x, middle - half});
    lower.push_back({x, middle + half});
  }
  upper.insert(upper.end(), lower.rbegin(), lower.rend());
  return upper;
}

void draw_violin(Drawing& drawing, const Violin& violin, const Scale& scale, double top,
                 double threshold) {
  draw_row_head(drawing, violin.name, violin.note, top + 13);
  if (violin.values.empty()) return;
  const double middle = top + 20 + kHalfBand;
  const Density density = density_of(violin.values);
  drawing.area("violin", outline(density, scale, middle, 0, 1));
  drawing.area("good", outline(density, scale, middle, threshold, 1));
  const double median = scale.at(quantile_of(violin.values, 0.5));
  drawing.line("quartiles", {scale.at(quantile_of(violin.values, 0.25)), middle},
               {scale.at(quantile_of(violin.values, 0.75)), middle});
  drawing.line("median", {median, middle - 5}, {median, middle + 5});
}

}  // namespace

std::string draw(const ViolinPlot& plot) {
  const Frame frame = frame_of_rows(plot.violins.size(), kViolinHeight);
  Drawing drawing(plot.caption, frame.bottom + kAxisHeight);
  const Scale scale = Scale::linear(0, 1, frame.left, frame.right);
  draw_horizontal_axis(drawing, frame, scale, as_percentages(scale.ticks(6)),
                       "performance relative to the best");
  const double threshold = scale.at(plot.threshold);
  for (std::size_t i = 0; i < plot.violins.size(); ++i) {
    const double top = frame.top + kViolinHeight * static_cast<double>(i);
    drawing.line("threshold", {threshold, top + 19}, {threshold, top + kViolinHeight - 2});
    draw_violin(drawing, plot.violins[i], scale, top, plot.threshold);
  }
  return drawing.take();
}

}  // namespace idletune::report
