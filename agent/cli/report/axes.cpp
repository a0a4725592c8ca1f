#include "agent/cli/report/axes.hpp"

#include <algorithm>

namespace idletune::report {

void draw_horizontal_axis(Drawing& drawing, const Frame& frame, const Scale& scale,
                          const std::vector<Tick>& ticks, const std::string& name) {
  std::vector<std::vector<Point>> rules;
  for (const Tick& tick : ticks) {
    const double x = scale.at(tick.value);
    rules.push_back({{x, frame.top}, {x, frame.bottom}});
  }
  drawing.lines("rule", rules);
  drawing.line("axis", {frame.left, frame.bottom}, {frame.right, frame.bottom});
  for (const Tick& tick : ticks) {
    // The first and the last label stay within the picture.
    const double half = Drawing::kDigitWidth * static_cast<double>(character_count(tick.label)) / 2;
    const double x = std::clamp(scale.at(tick.value), half, Drawing::kWidth - half);
    drawing.label("tick", {x, frame.bottom + 15}, Anchor::middle, tick.label);
  }
  if (name.empty()) return;
  drawing.fitted_label("name", {(frame.left + frame.right) / 2, frame.bottom + 32}, Anchor::middle,
                       name,
                       2 * std::min((frame.left + frame.right) / 2,
                                    Drawing::kWidth - (frame.left + frame.right) / 2));
}

void draw_vertical_axis(Drawing& drawing, const Frame& frame, const Scale& scale,
                        const std::vector<Tick>& ticks, const std::string& name) {
  std::vector<std::vector<Point>> rules;
  for (const Tick& tick : ticks) {
    const double y = scale.at(tick.value);
    rules.push_back({{frame.left, y}, {frame.right, y}});
    drawing.label("tick", {frame.left - 5, y + 4}, Anchor::end, tick.label);
  }
  drawing.lines("rule", rules);
  drawing.line("axis", {frame.left, frame.top}, {frame.left, frame.bottom});
  if (name.empty()) return;
  drawing.fitted_label("name", {0, frame.top - 10}, Anchor::start, name, Drawing::kWidth);
}

}  // namespace idletune::report
