// The kinds of pictures on the page, each from plain numbers. All of them return one <svg> element
// of Drawing::kWidth units; names may be any text.
#pragma once

#include <idletune/aims.hpp>

#include "agent/host/pictures/density.hpp"
#include "agent/host/pictures/drawing.hpp"
#include "agent/host/pictures/page.hpp"

namespace idletune::report {

// Shapes of distributions of relative performance, one row each.
struct Violin {
  std::string name;
  std::string note;            // a figure, on the right
  std::vector<double> values;  // in [0, 1], ascending; an empty one shows its names only
};
struct ViolinPlot {
  Caption caption;
  double threshold = kWellPerforming;  // relative performance that counts as good; marked
  std::vector<Violin> violins;
};
std::string draw(const ViolinPlot& plot);

// Values with their intervals on a common logarithmic axis, one row of values per name.
struct RangeRow {
  struct Value {
    double value = 0;  // not positive: left out
    double low = 0;    // ends of its interval; both equal to the value where it has none
    double high = 0;
    std::string tip;
  };
  std::string name;
  std::string note;
  std::vector<Value> values;
};
struct RangePlot {
  Caption caption;
  std::string axis;         // what the values are
  bool percentages = true;  // label the axis with per cents of 1
  std::vector<RangeRow> rows;
};
std::string draw(const RangePlot& plot);

// The same things measured twice, both in [0, 1].
struct ScatterPlot {
  Caption caption;
  std::string x_name;
  std::string y_name;
  double threshold = kWellPerforming;  // the square beyond it on both axes is marked
  std::vector<Point> points;           // up to kMostDiscs as discs, more as counts on a grid
  static constexpr std::size_t kMostDiscs = 400;
  static constexpr std::size_t kCells = 70;  // per side
  static constexpr int kShades = 6;          // of cells: 1, 2, 3-4, 5-8, 9-16, more points
};
std::string draw(const ScatterPlot& plot);

// Tukey's boxes of values in [0, 1], one row each; the values are drawn, too, where they are few.
struct BoxRow {
  struct Value {
    double value = 0;
    std::string tip;
  };
  std::string name;
  std::string note;
  std::vector<Value> values;
};
struct BoxPlot {
  Caption caption;
  std::string axis;
  std::vector<BoxRow> rows;
  static constexpr std::size_t kMostDiscs = 12;
};
std::string draw(const BoxPlot& plot);

// The best relative performance at every pair of values of two parameters, in shades.
struct HeatMap {
  static constexpr int kShades = 6;
  // From which value on a cell has the next shade.
  static constexpr double kEdges[kShades - 1] = {0.5, 0.7, 0.8, 0.9, 0.95};
  static constexpr std::size_t kMostCells = 32;  // per side
  Caption caption;
  std::string x_name;
  std::string y_name;
  std::vector<std::string> x_labels;  // one per column; at most kMostCells
  std::vector<std::string> y_labels;  // one per row, from below; likewise
  std::vector<double> cells;          // row after row; no number: nothing ran there
};
std::string draw(const HeatMap& plot);

// Curves over an axis that is logarithmic unless said otherwise.
struct Curve {
  int series = 1;  // 1 ... kSeries: its colour and dashes; the same everywhere on the page
  std::vector<Point> points;
  std::vector<Point> low;  // of a band around it, as many as points; empty: none
  std::vector<Point> high;
};
struct CurvePlot {
  static constexpr int kSeries = 7;
  struct Mark {
    double x = 0;
    std::string label;
  };
  Caption caption;
  std::string x_name;
  std::string y_name;
  bool linear_x = false;
  bool logarithmic_y = false;
  bool percentages = false;    // label the y axis with per cents of 1
  bool x_percentages = false;  // the x axis, too
  double level = 0;            // a marked value of y; 0: none
  double y_low = 0;            // of the axis; both 0: from the curves
  double y_high = 0;
  std::vector<Curve> curves;
  std::vector<Mark> marks;  // vertical lines
};
std::string draw(const CurvePlot& plot);

// An entry for each of what has a `series` and a `name`.
template <class Lines>
std::vector<Legend> legend_of(const Lines& lines) {
  std::vector<Legend> entries;
  for (const auto& line : lines)
    entries.push_back({"curve s" + std::to_string(line.series), false, line.name});
  return entries;
}

}  // namespace idletune::report
