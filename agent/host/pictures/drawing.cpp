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

double within(double value, double limit) {
  return std::isfinite(value) ? std::clamp(value, 0.0, limit) : 0;
}

}  // namespace

std::string Drawing::x(double value) const { return coordinate(within(value, kWidth)); }
std::string Drawing::y(double value) const { return coordinate(within(value, height_)); }

void Drawing::line(std::string_view style, Point from, Point to) {
  content_ += element(
      "line",
      {{"class", style}, {"x1", x(from.x)}, {"y1", y(from.y)}, {"x2", x(to.x)}, {"y2", y(to.y)}});
}

void Drawing::rectangle(std::string_view style, Point corner, double width, double height) {
  const double left = within(corner.x, kWidth);
  const double top = within(corner.y, height_);
  const double right = std::max(left, within(corner.x + width, kWidth));
  const double bottom = std::max(top, within(corner.y + height, height_));
  content_ += element("rect", {{"class", style},
                               {"x", coordinate(left)},
                               {"y", coordinate(top)},
                               {"width", coordinate(right - left)},
                               {"height", coordinate(bottom - top)}});
}

void Drawing::disc(std::string_view style, Point centre, double radius, std::string_view tip) {
  const double r = std::min(radius, std::min(kWidth, height_) / 2);
  const std::string cx = coordinate(std::clamp(within(centre.x, kWidth), r, kWidth - r));
  const std::string cy = coordinate(std::clamp(within(centre.y, height_), r, height_ - r));
  const std::string size = coordinate(r);
  const Attributes attributes{{"class", style}, {"cx", cx}, {"cy", cy}, {"r", size}};
  content_ += tip.empty() ? element("circle", attributes)
                          : element("circle", attributes, element("title", {}, escaped(tip)));
}

std::string Drawing::path(const std::vector<Point>& points) const {
  std::string path;
  for (const Point& point : points) {
    path += path.empty() ? 'M' : &point == &points[1] ? 'L' : ' ';
    path += x(point.x) + " " + y(point.y);
  }
  return path;
}

void Drawing::lines(std::string_view style, const std::vector<std::vector<Point>>& lines) {
  std::string all;
  for (const auto& points : lines) all += path(points) + (points.size() == 1 ? "h0" : "");
  if (!all.empty())  // one point alone is a dot
    content_ += element("path", {{"class", style}, {"d", all}, {"stroke-linecap", "round"}});
}

void Drawing::area(std::string_view style, const std::vector<Point>& outline) {
  if (outline.size() >= 3)
    content_ += element("path", {{"class", style}, {"d", path(outline) + "Z"}});
}

void Drawing::label(std::string_view style, Point at, Anchor anchor, std::string_view text,
                    double width) {
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  const double room = std::clamp(width / kCharacterWidth, 1.0, 1e9);
  const std::string shown = shortened(text, static_cast<std::size_t>(room));
  content_ += element("text",
                      {{"class", style},
                       {"x", x(at.x)},
                       {"y", y(at.y)},
                       {"text-anchor", kAnchors[static_cast<int>(anchor)]}},
                      (shown == text ? "" : element("title", {}, escaped(text))) + escaped(shown));
}

std::string Drawing::markup() const {
  const auto& [id, title, description] = caption_;
  return element("svg",
                 {{"id", id},
                  {"viewBox", "0 0 " + coordinate(kWidth) + " " + coordinate(height_)},
                  {"role", "img"},
                  {"aria-labelledby", id + "-title"},
                  {"aria-describedby", id + "-desc"}},
                 element("title", {{"id", id + "-title"}}, escaped(title)) +
                     element("desc", {{"id", id + "-desc"}},
                             escaped(description.empty() ? title : description)) +
                     content_);
}

}  // namespace idletune::report
