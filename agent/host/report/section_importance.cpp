// Mutual information of parameters with run time.

#include "agent/host/pictures/plots.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"
#include "models/core/median.hpp"
#include "models/host/insight/importance.hpp"

namespace idletune::report {
namespace {

struct Measured {
  const Source* source;
  Importance importance;
};

struct GroupImportance {
  const Group* group;
  std::vector<Measured> devices;
};

std::string kind_text(std::optional<ParameterKind> kind) {
  if (!kind) return {};
  std::string text = parameter_kind_name(*kind);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

double median_of_row(const BoxRow& row) {
  std::vector<double> values;
  for (const BoxRow::Value& value : row.values) values.push_back(value.value);
  return median_of(std::move(values));
}

void sort_by_median(std::vector<BoxRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const BoxRow& a, const BoxRow& b) {
    return median_of_row(a) > median_of_row(b);
  });
}

// One row per parameter, the most informative first.
std::vector<BoxRow> rows_of(const GroupImportance& measured, const ParameterKinds& kinds) {
  std::vector<BoxRow> rows;
  for (const std::string& name : measured.group->sources.front().history->parameter_names()) {
    BoxRow row;
    row.name = name;
    row.note = kind_text(kinds.of(measured.group->kernel, name));
    for (const Measured& device : measured.devices) {
      for (const ParameterImportance& parameter : device.importance.parameters) {
        if (parameter.name != name || parameter.values < 2) continue;
        row.values.push_back(
            {parameter.relative, device.source->device + ": " + percent_text(parameter.relative) +
                                     ", " + significant(parameter.information, 3) + " bits"});
      }
    }
    if (!row.values.empty()) rows.push_back(std::move(row));
  }
  sort_by_median(rows);
  return rows;
}

std::string described(const std::vector<BoxRow>& rows) {
  std::string text;
  for (const BoxRow& row : rows)
    text += row.name + ": median " + percent_text(median_of_row(row)) + ". ";
  return text;
}

constexpr const char* kAxis = "information relative to the highest";

Figure figure_by_parameter(const std::vector<GroupImportance>& all, const Study& study) {
  Figure figure("What each parameter says about the run time",
                {{"box", true, "middle half of the devices, and median"}});
  std::size_t boxes = 0;
  for (const GroupImportance& measured : all) {
    BoxPlot plot;
    plot.axis = kAxis;
    plot.rows = rows_of(measured, study.kinds);
    boxes += plot.rows.size();
    plot.caption = {"information-" + std::to_string(figure.panels.size() + 1),
                    measured.group->title + ": information of its parameters",
                    described(plot.rows)};
    figure.panels.push_back({measured.group->title, "", draw(plot),
                             counted(measured.devices.size(), "device", "devices")});
  }
  figure.caption =
      "Mutual information between a parameter and the run time of the configurations that ran "
      "correctly, relative to the highest of the same kernel and device (run times in up to 32 "
      "equally frequent bins). Boxes over devices: quartiles, median, whiskers to the farthest "
      "value within 1.5 times the box; dots are single devices. A parameter with a single value is "
      "left out." +
      panels_left_out(study);
  figure.counts = {{"boxes", boxes}};
  return figure;
}

Figure figure_by_kind(const std::vector<GroupImportance>& all, const Study& study) {
  std::map<ParameterKind, BoxRow> rows;
  std::size_t values = 0;
  for (const GroupImportance& measured : all) {
    for (const Measured& device : measured.devices) {
      for (const ParameterImportance& parameter : device.importance.parameters) {
        const auto kind = study.kinds.of(measured.group->kernel, parameter.name);
        if (!kind || parameter.values < 2) continue;
        rows[*kind].values.push_back(
            {parameter.relative,
             measured.group->title + ", " + device.source->device + ", " + parameter.name});
        ++values;
      }
    }
  }
  BoxPlot plot;
  plot.axis = kAxis;
  for (auto& [kind, row] : rows) {
    row.name = kind_text(kind);
    row.note = counted(row.values.size(), "value", "values");
    plot.rows.push_back(std::move(row));
  }
  sort_by_median(plot.rows);
  plot.caption = {"information-kinds", "Information by kind of parameter", described(plot.rows)};
  Figure figure("Information by kind of parameter");
  if (!plot.rows.empty()) figure.panels.push_back({"", "", draw(plot), ""});
  figure.caption =
      "The same figures, gathered by the kind of the parameter over all kernels and devices whose "
      "kinds are known; a value is one parameter of one kernel on one device.";
  figure.counts = {{"kinds", plot.rows.size()}, {"values", values}};
  return figure;
}

Table table_of(const std::vector<GroupImportance>& all, const Study& study) {
  Table table("Information of every parameter on every device",
              {"kernel", "device", "parameter", "kind", ">values", ">bits", ">corrected",
               ">relative", ">about failure"},
              /*is_folded=*/true);
  for (const GroupImportance& measured : all) {
    for (const Measured& device : measured.devices) {
      for (const ParameterImportance& p : device.importance.parameters) {
        const std::string kind = kind_text(study.kinds.of(measured.group->kernel, p.name));
        table.rows.push_back({measured.group->title, device.source->device, p.name,
                              kind.empty() ? "-" : kind, count_text(p.values),
                              significant(p.information, 3), significant(p.corrected, 3),
                              percent_text(p.relative), significant(p.failure_information, 3)});
      }
    }
  }
  table.caption =
      "Bits: the plug-in estimate. Corrected: less what a parameter without influence would show "
      "by chance. About failure: information on whether a configuration fails." +
      left_out(all.size(), study.groups.size(), "kernels and sizes are here");
  return table;
}

}  // namespace

Section importance_section(const Study& study, const ReportOptions&, const Continue& go_on) {
  Section section{"importance", "Which parameters matter", {}};
  section.parts.push_back(Paragraph{
      "A parameter with high mutual information decides much of the run time; one with little can "
      "be fixed, which makes the space smaller. Narrow boxes mean that a parameter matters alike "
      "on all devices, also where its best value does not stay the same."});
  std::vector<GroupImportance> all;
  for (const Group& group : study.groups) {
    if (all.size() == kMostPanels) break;
    GroupImportance measured{&group, {}};
    for (const Source& source : group.sources) {
      if (!go_on("information: " + group.title + ", " + source.device)) return section;
      measured.devices.push_back({&source, importance_of(*source.history)});
    }
    all.push_back(std::move(measured));
  }
  section.parts.push_back(figure_by_parameter(all, study));
  Figure by_kind = figure_by_kind(all, study);
  if (!by_kind.panels.empty()) {
    section.parts.push_back(std::move(by_kind));
  } else {
    section.parts.push_back(
        Paragraph{"Histories do not say what kind a parameter is of; --kernel or --kind tells, and "
                  "adds a figure by kind.",
                  true});
  }
  section.parts.push_back(table_of(all, study));
  return section;
}

}  // namespace idletune::report
