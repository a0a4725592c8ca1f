// One SVG picture. It scales to the width it is given; at kWidth pixels its text is 12 px high.
#pragma once

#include <limits>
#include <vector>

#include "agent/host/pictures/markup.hpp"

namespace idletune::report {

struct Point {
  double x = 0;
  double y = 0;
};

// What every picture has: an id that is unique on its page, and words for those who cannot see it.
struct Caption {
  std::string id;
  std::string title;
  std::string description;  // empty: the title
};

enum class Anchor { start, middle, end };

class Drawing {
 public:
  // A phone of 360 px shows pictures at this width.
  static constexpr double kWidth = 336;
  // What a character of text takes at most in the fonts that are asked for, nearly always.
  static constexpr double kCharacterWidth = 6.9;
  // The same for figures and per cent signs, which are wider.
  static constexpr double kDigitWidth = 7.8;

  Drawing(const Caption& caption, double height) : caption_(caption), height_(height) {}

  // Coordinates outside the picture are moved onto its edge, and those that are no numbers to 0.
  // `style` is a list of classes of the page's style sheet.
  void line(std::string_view style, Point from, Point to);
  void rectangle(std::string_view style, Point corner, double width, double height);
  void disc(std::string_view style, Point centre, double radius, std::string_view tip = {});
  // Open lines through the points; several share one style and element. Lines of fewer than two
  // points are left out.
  void lines(std::string_view style, const std::vector<std::vector<Point>>& lines);
  void area(std::string_view style, const std::vector<Point>& outline);
  // Cut to the width it may take; then the whole text appears where one points at it.
  void label(std::string_view style, Point at, Anchor anchor, std::string_view text,
             double width = std::numeric_limits<double>::infinity());

  std::string markup() const;

 private:
  std::string x(double value) const;
  std::string y(double value) const;
  std::string path(const std::vector<Point>& points) const;
  Caption caption_;
  double height_;
  std::string content_;
};

}  // namespace idletune::report
