// Performance by the values of parameters: a box per value, and heat maps of pairs.

#include "agent/host/pictures/plots.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"
#include "models/host/insight/importance.hpp"

namespace idletune::report {
namespace {

constexpr std::size_t kMostBoxes = 16;
constexpr std::size_t kMostValuePictures = 40;
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

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

// The values of a parameter in `parts` bins at most, equally many values each.
class Bins {
 public:
  Bins(const std::vector<const History*>& histories, const std::string& name, std::size_t parts) {
    std::map<std::int64_t, std::string> values;
    for (const History* history : histories) {
      const CellColumn& column = *column_of(*history, name);
      for (std::size_t row = 0; row < history->rows(); ++row) {
        values.emplace(column.code(row), column.to_string(row));
      }
    }
    const std::size_t count = std::min(parts, values.size());
    std::size_t i = 0;
    for (const auto& [code, text] : values) {
      const std::size_t bin = i++ * count / values.size();
      of_[code] = bin;
      if (bin == labels_.size()) labels_.push_back(text);
      last_.resize(labels_.size());
      last_[bin] = text;
    }
  }
  static const CellColumn* column_of(const History& history, const std::string& name) {
    for (const CellColumn& column : history.parameters) {
      if (column.name() == name) return &column;
    }
    return nullptr;
  }
  std::size_t count() const { return labels_.size(); }
  std::size_t of(std::int64_t code) const { return of_.at(code); }
  // A bin's first value; `whole`: with the last one, where it has several.
  std::string label(std::size_t bin, bool whole) const {
    return whole && last_[bin] != labels_[bin] ? labels_[bin] + " \u2013 " + last_[bin]
                                               : labels_[bin];
  }

 private:
  std::map<std::int64_t, std::size_t> of_;
  std::vector<std::string> labels_;
  std::vector<std::string> last_;
};

double relative(const History& history, std::size_t row, double best_ns) {
  return history.correct(row) ? best_ns / history.run_time_ns(row) : kNothing;
}

Figure::Panel box_panel(const Group& group, const Source& source, std::size_t parameter,
                        std::size_t number, std::size_t& drawn) {
  const History& history = *source.history;
  const std::string name = history.parameters[parameter].name();
  const Bins bins({&history}, name, kMostBoxes);
  BoxPlot plot;
  plot.axis = "performance relative to the best";
  plot.caption = {"values-" + std::to_string(number),
                  group.title + " on " + source.device + ": by " + name, ""};
  plot.rows.resize(bins.count());
  drawn += bins.count();
  for (std::size_t bin = 0; bin < bins.count(); ++bin) {
    plot.rows[bin].name = name + " = " + bins.label(bin, true);
  }
  for (std::size_t row = 0; row < history.rows(); ++row) {
    const double q = relative(history, row, source.distribution.best_ns);
    if (!std::isfinite(q)) continue;
    const std::size_t bin = bins.of(history.parameters[parameter].code(row));
    plot.rows[bin].values.push_back({q, ""});
  }
  for (BoxRow& row : plot.rows) {
    row.note = counted(row.values.size(), "ran", "ran");
    double best = 0;
    for (const BoxRow::Value& value : row.values) best = std::max(best, value.value);
    plot.caption.description += row.name + ": best " + percent_text(best) + ". ";
  }
  return {group.title, "on " + source.device, draw(plot), ""};
}

// The best at every pair of values on each device, and of these the worst: what such a pair is
// good for wherever it runs. One device: its own.
Figure::Panel heat_panel(const Group& group, const std::vector<const Source*>& sources,
                         const std::string& x, const std::string& y, std::size_t number) {
  std::vector<const History*> histories;
  histories.reserve(sources.size());
  for (const Source* source : sources) histories.push_back(source->history);
  const Bins columns(histories, x, HeatMap::kMostCells);
  const Bins rows(histories, y, HeatMap::kMostCells);
  HeatMap map;
  map.x_name = x;
  map.y_name = y;
  for (std::size_t i = 0; i < columns.count(); ++i) map.x_labels.push_back(columns.label(i, false));
  for (std::size_t i = 0; i < rows.count(); ++i) map.y_labels.push_back(rows.label(i, false));
  map.cells.assign(columns.count() * rows.count(), kNothing);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const History& history = *histories[s];
    std::vector<double> here(map.cells.size(), kNothing);
    for (std::size_t row = 0; row < history.rows(); ++row) {
      const double q = relative(history, row, sources[s]->distribution.best_ns);
      if (!std::isfinite(q)) continue;
      double& cell = here[rows.of(Bins::column_of(history, y)->code(row)) * columns.count() +
                          columns.of(Bins::column_of(history, x)->code(row))];
      cell = std::isfinite(cell) ? std::max(cell, q) : q;
    }
    for (std::size_t i = 0; i < here.size(); ++i) {
      map.cells[i] = s == 0 ? here[i]
                     : std::isfinite(here[i]) && std::isfinite(map.cells[i])
                         ? std::min(map.cells[i], here[i])
                         : kNothing;
    }
  }
  const std::string where = sources.size() == 1
                                ? "on " + sources.front()->device
                                : "worst of " + counted(sources.size(), "device", "devices");
  double highest = 0;
  for (const double cell : map.cells)
    highest = std::isfinite(cell) ? std::max(highest, cell) : highest;
  const std::string remark = sources.size() == 1
                                 ? std::string()
                                 : "The pair that is best wherever it runs has " +
                                       percent_text(highest) + " on its worst device.";
  map.caption = {
      "heat-" + std::to_string(number), group.title + " " + where + ": " + x + " and " + y,
      remark.empty() ? "The best relative performance at every pair of values." : remark};
  return {group.title, where, draw(map), remark};
}

std::vector<Legend> shades() {
  const char* const shares[] = {"under 50", "50 to 70", "70 to 80",
                                "80 to 90", "90 to 95", "95 and more"};
  std::vector<Legend> legend;
  for (int i = 0; i < HeatMap::kShades; ++i) {
    legend.push_back(
        {"heat h" + std::to_string(i + 1), false, std::string(shares[i]) + "\u00A0% of the best"});
  }
  return legend;
}

}  // namespace

Section value_section(const Study& study, const ReportOptions&, const Continue& go_on) {
  Section section{"values", "Which values make the difference", {}};
  Figure boxes("Performance by the value of the most telling parameter",
               {{"box", true, "middle half of the configurations, and median"}});
  Figure heat("The best at every pair of values of the two most telling parameters", shades());
  std::size_t looked = 0;
  std::size_t drawn = 0;
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
      boxes.panels.push_back(box_panel(group, source, telling[0], boxes.panels.size() + 1, drawn));
      if (telling.size() < 2) continue;
      // All devices of a kernel have the same axes: those of the first.
      if (x.empty()) {
        x = source.history->parameters[std::min(telling[0], telling[1])].name();
        y = source.history->parameters[std::max(telling[0], telling[1])].name();
      }
      heat.panels.push_back(heat_panel(group, {&source}, x, y, heat.panels.size() + 1));
    }
    if (sources.size() > 1 && !x.empty()) {
      heat.panels.push_back(heat_panel(group, sources, x, y, heat.panels.size() + 1));
    }
  }
  if (boxes.panels.empty()) return section;
  boxes.caption = "One box per value, over the configurations that ran with it; more than " +
                  std::to_string(kMostBoxes) +
                  " values are put together. A box far to the right is a value that is rarely "
                  "wrong; a whisker that reaches 100\u00A0% one that the best configuration has.";
  heat.caption =
      "The legend says what a colour is worth; white: nothing ran. A cell is the best "
      "configuration with these two values, whatever the others are; where the kernel has two "
      "parameters it is the one configuration. The last picture of a kernel with several devices "
      "has in every cell the worst of them: whether one choice suits all.";
  const std::string rest =
      left_out(looked, study.source_count(), "pairs of kernel and device are drawn");
  boxes.caption += rest;
  heat.caption += rest;
  boxes.counts = {{"boxes", drawn}};
  heat.counts = {{"maps", heat.panels.size()}};
  section.parts.push_back(std::move(boxes));
  if (!heat.panels.empty()) section.parts.push_back(std::move(heat));
  return section;
}

}  // namespace idletune::report
