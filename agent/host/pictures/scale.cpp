#include "agent/host/pictures/scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "models/core/number_text.hpp"

namespace idletune::report {
namespace {

// Rounding must not push a tick that lies on an end of the axis out of it.
constexpr double kSlack = 1e-9;

double positive_or(double value, double other) {
  return std::isfinite(value) && value > 0 ? value : other;
}

std::vector<Tick> linear_ticks(double low, double high, std::size_t limit) {
  const double least_step = (high - low) / static_cast<double>(limit - 1);
  const double power = std::pow(10.0, std::floor(std::log10(least_step)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least_step * (1 - kSlack)) {
      step = factor * power;
      break;
    }
  }
  std::vector<Tick> ticks;
  const double slack = kSlack * (high - low);
  for (double i = std::ceil((low - slack) / step); i * step <= high + slack; ++i) {
    const double value = i == 0 ? 0 : i * step;  // never -0
    ticks.push_back({value, axis_text(value)});
  }
  return ticks;
}

std::vector<double> powers_between(double low, double high, const std::vector<double>& mantissas,
                                   int every) {
  std::vector<double> values;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  for (int exponent = first; exponent <= last; ++exponent) {
    if (exponent % every != 0) continue;
    for (const double mantissa : mantissas) {
      const double value = mantissa * std::pow(10.0, exponent);
      if (value >= low * (1 - kSlack) && value <= high * (1 + kSlack)) values.push_back(value);
    }
  }
  return values;
}

std::vector<Tick> logarithmic_ticks(double low, double high, std::size_t limit) {
  const std::vector<std::vector<double>> finer{{1, 2, 5}, {1, 3}};
  std::vector<double> values;
  for (const auto& mantissas : finer) {
    values = powers_between(low, high, mantissas, 1);
    if (values.size() <= limit) break;
  }
  for (int every = 1; values.size() > limit; ++every) {
    values = powers_between(low, high, {1}, every);
  }
  if (values.size() < 2) return linear_ticks(low, high, limit);
  std::vector<Tick> ticks;
  ticks.reserve(values.size());
  for (const double value : values) ticks.push_back({value, axis_text(value)});
  return ticks;
}

}  // namespace

std::string axis_text(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::fabs(value);
  if (size >= 1e12) return number_text(value, 3);
  if (size > 0 && size < 1e-3) {  // "1e-4"
    std::string text = number_text(value * 1e-3, 2);
    const std::size_t sign = text.find("e-");
    if (sign == std::string::npos) return text;
    const int exponent = std::atoi(text.c_str() + sign + 2) - 3;
    return text.substr(0, sign + 2) + std::to_string(exponent);
  }
  std::string suffix;
  double shown = value;
  if (size >= 1e9) {
    shown = value / 1e9, suffix = "G";
  } else if (size >= 1e6) {
    shown = value / 1e6, suffix = "M";
  } else if (size >= 1e3) {
    shown = value / 1e3, suffix = "k";
  }
  return number_text(shown, 6) + suffix;
}

Scale Scale::linear(double low, double high, double from, double to) {
  if (!std::isfinite(low)) low = std::isfinite(high) ? high : 0;
  if (!std::isfinite(high)) high = low;
  if (low > high) std::swap(low, high);
  const double least = std::max(std::fabs(low), std::fabs(high)) * 1e-6;
  if (high - low <= least) {
    const double room = least > 0 ? least * 1e5 : 1;
    low -= room;
    high += room;
  }
  return Scale(false, low, high, from, to);
}

Scale Scale::logarithmic(double low, double high, double from, double to) {
  high = positive_or(high, positive_or(low, 1));
  low = positive_or(low, high / 10);
  if (low > high) std::swap(low, high);
  if (high / low < 1.001) {
    low /= 2;
    high *= 2;
  }
  return Scale(true, low, high, from, to);
}

double Scale::place(double value) const {
  const double share = logarithmic_ ? std::log(value / low_) / std::log(high_ / low_)
                                    : (value - low_) / (high_ - low_);
  return from_ + share * (to_ - from_);
}

double Scale::at(double value) const {
  const double placed = logarithmic_ && value <= 0 ? from_ : place(value);
  if (std::isnan(placed)) return from_;
  return std::clamp(placed, std::min(from_, to_), std::max(from_, to_));
}

std::vector<Tick> Scale::ticks(std::size_t limit) const {
  limit = std::max<std::size_t>(limit, 2);
  return logarithmic_ ? logarithmic_ticks(low_, high_, limit) : linear_ticks(low_, high_, limit);
}

std::vector<Tick> as_percentages(std::vector<Tick> ticks) {
  for (Tick& tick : ticks) tick.label = axis_text(std::round(tick.value * 1e8) / 1e6) + "\xC2\xA0%";
  return ticks;
}

void draw_shades(Drawing& drawing, const std::string& style, int shades, std::size_t rows,
                 std::size_t columns,
                 const std::function<int(std::size_t row, std::size_t column)>& shade_of,
                 const std::function<Point(std::size_t row, std::size_t column)>& place) {
  std::vector<std::vector<std::vector<Point>>> runs(static_cast<std::size_t>(shades) + 1);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns;) {
      const std::size_t first = column;
      const int shade = shade_of(row, column);
      while (++column < columns && shade_of(row, column) == shade) continue;
      runs[static_cast<std::size_t>(shade)].push_back({place(row, first), place(row, column)});
    }
  }
  for (int shade = 1; shade <= shades; ++shade)
    drawing.lines(style + std::to_string(shade), runs[static_cast<std::size_t>(shade)]);
}

void draw_row_head(Drawing& drawing, const std::string& name, const std::string& note, double y) {
  const double note_width = Drawing::kCharacterWidth * static_cast<double>(character_count(note));
  drawing.fitted_label("strong", {2, y}, Anchor::start, name, Drawing::kWidth - note_width - 12);
  drawing.label("note", {Drawing::kWidth - 2, y}, Anchor::end, note);
}

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
    // A label that is wider than the margin begins at the picture's edge.
    const double width = Drawing::kDigitWidth * static_cast<double>(character_count(tick.label));
    if (width <= frame.left - 5) {
      drawing.label("tick", {frame.left - 5, y + 4}, Anchor::end, tick.label);
    } else {
      drawing.label("tick", {0, y + 4}, Anchor::start, tick.label);
    }
  }
  drawing.lines("rule", rules);
  drawing.line("axis", {frame.left, frame.top}, {frame.left, frame.bottom});
  if (name.empty()) return;
  drawing.fitted_label("name", {0, frame.top - 10}, Anchor::start, name, Drawing::kWidth);
}

}  // namespace idletune::report
