#include "agent/host/pictures/page.hpp"

namespace idletune::report {
namespace {

// Colours are those of Okabe & Ito 2008, which people with any usual colour blindness tell
// apart; on dark paper lightened until text and lines stand out. Series differ in their dashes,
// too.
constexpr std::string_view kStyleSheet = R"css(
:root{color-scheme:light dark;
--paper:#fff;--shade:#f4f6f8;--ink:#1b1f24;--soft:#57606a;--rule:#e4e7eb;--axis:#8c959f;
--blue:#0072b2;--red:#d55e00;--green:#009e73;--pink:#b8528b;--gold:#b97f00;--sky:#2b8fc9;--link:#0060a0}
@media (prefers-color-scheme:dark){:root{
--paper:#121518;--shade:#1c2126;--ink:#e7eaed;--soft:#a3acb5;--rule:#2b3138;--axis:#78828c;
--blue:#4fa9e2;--red:#f2843c;--green:#2fc79b;--pink:#df9cc3;--gold:#e8b53a;--sky:#8fd0f5;--link:#7cc0f0}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main,header,footer{max-width:1180px;margin:0 auto;padding:0 12px}
header{padding-top:20px}
h1{font-size:28px;line-height:1.2;margin:0 0 8px}
h2{font-size:22px;line-height:1.25;margin:48px 0 8px;padding-top:16px;border-top:1px solid var(--rule)}
h3{font-size:16px;line-height:1.35;margin:28px 0 4px}
h4{font-size:14px;line-height:1.35;margin:0 0 6px;overflow-wrap:anywhere}
h4 span{font-weight:400;color:var(--soft)}
p{margin:0 0 12px;max-width:72ch;overflow-wrap:anywhere}
a{color:var(--link)}
.small,figcaption,caption,.remark{font-size:14px;color:var(--soft);max-width:84ch}
.remark{margin:4px 0 0;font-size:13px}
.totals{display:flex;flex-wrap:wrap;gap:8px 32px;margin:16px 0;padding:0;list-style:none}
.totals b{display:block;font-size:22px;line-height:1.2;font-variant-numeric:tabular-nums}
.totals span{font-size:14px;color:var(--soft)}
nav ol{display:flex;flex-wrap:wrap;gap:4px 20px;margin:0;padding:0;list-style:none;font-size:15px}
nav a{display:inline-block;padding:4px 0}
figure{margin:0 0 8px}
figcaption{margin-top:12px;overflow-wrap:anywhere}
.panels{display:grid;gap:28px 32px;margin-top:12px;align-items:start;
grid-template-columns:repeat(auto-fill,minmax(min(100%,320px),1fr))}
.panels div{min-width:0}
svg{display:block;width:100%;height:auto;max-width:460px}
.legend{display:flex;flex-wrap:wrap;gap:2px 20px;margin:8px 0 0;padding:0;list-style:none;font-size:14px}
.legend li{display:flex;align-items:center;gap:8px}
.legend svg{width:32px;flex:none}
.scroll{overflow-x:auto;margin:8px 0 4px;border:1px solid var(--rule);border-radius:6px}
table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums;min-width:100%}
caption{caption-side:bottom;text-align:left}
th,td{padding:5px 10px;text-align:left;vertical-align:top;border-top:1px solid var(--rule)}
thead th{border-top:0;background:var(--shade);font-weight:600;vertical-align:bottom}
tbody th{font-weight:400}
td,tbody th{white-space:nowrap}
td.wide,th.wide{white-space:normal;overflow-wrap:anywhere;min-width:12em}
.n{text-align:right}
details{margin:12px 0}
summary{cursor:pointer;font-size:15px;padding:6px 0}
footer{margin-top:48px;padding-top:12px;padding-bottom:32px;border-top:1px solid var(--rule)}
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:var(--ink)}
text.strong{font-weight:600}
text.tick,text.name,text.note{fill:var(--soft)}
path,line{fill:none}
.rule{stroke:var(--rule);stroke-width:1}
.axis{stroke:var(--axis);stroke-width:1}
.threshold{stroke:var(--red);stroke-width:1;stroke-dasharray:3 3}
.violin{fill:var(--blue);fill-opacity:.45}
.good{fill:var(--red)}
.quartiles{stroke:var(--ink);stroke-width:3}
.median{stroke:var(--ink);stroke-width:2}
.span{stroke:var(--rule);stroke-width:4}
.interval{stroke:var(--blue);stroke-width:2;stroke-opacity:.6}
.dot{fill:var(--blue);fill-opacity:.75;stroke:var(--paper);stroke-width:1}
.corner{fill:var(--red);fill-opacity:.14}
.point{fill:var(--blue);fill-opacity:.75}
.cells{stroke:var(--blue);stroke-width:4;shape-rendering:crispEdges}
.d1{stroke-opacity:.22}.d2{stroke-opacity:.36}.d3{stroke-opacity:.5}
.d4{stroke-opacity:.66}.d5{stroke-opacity:.83}
.heat{stroke:var(--blue);stroke-width:8;shape-rendering:crispEdges}.high{stroke-width:16}
.h1{stroke-opacity:.1}.h2{stroke-opacity:.26}.h3{stroke-opacity:.42}
.h4{stroke-opacity:.6}.h5{stroke-opacity:.8}.h6{stroke:var(--red)}
.whisker{stroke:var(--blue);stroke-width:1.5}
.box{fill:var(--blue);fill-opacity:.28;stroke:var(--blue);stroke-width:1}
.mark{stroke:var(--soft);stroke-width:1;stroke-dasharray:2 3}
.curve{stroke-width:2;stroke-linejoin:round}
.band{fill-opacity:.16}
.s1{stroke:var(--blue)}.s2{stroke:var(--red)}
.s3{stroke:var(--green);stroke-dasharray:7 3}.s4{stroke:var(--pink);stroke-dasharray:2 3}
.s5{stroke:var(--gold);stroke-dasharray:9 3 2 3}.s6{stroke:var(--sky);stroke-dasharray:5 5}
.s7{stroke:var(--ink);stroke-width:1.3}
.b1{fill:var(--blue)}.b2{fill:var(--red)}.b3{fill:var(--green)}.b4{fill:var(--pink)}
.b5{fill:var(--gold)}.b6{fill:var(--sky)}.b7{fill:var(--ink)}
@media (max-width:480px){header{padding-top:12px}h1{font-size:22px}header p{font-size:14px}.totals{gap:4px 24px;margin:8px 0}
th,td{padding:4px 6px}tbody th:not(.wide),td:not(.n):not(.wide){white-space:normal;overflow-wrap:anywhere;min-width:5em;max-width:7em}
td.wide,th.wide{min-width:9em}}
@media print{details{display:block}.panels{break-inside:auto}.panels div{break-inside:avoid}}
)css";

// Numbers the figures and tables in their order.
struct Numbers {
  int figure = 0;
  int table = 0;
};

// All items as markup, one after the other.
template <class Items, class Make>
std::string each(const Items& items, const Make& make) {
  std::string text;
  for (const auto& item : items) text += make(item);
  return text;
}

// An element that holds text.
std::string said(std::string_view name, Attributes attributes, std::string_view text) {
  return element(name, attributes, escaped(text));
}

std::string markup_of(const Paragraph& paragraph, Numbers&) {
  return said("p", {{"class", paragraph.small ? "small" : "lead"}}, paragraph.text);
}

std::string markup_of(const Legend& entry) {
  const char* const shape = entry.area ? "M1 1L31 1 31 11 1 11Z" : "M1 6L31 6";
  return element("li", {},
                 element("svg", {{"viewBox", "0 0 32 12"}, {"aria-hidden", "true"}},
                         element("path", {{"class", entry.style}, {"d", shape}})) +
                     said("span", {}, entry.text));
}

std::string markup_of(const Figure::Panel& panel) {
  std::string heading = escaped(panel.heading);
  if (!panel.subheading.empty()) heading += element("br", {}) + said("span", {}, panel.subheading);
  if (!heading.empty()) heading = element("h4", {}, heading);
  const auto& remark = panel.remark;
  return "\n" + element("div", {},
                        heading + panel.svg +
                            (remark.empty() ? "" : said("p", {{"class", "remark"}}, remark)));
}

std::string markup_of(const Figure& figure, Numbers& numbers) {
  const std::string number = std::to_string(++numbers.figure);
  const auto legend = each(figure.legend, [](const Legend& entry) { return markup_of(entry); });
  const auto panels =
      each(figure.panels, [](const Figure::Panel& panel) { return markup_of(panel); });
  return said("h3", {{"id", "figure-" + number}}, "Figure " + number + ". " + figure.title) +
         element("figure", {{"aria-labelledby", "figure-" + number}},
                 (legend.empty() ? "" : element("ul", {{"class", "legend"}}, legend)) +
                     element("div", {{"class", "panels"}}, panels) +
                     said("figcaption", {}, figure.caption));
}

bool is_number(const std::string& column) { return column.rfind('>', 0) == 0; }

std::string row_of(const Table& table, const std::vector<std::string>& cells) {
  // Longer cells may break their lines; numbers and names never do.
  constexpr std::size_t kWide = 24;
  std::string row;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string cell = i < cells.size() ? cells[i] : "";
    const bool number = i > 0 && is_number(table.columns[i]);
    const char* const style = number ? "n" : character_count(cell) > kWide ? "wide" : "t";
    row += i == 0 ? said("th", {{"scope", "row"}, {"class", style}}, cell)
                  : said("td", {{"class", style}}, cell);
  }
  return "\n" + element("tr", {}, row);
}

std::string markup_of(const Table& table, Numbers& numbers) {
  const std::string number = std::to_string(++numbers.table);
  const std::string id = "table-" + number;
  const auto titles = each(table.columns, [](const std::string& column) {
    const bool right = is_number(column);
    return said("th", {{"scope", "col"}, {"class", right ? "n" : "t"}},
                column.substr(right ? 1 : 0));
  });
  const auto rows = each(table.rows, [&](const auto& cells) { return row_of(table, cells); });
  const std::string title =
      said(table.folded ? "summary" : "h3", {{"id", id}}, "Table " + number + ". " + table.title);
  const std::string all =
      title +
      element(
          "div",
          {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-labelledby", id}},
          element("table", {},
                  element("thead", {}, element("tr", {}, titles)) + element("tbody", {}, rows))) +
      (table.caption.empty() ? "" : said("p", {{"class", "small"}}, table.caption));
  return table.folded ? element("details", {}, all) : all;
}

std::string head_of(const Page& page) {
  const std::string seconds = std::to_string(page.renew_seconds);
  return element("head", {},
                 element("meta", {{"charset", "utf-8"}}) +
                     element("meta", {{"name", "viewport"},
                                      {"content", "width=device-width, initial-scale=1"}}) +
                     (page.renew_seconds == 0
                          ? ""
                          : element("meta", {{"http-equiv", "refresh"}, {"content", seconds}})) +
                     said("title", {}, page.title) + element("style", {}, kStyleSheet));
}

std::string header_of(const Page& page) {
  const auto totals = each(page.totals, [](const auto& total) {
    return element("li", {}, said("b", {}, total.first) + said("span", {}, total.second));
  });
  const auto links = each(page.sections, [](const Section& section) {
    return element("li", {}, said("a", {{"href", "#" + section.id}}, section.title));
  });
  return element("header", {},
                 said("h1", {}, page.title) + element("ul", {{"class", "totals"}}, totals) +
                     said("p", {}, page.lead) +
                     element("nav", {{"aria-label", "Contents"}}, element("ol", {}, links)));
}

json counts_of(const RowPlot& plot) {
  std::size_t values = 0;
  for (const RowPlot::Row& row : plot.rows) {
    for (const RowPlot::Value& value : row.values)
      values += plot.kind != RowPlot::dots || value.value > 0 ? 1 : 0;
  }
  if (plot.kind == RowPlot::dots) return {{"dots", values}};
  if (plot.kind == RowPlot::violins) return {{"violins", plot.rows.size()}};
  return {{"boxes", plot.rows.size()}, {"values", values}};
}
json counts_of(const ScatterPlot& plot) { return {{"points", plot.points.size()}}; }
json counts_of(const HeatMap&) { return {{"maps", 1u}}; }
json counts_of(const CurvePlot& plot) { return {{"curves", plot.curves.size()}}; }

}  // namespace

std::vector<Legend> legend_of_shades(double times, const std::string& unit) {
  const auto edge = [&](int i) { return axis_text(times * HeatMap::kEdges[i]); };
  std::vector<Legend> legend;
  for (int i = 0; i < HeatMap::kShades; ++i) {
    const std::string range = i == 0                      ? "under " + edge(0)
                              : i == HeatMap::kShades - 1 ? edge(i - 1) + " and more"
                                                          : edge(i - 1) + " to " + edge(i);
    legend.push_back({"heat h" + std::to_string(i + 1), false, range + unit});
  }
  return legend;
}

void Figure::add(const Plot& plot, const std::string& heading, const std::string& subheading,
                 const std::string& remark, const std::string& description) {
  const std::string where = heading + (subheading.empty() ? "" : " " + subheading);
  const Caption words{id + "-" + std::to_string(panels.size() + 1),
                      where.empty() ? title : where + ": " + title,
                      description + (description.empty() || remark.empty() ? "" : " ") + remark};
  std::visit(
      [&](const auto& one) {
        panels.push_back({heading, subheading, draw(words, one), remark});
        const json more = counts_of(one);
        for (const auto& [what, count] : more.items())
          counts[what] = counts.value(what, std::size_t{0}) + count.template get<std::size_t>();
      },
      plot);
}

std::string html_of(const Page& page) {
  Numbers numbers;
  const auto sections = each(page.sections, [&](const Section& section) {
    const auto parts = each(section.parts, [&](const auto& part) {
      return std::visit([&](const auto& one) { return markup_of(one, numbers) + "\n"; }, part);
    });
    return "\n" + element("section", {{"aria-labelledby", section.id}},
                          said("h2", {{"id", section.id}}, section.title) + "\n" + parts);
  });
  const std::string footer =
      said("p", {{"class", "small"}},
           "Made by idletune " IDLETUNE_VERSION ". This page needs nothing but itself.");
  return "<!DOCTYPE html>\n" +
         element("html", {{"lang", "en"}},
                 "\n" + head_of(page) + "\n" +
                     element("body", {},
                             "\n" + header_of(page) + "\n" + element("main", {}, sections) + "\n" +
                                 element("footer", {}, footer))) +
         "\n";
}

json contents_of(const Page& page) {
  json sections = json::array();
  Numbers numbers;
  for (const Section& section : page.sections) {
    json figures = json::array();
    json tables = json::array();
    for (const auto& part : section.parts) {
      if (const auto* figure = std::get_if<Figure>(&part)) {
        json panels = json::array();
        for (const Figure::Panel& panel : figure->panels) {
          const std::string name = panel.heading.empty() ? figure->title : panel.heading;
          panels.push_back(name + (panel.subheading.empty() ? "" : " " + panel.subheading));
        }
        figures.push_back({{"number", ++numbers.figure},
                           {"title", figure->title},
                           {"panels", panels},
                           {"counts", figure->counts}});
      } else if (const auto* table = std::get_if<Table>(&part)) {
        tables.push_back(
            {{"number", ++numbers.table}, {"title", table->title}, {"rows", table->rows.size()}});
      }
    }
    sections.push_back(
        {{"id", section.id}, {"title", section.title}, {"figures", figures}, {"tables", tables}});
  }
  return {{"title", page.title}, {"sections", sections}};
}

}  // namespace idletune::report
