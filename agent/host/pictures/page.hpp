// The page as a list of sections with text, figures and tables, and what becomes of it.
#pragma once

#include <variant>

#include <nlohmann/json.hpp>

#include "agent/host/pictures/plots.hpp"

namespace idletune::report {

using nlohmann::json;

// A sentence or more. `small` ones are remarks.
struct Paragraph {
  std::string text;
  bool small = false;
};

struct Legend {
  std::string style;  // classes of the little sample line or area
  bool area = false;
  std::string text;
};
// An entry for each of what has a `series` and a `name`.
template <class Lines>
std::vector<Legend> legend_of(const Lines& lines) {
  std::vector<Legend> entries;
  for (const auto& line : lines)
    entries.push_back({"curve s" + std::to_string(line.series), false, line.name});
  return entries;
}
// Of the shades of a heat map: "under 50 %", "50 to 70 %", ... for 100 and " %".
std::vector<Legend> legend_of_shades(double times, const std::string& unit);

// One or more pictures under one number and caption.
struct Figure {
  using Plot = std::variant<RowPlot, ScatterPlot, HeatMap, CurvePlot>;
  Figure(std::string named, std::string titled, std::vector<Legend> explained = {})
      : id(std::move(named)), title(std::move(titled)), legend(std::move(explained)) {}
  // Draws another one. The remark stands under it; with the description it is for those, too, who
  // cannot see the picture. All panels of a figure have a second line of heading, or none has.
  void add(const Plot& plot, const std::string& heading = {}, const std::string& subheading = {},
           const std::string& remark = {}, const std::string& description = {});

  struct Panel {
    std::string heading;
    std::string subheading;
    std::string svg;
    std::string remark;
  };
  std::string id;  // of its pictures, with their numbers; unique
  std::string title;
  std::vector<Legend> legend;
  std::string caption;  // what was computed, from how many, with which thresholds and seeds
  std::vector<Panel> panels;
  json counts = json::object();  // how much of what it shows, for --json only
};

struct Table {
  explicit Table(std::string titled, std::vector<std::string> titles, bool is_folded = false)
      : title(std::move(titled)), columns(std::move(titles)), folded(is_folded) {}
  std::string title;
  std::vector<std::string> columns;  // titles, behind ">" those of numbers
  bool folded;                       // shown when asked for
  std::string caption;
  std::vector<std::vector<std::string>> rows;
};

struct Section {
  std::string id;  // a word; unique
  std::string title;
  std::vector<std::variant<Paragraph, Figure, Table>> parts = {};
};

struct Page {
  std::string title;
  std::string lead;
  std::vector<std::pair<std::string, std::string>> totals;  // figure, what it counts
  std::vector<Section> sections;
  unsigned renew_seconds = 0;  // the browser reads the page again so often; 0: never
};

// One document without any outside resource or script: HTML5 that is also well-formed XML. Figures
// and tables are numbered in their order.
std::string html_of(const Page& page);

// {title, sections[]: {id, title, figures[]: {number, title, panels[], counts}, tables[]: {number,
// title, rows}}}.
json contents_of(const Page& page);

}  // namespace idletune::report
