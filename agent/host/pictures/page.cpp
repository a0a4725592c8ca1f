#include "agent/host/pictures/page.hpp"

#include "agent/host/pictures/markup.hpp"

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

void write_legend(Markup& html, const std::vector<Legend>& legend) {
  if (legend.empty()) return;
  html.open("ul", {{"class", "legend"}});
  for (const Legend& entry : legend) {
    html.open("li");
    html.open("svg", {{"viewBox", "0 0 32 12"}, {"aria-hidden", "true"}});
    html.empty("path",
               {{"class", entry.style}, {"d", entry.area ? "M1 1L31 1 31 11 1 11Z" : "M1 6L31 6"}});
    html.close();
    html.element("span", {}, entry.text);
    html.close();
  }
  html.close();
}

void write(Markup& html, const Paragraph& paragraph, Numbers&) {
  html.element("p", {{"class", paragraph.small ? "small" : "lead"}}, paragraph.text);
  html.line_break();
}

void write_heading(Markup& html, const Figure::Panel& panel) {
  if (panel.heading.empty()) return;
  html.open("h4");
  html.text(panel.heading);
  if (!panel.subheading.empty()) {
    html.empty("br");
    html.element("span", {}, panel.subheading);
  }
  html.close();
}

void write(Markup& html, const Figure& figure, Numbers& numbers) {
  const std::string number = std::to_string(++numbers.figure);
  html.element("h3", {{"id", "figure-" + number}}, "Figure " + number + ". " + figure.title);
  html.open("figure", {{"aria-labelledby", "figure-" + number}});
  write_legend(html, figure.legend);
  html.open("div", {{"class", "panels"}});
  for (const Figure::Panel& panel : figure.panels) {
    html.line_break();
    html.open("div");
    write_heading(html, panel);
    html.finished(panel.svg);
    if (!panel.remark.empty()) html.element("p", {{"class", "remark"}}, panel.remark);
    html.close();
  }
  html.close();
  html.element("figcaption", {}, figure.caption);
  html.close();
  html.line_break();
}

bool is_number(const std::string& column) { return column.rfind('>', 0) == 0; }

void write_row(Markup& html, const Table& table, const std::vector<std::string>& cells) {
  // Longer cells may break their lines; numbers and names never do.
  constexpr std::size_t kWide = 24;
  html.open("tr");
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string cell = i < cells.size() ? cells[i] : "";
    const bool wide = character_count(cell) > kWide;
    if (i == 0) {
      html.element("th", {{"scope", "row"}, {"class", wide ? "wide" : "t"}}, cell);
    } else if (is_number(table.columns[i])) {
      html.element("td", {{"class", "n"}}, cell);
    } else if (wide) {
      html.element("td", {{"class", "wide"}}, cell);
    } else {
      html.element("td", {}, cell);
    }
  }
  html.close();
  html.line_break();
}

void write(Markup& html, const Table& table, Numbers& numbers) {
  const std::string number = std::to_string(++numbers.table);
  const std::string title = "Table " + number + ". " + table.title;
  if (table.folded) {
    html.open("details");
    html.element("summary", {{"id", "table-" + number}}, title);
  } else {
    html.element("h3", {{"id", "table-" + number}}, title);
  }
  html.open("div", {{"class", "scroll"},
                    {"tabindex", "0"},
                    {"role", "region"},
                    {"aria-labelledby", "table-" + number}});
  html.open("table");
  html.open("thead");
  html.open("tr");
  for (const std::string& column : table.columns) {
    const bool right = is_number(column);
    html.element("th", {{"scope", "col"}, {"class", right ? "n" : "t"}},
                 column.substr(right ? 1 : 0));
  }
  html.close(2);
  html.line_break();
  html.open("tbody");
  for (const auto& row : table.rows) write_row(html, table, row);
  html.close(3);
  if (!table.caption.empty()) html.element("p", {{"class", "small"}}, table.caption);
  if (table.folded) html.close();
  html.line_break();
}

void write_head(Markup& html, const Page& page) {
  html.open("head");
  html.empty("meta", {{"charset", "utf-8"}});
  html.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  if (page.renew_seconds > 0) {
    html.empty("meta",
               {{"http-equiv", "refresh"}, {"content", std::to_string(page.renew_seconds)}});
  }
  html.element("title", {}, page.title);
  html.open("style");
  html.finished(kStyleSheet);
  html.close(2);
  html.line_break();
}

void write_header(Markup& html, const Page& page) {
  html.open("header");
  html.element("h1", {}, page.title);
  html.open("ul", {{"class", "totals"}});
  for (const auto& [figure, what] : page.totals) {
    html.open("li");
    html.element("b", {}, figure);
    html.element("span", {}, what);
    html.close();
  }
  html.close();
  html.element("p", {}, page.lead);
  html.open("nav", {{"aria-label", "Contents"}});
  html.open("ol");
  for (const Section& section : page.sections) {
    html.open("li");
    html.element("a", {{"href", "#" + section.id}}, section.title);
    html.close();
  }
  html.close(3);
  html.line_break();
}

}  // namespace

std::string html_of(const Page& page) {
  Markup html;
  html.finished("<!DOCTYPE html>\n");
  html.open("html", {{"lang", "en"}});
  html.line_break();
  write_head(html, page);
  html.open("body");
  html.line_break();
  write_header(html, page);
  html.open("main");
  Numbers numbers;
  for (const Section& section : page.sections) {
    html.line_break();
    html.open("section", {{"aria-labelledby", section.id}});
    html.element("h2", {{"id", section.id}}, section.title);
    html.line_break();
    for (const auto& part : section.parts) {
      std::visit([&](const auto& one) { write(html, one, numbers); }, part);
    }
    html.close();
  }
  html.close();
  html.line_break();
  html.open("footer");
  html.element("p", {{"class", "small"}},
               "Made by idletune " IDLETUNE_VERSION ". This page needs nothing but itself.");
  html.close();
  return html.take() + "\n";
}

namespace {

json counts_of(const Figure& figure) {
  json counts = json::object();
  for (const auto& [name, count] : figure.counts) {
    std::visit([&counts, &key = name](auto value) { counts[key] = value; }, count);
  }
  return counts;
}

}  // namespace

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
                           {"counts", counts_of(*figure)}});
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
