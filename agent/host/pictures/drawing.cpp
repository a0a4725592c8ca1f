#include "agent/host/pictures/drawing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace idletune::report {
namespace {

// One decimal: a tenth of a pixel on a phone.
std::string coordinate(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1f", value);
  std::string text = buffer;
  if (text.size() > 2 && text.compare(text.size() - 2, 2, ".0") == 0) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

const char* anchor_name(Anchor anchor) {
  switch (anchor) {
    case Anchor::start: return "start";
    case Anchor::middle: return "middle";
    case Anchor::end: return "end";
  }
  return "start";
}

}  // namespace

Drawing::Drawing(const Caption& caption, double height) : height_(height) {
  const std::string title_id = caption.id + "-title";
  const std::string description_id = caption.id + "-desc";
  markup_.open("svg", {{"id", caption.id},
                       {"viewBox", "0 0 " + coordinate(kWidth) + " " + coordinate(height)},
                       {"role", "img"},
                       {"aria-labelledby", title_id},
                       {"aria-describedby", description_id}});
  markup_.element("title", {{"id", title_id}}, caption.title);
  markup_.element("desc", {{"id", description_id}}, caption.description);
}

double Drawing::within(double value, double limit) const {
  return std::isfinite(value) ? std::clamp(value, 0.0, limit) : 0;
}

std::string Drawing::x(double value) const { return coordinate(within(value, kWidth)); }
std::string Drawing::y(double value) const { return coordinate(within(value, height_)); }

void Drawing::line(std::string_view style, Point from, Point to) {
  markup_.empty(
      "line",
      {{"class", style}, {"x1", x(from.x)}, {"y1", y(from.y)}, {"x2", x(to.x)}, {"y2", y(to.y)}});
}

void Drawing::rectangle(std::string_view style, Point corner, double width, double height) {
  const double right = within(corner.x + width, kWidth);
  const double bottom = within(corner.y + height, height_);
  const double left = within(corner.x, kWidth);
  const double top = within(corner.y, height_);
  markup_.empty("rect", {{"class", style},
                         {"x", coordinate(left)},
                         {"y", coordinate(top)},
                         {"width", coordinate(std::max(0.0, right - left))},
                         {"height", coordinate(std::max(0.0, bottom - top))}});
}

void Drawing::disc(std::string_view style, Point centre, double radius, std::string_view tip) {
  const double r = std::min(radius, std::min(kWidth, height_) / 2);
  const std::string cx = coordinate(std::clamp(within(centre.x, kWidth), r, kWidth - r));
  const std::string cy = coordinate(std::clamp(within(centre.y, height_), r, height_ - r));
  const std::string size = coordinate(r);
  const Markup::Attributes attributes{{"class", style}, {"cx", cx}, {"cy", cy}, {"r", size}};
  if (tip.empty()) return markup_.empty("circle", attributes);
  markup_.open("circle", attributes);
  markup_.element("title", {}, tip);
  markup_.close();
}

void Drawing::append_path(std::string& path, const std::vector<Point>& points) const {
  for (std::size_t i = 0; i < points.size(); ++i) {
    path += i == 0 ? 'M' : i == 1 ? 'L' : ' ';
    path += x(points[i].x) + " " + y(points[i].y);
  }
}

void Drawing::lines(std::string_view style, const std::vector<std::vector<Point>>& lines) {
  std::string path;
  for (const auto& points : lines) {
    if (points.size() >= 2) append_path(path, points);
  }
  if (!path.empty()) markup_.empty("path", {{"class", style}, {"d", path}});
}

void Drawing::area(std::string_view style, const std::vector<Point>& outline) {
  if (outline.size() < 3) return;
  std::string path;
  append_path(path, outline);
  markup_.empty("path", {{"class", style}, {"d", path + "Z"}});
}

void Drawing::label(std::string_view style, Point at, Anchor anchor, std::string_view text) {
  markup_.element(
      "text",
      {{"class", style}, {"x", x(at.x)}, {"y", y(at.y)}, {"text-anchor", anchor_name(anchor)}},
      text);
}

void Drawing::fitted_label(std::string_view style, Point at, Anchor anchor, std::string_view text,
                           double width) {
  const auto limit = static_cast<std::size_t>(std::max(1.0, width / kCharacterWidth));
  if (character_count(text) <= limit) return label(style, at, anchor, text);
  markup_.open(
      "text",
      {{"class", style}, {"x", x(at.x)}, {"y", y(at.y)}, {"text-anchor", anchor_name(anchor)}});
  markup_.element("title", {}, text);
  markup_.text(shortened(text, limit));
  markup_.close();
}

std::string Drawing::take() { return markup_.take(); }

}  // namespace idletune::report
