// The page as a list of sections with text, figures and tables, and what becomes of it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

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

// One or more pictures under one number and caption.
struct Figure {
  explicit Figure(std::string titled = {}, std::vector<Legend> explained = {})
      : title(std::move(titled)), legend(std::move(explained)) {}
  struct Panel {
    std::string heading;
    std::string subheading;  // a second line; all panels of a figure have one, or none has
    std::string svg;         // as plots.hpp returns it
    std::string remark;      // under the picture; may be empty
  };
  std::string title;
  std::vector<Legend> legend;
  std::string caption;  // what was computed, from how many, with which thresholds and seeds
  std::vector<Panel> panels;
  // How much of what it shows, for --json only.
  std::vector<std::pair<std::string, std::variant<std::uint64_t, double>>> counts;
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
  std::vector<std::variant<Paragraph, Figure, Table>> parts;
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
