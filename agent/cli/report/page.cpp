#include "agent/cli/report/page.hpp"

#include <nlohmann/json.hpp>

#include "agent/cli/report/markup.hpp"
#include "agent/cli/report/style_sheet.hpp"

namespace idletune::report {
namespace {

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

void write_row(Markup& html, const Table& table, const std::vector<std::string>& cells) {
  // Longer cells may break their lines; numbers and names never do.
  constexpr std::size_t kWide = 36;
  html.open("tr");
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string cell = i < cells.size() ? cells[i] : "";
    const bool wide = character_count(cell) > kWide;
    if (i == 0) {
      html.element("th", {{"scope", "row"}, {"class", wide ? "wide" : "t"}}, cell);
    } else if (table.columns[i].number) {
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
  for (const Table::Column& column : table.columns) {
    html.element("th", {{"scope", "col"}, {"class", column.number ? "n" : "t"}}, column.title);
  }
  html.close();
  html.close();
  html.line_break();
  html.open("tbody");
  for (const auto& row : table.rows) write_row(html, table, row);
  html.close();
  html.close();
  html.close();
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
  html.finished(style_sheet());
  html.close();
  html.close();
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
  html.close();
  html.close();
  html.close();
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

nlohmann::json counts_of(const Figure& figure) {
  nlohmann::json counts = nlohmann::json::object();
  for (const auto& [name, count] : figure.counts) {
    std::visit([&counts, &key = name](auto value) { counts[key] = value; }, count);
  }
  return counts;
}

}  // namespace

nlohmann::json contents_of(const Page& page) {
  nlohmann::json sections = nlohmann::json::array();
  Numbers numbers;
  for (const Section& section : page.sections) {
    nlohmann::json figures = nlohmann::json::array();
    nlohmann::json tables = nlohmann::json::array();
    for (const auto& part : section.parts) {
      if (const auto* figure = std::get_if<Figure>(&part)) {
        nlohmann::json panels = nlohmann::json::array();
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
