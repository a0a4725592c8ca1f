#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include <tinyxml2.h>

#include "agent/host/pictures/page.hpp"
#include "agent/host/pictures/plots.hpp"
#include "models/core/random.hpp"

using namespace idletune;
using namespace idletune::report;

namespace {

const char* const kHostile =
    "<b>\"&'</svg><script>x</script>\xff\x01 and a name that is much too long for its place";

struct Parsed {
  tinyxml2::XMLDocument document;
  const tinyxml2::XMLElement* svg = nullptr;
  double height = 0;

  explicit Parsed(const std::string& text) {
    REQUIRE(document.Parse(text.c_str()) == tinyxml2::XML_SUCCESS);
    svg = document.RootElement();
    REQUIRE(std::string(svg->Name()) == "svg");
    std::istringstream box(svg->Attribute("viewBox"));
    double x = -1, y = -1, width = 0;
    box >> x >> y >> width >> height;
    CHECK(x == 0);
    CHECK(y == 0);
    CHECK(width == Drawing::kWidth);
  }
  std::vector<const tinyxml2::XMLElement*> all(const char* name,
                                               const char* style = nullptr) const {
    std::vector<const tinyxml2::XMLElement*> found;
    for (const auto* e = svg->FirstChildElement(name); e != nullptr;
         e = e->NextSiblingElement(name)) {
      if (style == nullptr || std::string(e->Attribute("class")) == style) found.push_back(e);
    }
    return found;
  }
};

// Every point of a path as written here: absolute M and L.
std::vector<Point> points_of(const tinyxml2::XMLElement* path) {
  std::string text = path->Attribute("d");
  for (char& c : text) {
    if (std::strchr("MLZ", c) != nullptr) c = ' ';
  }
  std::istringstream stream(text);
  std::vector<Point> points;
  Point point;
  while (stream >> point.x >> point.y) points.push_back(point);
  return points;
}

void check_within(const Parsed& picture) {
  for (const auto* path : picture.all("path")) {
    for (const Point& point : points_of(path)) {
      CHECK(point.x >= 0);
      CHECK(point.x <= Drawing::kWidth);
      CHECK(point.y >= 0);
      CHECK(point.y <= picture.height);
    }
  }
}

}  // namespace

TEST_CASE("coordinates that are no numbers or outside stay in the picture") {
  Drawing drawing({"a", "t", "d"}, 100);
  drawing.line("x", {std::nan(""), -5}, {1e30, std::numeric_limits<double>::infinity()});
  drawing.disc("x", {400, 400}, 3);
  drawing.rectangle("x", {-10, 90}, 1000, 50);
  const Parsed picture(drawing.markup());
  const auto* line = picture.all("line")[0];
  CHECK(line->DoubleAttribute("x1") == 0);
  CHECK(line->DoubleAttribute("y1") == 0);
  CHECK(line->DoubleAttribute("x2") == Drawing::kWidth);
  CHECK(line->DoubleAttribute("y2") == 0);
  CHECK(picture.all("circle")[0]->DoubleAttribute("cx") == Drawing::kWidth - 3);
  const auto* rectangle = picture.all("rect")[0];
  CHECK(rectangle->DoubleAttribute("x") == 0);
  CHECK(rectangle->DoubleAttribute("width") == Drawing::kWidth);
  CHECK(rectangle->DoubleAttribute("height") == 10);
}

TEST_CASE("a picture has a title, a description and its id") {
  Drawing drawing({"violin-1", "a < b", "c & d"}, 50);
  const Parsed picture(drawing.markup());
  CHECK(std::string(picture.svg->Attribute("id")) == "violin-1");
  CHECK(std::string(picture.svg->FirstChildElement("title")->GetText()) == "a < b");
  CHECK(std::string(picture.svg->FirstChildElement("desc")->GetText()) == "c & d");
}

TEST_CASE("a violin is widest where most values are, and marks its median") {
  RowPlot plot;
  plot.kind = RowPlot::violins;
  RowPlot::Row violin{kHostile};
  for (int i = -50; i <= 50; ++i) violin.values.push_back({0.5 + 0.1 * std::pow(i / 50.0, 3), ""});
  plot.rows = {violin, {"empty", "nothing ran", {}}};
  const Parsed picture(draw({"v", "t", "d"}, plot));
  check_within(picture);
  REQUIRE(picture.all("path", "violin").size() == 1);
  Point top{0, 1e9};
  for (const Point& point : points_of(picture.all("path", "violin")[0])) {
    if (point.y < top.y) top = point;
  }
  CHECK(top.x == doctest::Approx(20 + 0.5 * 296).epsilon(0.02));
  CHECK(picture.all("line", "median")[0]->DoubleAttribute("x1") ==
        doctest::Approx(168).epsilon(0.001));
  CHECK(picture.all("line", "quartiles")[0]->DoubleAttribute("x1") ==
        doctest::Approx(20 + 0.4875 * 296).epsilon(0.001));
  CHECK(picture.all("line", "quartiles")[0]->DoubleAttribute("x2") ==
        doctest::Approx(20 + 0.5125 * 296).epsilon(0.001));
}

TEST_CASE("a box is drawn from quartile to quartile") {
  RowPlot plot;
  RowPlot::Row row{kHostile, "kind", {}};
  for (const double value : {0.0, 0.25, 0.5, 0.75, 1.0}) row.values.push_back({value, kHostile});
  plot.rows = {row};
  const Parsed picture(draw({"b", "t", "d"}, plot));
  check_within(picture);
  const auto* box = picture.all("rect", "box")[0];
  CHECK(box->DoubleAttribute("x") == doctest::Approx(20 + 0.25 * 296));
  CHECK(box->DoubleAttribute("width") == doctest::Approx(148));
  CHECK(picture.all("circle").size() == 5);
}

TEST_CASE("of many points beyond a whisker the farthest are drawn, the best one among them") {
  for (const int beyond : {1, 5, 12, 13, 25, 40, 41}) {
    CAPTURE(beyond);
    RowPlot::Row row{"values"};
    for (int i = 0; i < 400; ++i) row.values.push_back({0.2 + 0.0001 * i, ""});
    for (int i = 0; i < beyond; ++i) row.values.push_back({1 - 0.005 * i, ""});
    RowPlot plot;
    plot.rows.push_back(std::move(row));
    const Parsed picture(draw({"b", "t", "d"}, plot));
    double farthest = 0;
    for (const auto* disc : picture.all("circle", "point"))
      farthest = std::max(farthest, disc->DoubleAttribute("cx"));
    CHECK(farthest == doctest::Approx(20 + 296));
    CHECK(picture.all("circle", "point").size() <= RowPlot::kMostDiscs);
  }
}

TEST_CASE("a label of a vertical axis is never cut") {
  CurvePlot plot{{"", Axis::logarithmic}, {"", Axis::logarithmic}};
  plot.curves.push_back({1, {{1, 1e-9}, {10, 1}, {100, 123456}}, {}, {}});
  check_within(Parsed(draw({"c", "t", "d"}, plot)));
}

TEST_CASE("a small scatter has its points, a large one cells of the same weight") {
  const Caption caption{"s", "t", "d"};
  ScatterPlot plot;
  plot.x_name = plot.y_name = kHostile;
  plot.points = {{0, 0}, {1, 1}, {0.5, 0.25}};
  const Parsed small(draw(caption, plot));
  REQUIRE(small.all("circle", "point").size() == 3);
  CHECK(small.all("circle", "point")[2]->DoubleAttribute("cx") == doctest::Approx(44 + 140));
  CHECK(small.all("circle", "point")[2]->DoubleAttribute("cy") == doctest::Approx(306 - 70));
  Random random(3);
  for (int i = 0; i < 20000; ++i) plot.points.push_back({random.uniform(), random.uniform()});
  const std::string text = draw(caption, plot);
  const Parsed large(text);
  check_within(large);
  CHECK(large.all("circle").empty());
  CHECK(text.size() < 120000);
}

TEST_CASE("curves are cut where they leave the axis") {
  CurvePlot plot{{"", Axis::logarithmic}, {"", Axis::linear, 1, 2}};
  Curve curve;
  curve.series = 2;
  curve.points = {{1, 0}, {10, 4}, {100, 1.5}, {1000, 1.5}};
  plot.curves = {curve};
  plot.marks = {{30, kHostile}};
  const Parsed picture(draw({"c", "t", "d"}, plot));
  check_within(picture);
  const std::vector<Point> points = points_of(picture.all("path", "curve s2")[0]);
  // Up through the frame in the first step, back into it in the second.
  REQUIRE(points.size() == 5);
  CHECK(points[0].y == doctest::Approx(238));
  CHECK(points[1].y == doctest::Approx(28));
  CHECK(points[2].y == doctest::Approx(28));
  CHECK(points[3].y == doctest::Approx(133));
  CHECK(points[4].x == doctest::Approx(318));
}

TEST_CASE("twenty letters beside a mark are told in full, wherever it stands") {
  CurvePlot plot{{"", Axis::logarithmic}, {"", Axis::linear, 1, 2}};
  plot.curves.resize(1);
  plot.curves[0].points = {{1, 1}, {1000, 2}};
  for (double x = 1; x <= 1000; x *= 1.1) {
    plot.marks = {{x, "nineteen letters, 20"}};
    const Parsed picture(draw({"c", "t", "d"}, plot));
    check_within(picture);
    CHECK(picture.all("text", "note")[0]->GetText() == plot.marks[0].label);
  }
}

TEST_CASE("curves of nothing and of what is no number still give a picture") {
  const Caption caption{"c", "t", "d"};
  CurvePlot plot{{"", Axis::logarithmic}, {}};
  check_within(Parsed(draw(caption, plot)));
  Curve curve;
  curve.points = {
      {std::nan(""), 1}, {1, std::nan("")}, {0, -1}, {std::numeric_limits<double>::infinity(), 3}};
  plot.curves = {curve};
  check_within(Parsed(draw(caption, plot)));
  plot.y.kind = Axis::logarithmic;
  check_within(Parsed(draw(caption, plot)));
}

TEST_CASE("a curve of one point is a dot") {
  CurvePlot plot{{"", Axis::logarithmic}, {}};
  Curve curve;
  curve.series = 2;
  curve.points = {{1, 2}};
  plot.curves = {curve};
  const Parsed picture(draw({"c", "t", "d"}, plot));
  check_within(picture);
  CHECK(picture.all("path", "curve s2").size() == 1);
}

TEST_CASE("fractions lie on a logarithmic axis, and zero is left out") {
  RowPlot plot;
  plot.kind = RowPlot::dots;
  plot.rows.push_back(
      {kHostile, "", {{0.001, "a", 0.0005, 0.002}, {0.1, "b", 0.1, 0.1}, {0, "c"}}});
  const Parsed picture(draw({"r", "t", "d"}, plot));
  check_within(picture);
  CHECK(picture.all("circle", "dot").size() == 2);
  CHECK(picture.all("line", "interval").size() == 1);
}

TEST_CASE("a page numbers its figures and tables and escapes whatever it is given") {
  Page page;
  page.title = kHostile;
  page.lead = kHostile;
  page.totals = {{"1", kHostile}};
  Figure figure("one", kHostile, {{"curve s1", false, kHostile}});
  figure.caption = kHostile;
  figure.add(ScatterPlot{"x", "y", std::vector<Point>(3, {0.5, 0.5})}, kHostile, kHostile,
             kHostile);
  figure.add(ScatterPlot{"x", "y", std::vector<Point>(4, {0.5, 0.5})}, kHostile, kHostile,
             kHostile);
  Table table(kHostile, {kHostile, ">n"});
  table.rows = {{kHostile, "1"}, {"short row"}};
  Table folded = table;
  folded.folded = true;
  page.sections = {{"first", kHostile, {Paragraph{kHostile, false}, figure, table}},
                   {"second", "Second", {folded, figure}}};
  tinyxml2::XMLDocument document;
  const std::string html = html_of(page);
  REQUIRE(document.Parse(html.c_str()) == tinyxml2::XML_SUCCESS);
  CHECK(html.find("<script") == std::string::npos);
  CHECK(html.find("id=\"figure-2\"") != std::string::npos);
  CHECK(html.find("id=\"table-2\"") != std::string::npos);
  CHECK(html.find("id=\"one-2\"") != std::string::npos);
  const nlohmann::json contents = contents_of(page);
  CHECK(contents["sections"][0]["figures"][0]["number"] == 1);
  CHECK(contents["sections"][0]["figures"][0]["counts"]["points"] == 7);
  CHECK(contents["sections"][1]["figures"][0]["number"] == 2);
  CHECK(contents["sections"][1]["tables"][0]["rows"] == 2);
}

TEST_CASE(
    "cells of a heat map that touch and have the same shade are one line; nothing ran, no cell") {
  HeatMap map;
  map.x_name = "BLOCK_X";
  map.y_name = kHostile;
  map.x_labels = {"1", "2", "4"};
  map.y_labels = {"1", "2"};
  map.cells = {0.2, 0.3, 1.0, NAN, 0.96, 0.85};
  const Parsed picture(draw({"h", "t", "d"}, map));
  check_within(picture);
  CHECK(points_of(picture.all("path", "heat high h1")[0]).size() == 2);
  CHECK(points_of(picture.all("path", "heat high h4")[0]).size() == 2);
  CHECK(points_of(picture.all("path", "heat high h6")[0]).size() == 4);
  CHECK(picture.all("path").size() == 3);
}
