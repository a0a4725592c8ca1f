// What parameters and their values say of the run time: mutual information (Olha et al. 2020,
// figures 3 and 4), a box per value, and heat maps of pairs of values (of thread-block sizes in Cui
// & Feng 2019, figures 1, 4 and 5).

#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"
#include "models/host/insight/importance.hpp"

namespace idletune::report {
namespace {

constexpr std::size_t kMostBoxes = 16;
constexpr std::size_t kMostValuePictures = 40;
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

std::string kind_text(std::optional<ParameterKind> kind) {
  std::string text = kind ? parameter_kind_name(*kind) : "";
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// The two parameters that say most about the run time on a device, by index.
std::vector<std::size_t> telling_parameters(const History& history) {
  const Importance importance = importance_of(history);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < importance.parameters.size(); ++i) {
    if (importance.parameters[i].values > 1) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return importance.parameters[a].information > importance.parameters[b].information;
  });
  order.resize(std::min<std::size_t>(order.size(), 2));
  return order;
}

const CellColumn& column_of(const History& history, const std::string& name) {
  return *std::find_if(history.parameters.begin(), history.parameters.end(),
                       [&](const CellColumn& column) { return column.name() == name; });
}

// The values of a parameter in `parts` bins at most, equally many values each: numbers by their size,
// then texts.
struct Bins {
  Bins(const std::vector<const History*>& histories, const std::string& name, std::size_t parts) {
    using Value = std::tuple<bool, double, std::string, std::int64_t>;
    std::set<Value> values;
    for (const History* history : histories) {
      const CellColumn& column = column_of(*history, name);
      for (std::size_t row = 0; row < history->rows(); ++row) {
        const double number = column.number(row);
        const bool is_text = std::isnan(number);
        values.emplace(is_text, is_text ? 0 : number, column.to_string(row), column.code(row));
      }
    }
    const std::size_t count = std::min(parts, values.size());
    std::size_t i = 0;
    for (const auto& [is_text, number, text, code] : values) {
      const std::size_t bin = of[code] = i++ * count / values.size();
      if (bin == first.size()) first.push_back(text);
      last.resize(first.size());
      last[bin] = text;
    }
  }
  std::map<std::int64_t, std::size_t> of;  // by code
  std::vector<std::string> first;          // value of each
  std::vector<std::string> last;
};

// Calls back with the row and the relative performance of what ran.
template <class Visit>
void each_run(const Source& source, const Visit& visit) {
  for (std::size_t row = 0; row < source.history->rows(); ++row) {
    if (source.history->correct(row))
      visit(row, source.distribution.best_ns / source.history->run_time_ns(row));
  }
}

RowPlot boxes_of(const Source& source, const CellColumn& column) {
  const Bins bins({source.history}, column.name(), kMostBoxes);
  RowPlot plot{RowPlot::boxes, "performance relative to the best"};
  for (std::size_t bin = 0; bin < bins.first.size(); ++bin)
    plot.rows.push_back(
        {column.name() + " = " + range_text(bins.first[bin], bins.last[bin]), "", {}});
  each_run(source, [&](std::size_t row, double q) {
    plot.rows[bins.of.at(column.code(row))].values.push_back({q});
  });
  for (RowPlot::Row& row : plot.rows) row.note = counted(row.values.size(), "ran", "ran");
  return plot;
}

// The best at every pair of values on each device, and of these the worst: what such a pair is
// good for wherever it runs. One device: its own.
HeatMap map_of(const std::vector<const Source*>& sources, const std::string& x,
               const std::string& y) {
  std::vector<const History*> histories;
  for (const Source* source : sources) histories.push_back(source->history);
  const Bins columns(histories, x, HeatMap::kMostCells);
  const Bins rows(histories, y, HeatMap::kMostCells);
  HeatMap map{x, y, columns.first, rows.first, {}};
  for (const Source* source : sources) {
    std::vector<double> here(columns.first.size() * rows.first.size(), kNothing);
    const CellColumn& x_of = column_of(*source->history, x);
    const CellColumn& y_of = column_of(*source->history, y);
    each_run(*source, [&](std::size_t row, double q) {
      double& cell =
          here[rows.of.at(y_of.code(row)) * columns.first.size() + columns.of.at(x_of.code(row))];
      cell = std::fmax(cell, q);
    });
    for (std::size_t i = 0; i < map.cells.size(); ++i) {
      if (std::isnan(map.cells[i]) || here[i] > map.cells[i]) here[i] = map.cells[i];
    }
    map.cells = std::move(here);
  }
  return map;
}

void add_map(Figure& figure, const Group& group, const std::vector<const Source*>& sources,
             const std::string& x, const std::string& y) {
  const HeatMap map = map_of(sources, x, y);
  if (sources.size() == 1)
    return figure.add(map, group.title, "on " + sources.front()->device, "", x + " and " + y + ".");
  double highest = 0;
  for (const double cell : map.cells) highest = std::fmax(highest, cell);
  figure.add(map, group.title, "worst of " + counted(sources.size(), "device", "devices"),
             "The pair that is best wherever it runs has " + percent_text(highest) +
                 " on its worst device.",
             x + " and " + y + ".");
}

constexpr const char* kInformation = "information relative to the highest";

std::variant<Paragraph, Figure, Table> part_by_kind(
    const std::map<ParameterKind, RowPlot::Row>& kinds) {
  if (kinds.empty())
    return Paragraph{
        "Histories do not say what kind a parameter is of; --kernel or --kind tells, and adds a "
        "figure by kind.",
        true};
  RowPlot plot{RowPlot::boxes, kInformation};
  for (const auto& [kind, row] : kinds)
    plot.rows.push_back(
        {kind_text(kind), counted(row.values.size(), "value", "values"), row.values});
  plot.sort_by_median();
  Figure figure("information-kinds", "Information by kind of parameter");
  figure.add(plot);
  figure.caption =
      "The same figures, gathered by the kind of the parameter over all kernels and devices whose "
      "kinds are known; a value is one parameter of one kernel on one device.";
  figure.counts["kinds"] = kinds.size();
  return figure;
}

void add_row(Table& table, const Pair& at, const ParameterImportance& p, const std::string& kind) {
  table.rows.push_back({at.group->title, at.source->device, p.name, kind.empty() ? "-" : kind,
                        count_text(p.values), significant(p.information), significant(p.corrected),
                        percent_text(p.relative), significant(p.failure_information)});
}

}  // namespace

Section value_section(const Study& study, const ReportOptions&, const Continue& go_on) {
  Figure boxes("values", "Performance by the value of the most telling parameter",
               {{"box", true, "middle half of the configurations, and median"}});
  Figure heat("heat", "The best at every pair of values of the two most telling parameters",
              legend_of_shades(100, "\u00A0% of the best"));
  std::size_t looked = 0;
  for (const Group& group : study.groups) {
    if (heat.panels.size() >= kMostValuePictures || !go_on("values: " + group.title)) break;
    std::string x, y;
    std::vector<const Source*> sources;
    for (const Source& source : group.sources) {
      sources.push_back(&source);
      if (boxes.panels.size() >= kMostValuePictures) continue;
      ++looked;
      const std::vector<std::size_t> telling = telling_parameters(*source.history);
      if (telling.empty()) continue;
      const auto& parameters = source.history->parameters;
      boxes.add(boxes_of(source, parameters[telling[0]]), group.title, "on " + source.device);
      if (telling.size() < 2) continue;
      // All devices of a kernel have the same axes: those of the first.
      if (x.empty()) {
        x = parameters[std::min(telling[0], telling[1])].name();
        y = parameters[std::max(telling[0], telling[1])].name();
      }
      add_map(heat, group, {&source}, x, y);
    }
    if (sources.size() > 1 && !x.empty()) add_map(heat, group, sources, x, y);
  }
  const std::string rest = pairs_left_out(study, looked, "drawn");
  boxes.caption = "One box per value, over the configurations that ran with it; more than " +
                  std::to_string(kMostBoxes) +
                  " values are put together. A box far to the right is a value that is rarely "
                  "wrong; a whisker that reaches 100\u00A0% one that the best configuration has." +
                  rest;
  heat.caption =
      "The legend says what a colour is worth; white: nothing ran. A cell is the best "
      "configuration with these two values, whatever the others are; where the kernel has two "
      "parameters it is the one configuration. The last picture of a kernel with several devices "
      "has in every cell the worst of them: whether one choice suits all (Cui & Feng 2019, figures "
      "1, 4 and 5)." +
      rest;
  Section section{"values", "Which values make the difference", {}};
  if (!boxes.panels.empty()) section.parts.emplace_back(boxes);
  if (!heat.panels.empty()) section.parts.emplace_back(heat);
  return section;
}

Section importance_section(const Study& study, const ReportOptions&, const Continue& go_on) {
  const Paragraph lead{
      "A parameter with high mutual information decides much of the run time; one with little can "
      "be fixed, which makes the space smaller. Narrow boxes mean that a parameter matters alike "
      "on all devices, also where its best value does not stay the same."};
  Figure figure("information", "What each parameter says about the run time",
                {{"box", true, "middle half of the devices, and median"}});
  Table table("Information of every parameter on every device",
              {"kernel", "device", "parameter", "kind", ">values", ">bits", ">corrected",
               ">relative", ">about failure"},
              /*is_folded=*/true);
  std::map<ParameterKind, RowPlot::Row> kinds;
  for (const Group& group : study.groups) {
    if (figure.panels.size() == kMostPanels) break;
    std::map<std::string, RowPlot::Row> rows;
    for (const Source& source : group.sources) {
      if (!go_on("information: " + group.title + ", " + source.device)) return {};
      for (const ParameterImportance& p : importance_of(*source.history).parameters) {
        const auto kind = study.kinds.of(group.kernel, p.name);
        add_row(table, {&group, &source}, p, kind_text(kind));
        if (p.values < 2) continue;
        rows[p.name].values.push_back({p.relative, source.device + ": " + percent_text(p.relative) +
                                                       ", " + significant(p.information, 3) +
                                                       " bits"});
        if (kind)
          kinds[*kind].values.push_back(
              {p.relative, group.title + ", " + source.device + ", " + p.name});
      }
    }
    RowPlot plot{RowPlot::boxes, kInformation};
    for (const std::string& name : group.sources.front().history->parameter_names()) {
      if (rows.count(name) == 0) continue;
      plot.rows.push_back({name, kind_text(study.kinds.of(group.kernel, name)), rows[name].values});
    }
    plot.sort_by_median();
    figure.add(plot, group.title, "", counted(group.sources.size(), "device", "devices"));
  }
  figure.caption =
      "Mutual information between a parameter and the run time of the configurations that ran "
      "correctly, relative to the highest of the same kernel and device (run times in up to 32 "
      "equally frequent bins). Boxes over devices: quartiles, median, whiskers to the farthest "
      "value within 1.5 times the box; dots are single devices. A parameter with a single value is "
      "left out." +
      panels_left_out(study);
  table.caption =
      "Bits: the plug-in estimate. Corrected: less what a parameter without influence would show "
      "by chance. About failure: information on whether a configuration fails." +
      left_out(kMostPanels, study.groups.size(), "kernels and sizes are here");
  Section section{"importance", "Which parameters matter", {lead, figure}};
  section.parts.push_back(part_by_kind(kinds));
  section.parts.emplace_back(table);
  return section;
}

}  // namespace idletune::report
