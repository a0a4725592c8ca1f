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

std::vector<Tick> labelled(const std::vector<double>& values) {
  std::vector<Tick> ticks;
  for (const double value : values) ticks.push_back({value, axis_text(value)});
  return ticks;
}

std::vector<double> linear_ticks(double low, double high, std::size_t limit) {
  const double least_step = (high - low) / static_cast<double>(limit - 1);
  double step = std::pow(10.0, std::floor(std::log10(least_step)));
  for (const double factor : {2.0, 2.5, 2.0}) {  // 1, 2, 5, 10
    if (step < least_step * (1 - kSlack)) step *= factor;
  }
  std::vector<double> values;
  const double slack = kSlack * (high - low);
  for (double i = std::ceil((low - slack) / step); i * step <= high + slack; ++i)
    values.push_back(i == 0 ? 0 : i * step);  // never -0
  return values;
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

std::vector<double> logarithmic_ticks(double low, double high, std::size_t limit) {
  std::vector<double> values = powers_between(low, high, {1, 2, 5}, 1);
  if (values.size() > limit) values = powers_between(low, high, {1, 3}, 1);
  for (int every = 1; values.size() > limit; ++every)
    values = powers_between(low, high, {1}, every);
  return values.size() < 2 ? linear_ticks(low, high, limit) : values;
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
    return text.substr(0, sign + 2) + std::to_string(std::atoi(text.c_str() + sign + 2) - 3);
  }
  if (size >= 1e9) return number_text(value / 1e9, 6) + "G";
  if (size >= 1e6) return number_text(value / 1e6, 6) + "M";
  if (size >= 1e3) return number_text(value / 1e3, 6) + "k";
  return number_text(value, 6);
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
  return labelled(logarithmic_ ? logarithmic_ticks(low_, high_, limit)
                               : linear_ticks(low_, high_, limit));
}

std::vector<Tick> as_percentages(std::vector<Tick> ticks) {
  for (Tick& tick : ticks) tick.label = axis_text(std::round(tick.value * 1e8) / 1e6) + "\xC2\xA0%";
  return ticks;
}

Scale Axis::scale(Limits data, double from, double to) const {
  if (low < high) data = {low, high};
  if (of_shares() && data.low >= data.high)  // one share is on an axis of shares, too
    data = kind == shares ? Limits{0, 1} : Limits{data.low / 2, std::min(1.0, 2 * data.high)};
  return kind == linear || kind == shares ? Scale::linear(data.low, data.high, from, to)
                                          : Scale::logarithmic(data.low, data.high, from, to);
}

void draw_horizontal_axis(Drawing& drawing, const Frame& frame, const Axis& axis,
                          const Scale& scale) {
  std::vector<std::vector<Point>> rules;
  const auto ticks = axis.of_shares() ? as_percentages(scale.ticks(6)) : scale.ticks(8);
  for (const Tick& tick : ticks) {
    const double at = scale.at(tick.value);
    rules.push_back({{at, frame.top}, {at, frame.bottom}});
    // The first and the last label stay within the picture.
    const double half = Drawing::kDigitWidth * static_cast<double>(character_count(tick.label)) / 2;
    drawing.label("tick", {std::clamp(at, half, Drawing::kWidth - half), frame.bottom + 15},
                  Anchor::middle, tick.label);
  }
  drawing.lines("rule", rules);
  drawing.line("axis", {frame.left, frame.bottom}, {frame.right, frame.bottom});
  if (axis.name.empty()) return;
  const double middle = (frame.left + frame.right) / 2;
  drawing.label("name", {middle, frame.bottom + 32}, Anchor::middle, axis.name,
                2 * std::min(middle, Drawing::kWidth - middle));
}

void draw_vertical_axis(Drawing& drawing, const Frame& frame, const Axis& axis,
                        const Scale& scale) {
  std::vector<std::vector<Point>> rules;
  const auto ticks = scale.ticks(6);
  for (const Tick& tick : axis.of_shares() ? as_percentages(ticks) : ticks) {
    const double y = scale.at(tick.value);
    rules.push_back({{frame.left, y}, {frame.right, y}});
    // A label that is wider than the margin begins at the picture's edge.
    const double width = Drawing::kDigitWidth * static_cast<double>(character_count(tick.label));
    const bool fits = width <= frame.left - 5;
    drawing.label("tick", {fits ? frame.left - 5 : 0, y + 4}, fits ? Anchor::end : Anchor::start,
                  tick.label);
  }
  drawing.lines("rule", rules);
  drawing.line("axis", {frame.left, frame.top}, {frame.left, frame.bottom});
  if (axis.name.empty()) return;
  drawing.label("name", {0, frame.top - 10}, Anchor::start, axis.name, Drawing::kWidth);
}

}  // namespace idletune::report
