#include <algorithm>
#include <cmath>

#include "agent/host/pictures/plots.hpp"
#include "agent/host/pictures/scale.hpp"

namespace idletune::report {
namespace {

constexpr double kLeft = 44;
constexpr double kMapTop = 26;
constexpr double kRight = 330;
constexpr std::size_t kFewRows = 12;  // of which there are no more rows are twice as high

// The shade of a relative performance: 1 ... kShades, the darkest for the best; of none 0.
int shade_of(double value) {
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

}  // namespace

std::string draw(const HeatMap& plot) {
  const std::size_t rows = plot.y_labels.size();
  const std::size_t columns = plot.x_labels.size();
  const double height = rows <= kFewRows ? 16 : 8;
  const double width = (kRight - kLeft) / static_cast<double>(std::max<std::size_t>(columns, 1));
  const double bottom = kMapTop + height * static_cast<double>(rows);
  Drawing drawing(plot.caption, bottom + kAxisHeight);
  const auto middle = [&](std::size_t row) {
    return bottom - height * (static_cast<double>(row) + 0.5);
  };
  // Rows begin at the bottom.
  draw_shades(
      drawing, rows <= kFewRows ? "heat high h" : "heat h", HeatMap::kShades, rows, columns,
      [&](std::size_t row, std::size_t column) {
        return shade_of(plot.cells[row * columns + column]);
      },
      [&](std::size_t row, std::size_t column) {
        return Point{kLeft + width * static_cast<double>(column), middle(row)};
      });
  drawing.line("axis", {kLeft, kMapTop}, {kLeft, bottom});
  drawing.line("axis", {kLeft, bottom}, {kRight, bottom});
  for (const std::size_t row : shown_labels(rows, 15, middle)) {
    drawing.fitted_label("tick", {kLeft - 5, middle(row) + 4}, Anchor::end, plot.y_labels[row],
                         kLeft - 5);
  }
  std::size_t longest = 1;
  for (const std::string& label : plot.x_labels) {
    longest = std::max(longest, character_count(label));
  }
  const double room = std::min(Drawing::kDigitWidth * static_cast<double>(longest) + 6, 120.0);
  const auto centre = [&](std::size_t column) {
    return std::clamp(kLeft + width * (static_cast<double>(column) + 0.5), room / 2,
                      Drawing::kWidth - room / 2);
  };
  for (const std::size_t column : shown_labels(columns, room, centre)) {
    drawing.fitted_label("tick", {centre(column), bottom + 15}, Anchor::middle,
                         plot.x_labels[column], room);
  }
  drawing.fitted_label("name", {(kLeft + kRight) / 2, bottom + 32}, Anchor::middle, plot.x_name,
                       kRight - kLeft);
  drawing.fitted_label("name", {0, kMapTop - 10}, Anchor::start, plot.y_name, Drawing::kWidth);
  return drawing.take();
}

}  // namespace idletune::report
