// The kinds of pictures on the page, each from plain numbers. All of them return one <svg> element
// of Drawing::kWidth units; names may be any text.
#pragma once

#include <idletune/aims.hpp>

#include "agent/host/pictures/density.hpp"
#include "agent/host/pictures/scale.hpp"

namespace idletune::report {

// Rows of values on a common axis of shares, one below the other.
struct RowPlot {
  enum Kind {
    violins,  // densities of relative performance, of which that from `threshold` on is good
    boxes,    // Tukey's; the values are drawn, too, where they are few
    dots      // with their intervals on a logarithmic axis
  };
  struct Value {
    double value = 0;  // in [0, 1]; of dots 0 is left out
    std::string tip = {};
    double low = 0;  // ends of its interval; both equal to the value where it has none
    double high = 0;
  };
  struct Row {
    std::string name;
    std::string note = {};           // a figure, on the right
    std::vector<Value> values = {};  // none: names only
    // Of its values, at least one.
    double quantile(double u) const;
  };
  static constexpr std::size_t kMostDiscs = 12;
  Kind kind = boxes;
  std::string axis = {};
  std::vector<Row> rows = {};
  double threshold = kWellPerforming;

  // The one of the greatest median first.
  void sort_by_median();
};
// The description begins with what stands in the rows.
std::string draw(Caption caption, const RowPlot& plot);

// The same things measured twice, both in [0, 1].
struct ScatterPlot {
  std::string x_name;
  std::string y_name;
  std::vector<Point> points;           // up to kMostDiscs as discs, more as counts on a grid
  double threshold = kWellPerforming;  // the square beyond it on both axes is marked
  static constexpr std::size_t kMostDiscs = 400;
  static constexpr std::size_t kCells = 70;  // per side
  static constexpr int kShades = 6;          // of cells: 1, 2, 3-4, 5-8, 9-16, more points
};
std::string draw(const Caption& caption, const ScatterPlot& plot);

// Relative performance at every pair of values of two parameters, in shades.
struct HeatMap {
  static constexpr int kShades = 6;
  // From which value on a cell has the next shade.
  static constexpr double kEdges[kShades - 1] = {0.5, 0.7, 0.8, 0.9, 0.95};
  static constexpr std::size_t kMostCells = 32;  // per side
  std::string x_name;
  std::string y_name;
  std::vector<std::string> x_labels = {};  // one per column; at most kMostCells
  std::vector<std::string> y_labels = {};  // one per row, from below; likewise
  std::vector<double> cells = {};          // row after row; no number: nothing ran there
};
std::string draw(const Caption& caption, const HeatMap& plot);

struct Curve {
  int series = 1;  // 1 ... 7: its colour and dashes; the same everywhere on the page
  std::vector<Point> points = {};
  std::vector<Point> low = {};  // of a band around it, as many as points; empty: none
  std::vector<Point> high = {};

  void add(double x, double y) { points.push_back({x, y}); }
  void add_band(double x, double from, double to) {
    low.push_back({x, from});
    high.push_back({x, to});
  }
};
struct CurvePlot {
  struct Mark {
    double x = 0;
    std::string label;
  };
  Axis x = {};
  Axis y = {};
  std::vector<Curve> curves = {};
  double level = 0;              // a marked value of y; 0: none
  std::vector<Mark> marks = {};  // vertical lines
};
std::string draw(const Caption& caption, const CurvePlot& plot);

}  // namespace idletune::report
