// What is left after pruning.

#include "agent/host/pictures/plots.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"
#include "models/host/insight/pruning.hpp"

namespace idletune::report {
namespace {

constexpr std::size_t kMostSourcesPerKernel = 24;

// One kernel pruned with one device's history, and what that keeps on the others.
struct Pruned {
  const Group* group;
  const Source* from;
  Pruning pruning;
  std::vector<std::pair<const Source*, double>> retention;  // of the devices where it can be told
};

struct Method {
  PruningMethod method;
  std::string name;
  std::vector<Pruned> all;
};

std::optional<Pruned> pruned_with(const Group& group, const Source& from, PruningMethod method,
                                  const PruningOptions& options) {
  Result<Pruning> pruning = prune(*from.history, method, options);
  if (!pruning.ok()) return std::nullopt;
  Pruned pruned{&group, &from, std::move(*pruning), {}};
  for (const Source& on : group.sources) {
    const Result<Retention> retention = retention_on(pruned.pruning, *on.history);
    if (retention.ok()) pruned.retention.emplace_back(&on, retention->value);
  }
  return pruned;
}

std::string retention_text(const Pruned& pruned) {
  if (pruned.retention.empty()) return "-";
  return listed(pruned.retention, "; ", [](const auto& one) {
    return one.first->device + "\u00A0" + percent_text(one.second);
  });
}

std::string pinned_text(const Pruning& pruning) {
  if (pruning.pruned.empty()) return "none";
  return listed(pruning.pruned, ", ", [](const PrunedParameter& parameter) {
    return parameter.name + "\u00A0=\u00A0" + parameter.value;
  });
}

Figure::Panel panel_of(const Method& method, const Study& study, std::size_t number,
                       std::size_t& values, std::size_t& wanted) {
  wanted = 0;
  BoxPlot plot;
  plot.axis = "performance kept on other devices";
  for (const Group& group : study.groups) {
    BoxRow row;
    row.name = group.title;
    double low = 0;
    double high = 0;
    for (const Pruned& pruned : method.all) {
      if (pruned.group != &group) continue;
      low = low == 0 ? pruned.pruning.reduction() : std::min(low, pruned.pruning.reduction());
      high = std::max(high, pruned.pruning.reduction());
      for (const auto& [on, value] : pruned.retention) {
        if (on == pruned.from) continue;
        row.values.push_back({value, "pruned with " + pruned.from->device + ", on " + on->device +
                                         ": " + percent_text(value)});
      }
    }
    if (row.values.empty() || ++wanted > kMostPanels) continue;
    row.note = range_text(significant(low, 2), significant(high, 2)) + " \u00D7 smaller";
    values += row.values.size();
    plot.rows.push_back(std::move(row));
  }
  if (plot.rows.empty()) return {};
  plot.caption = {"pruning-" + std::to_string(number), method.name + " pruning: performance kept",
                  ""};
  for (const BoxRow& row : plot.rows) {
    plot.caption.description += row.name + " (" + row.note + "):";
    for (const BoxRow::Value& value : row.values)
      plot.caption.description += " " + percent_text(value.value) + ",";
    plot.caption.description.back() = '.';
    plot.caption.description += " ";
  }
  return {method.name, "", draw(plot), ""};
}

// Medians over everything that was pruned, in a sentence per method.
std::string finding(const std::vector<Method>& methods) {
  std::string text;
  for (const Method& method : methods) {
    std::vector<double> reductions;
    std::vector<double> kept;
    for (const Pruned& pruned : method.all) {
      reductions.push_back(pruned.pruning.reduction());
      for (const auto& [on, value] : pruned.retention) {
        if (on != pruned.from) kept.push_back(value);
      }
    }
    if (kept.empty()) continue;
    std::sort(reductions.begin(), reductions.end());
    std::sort(kept.begin(), kept.end());
    text += " " + method.name + " pruning makes spaces " +
            significant(quantile_of(reductions, 0.5), 2) + " times smaller and keeps " +
            percent_text(quantile_of(kept, 0.5)) +
            " of the performance on another device in the median, " + percent_text(kept.front()) +
            " at worst.";
  }
  return text;
}

Table table_of(const Method& method) {
  Table table(
      "Spaces after " + std::string(pruning_method_name(method.method)) + " pruning",
      {"kernel", "pruned with", ">times smaller", ">pruned", "performance kept on", "pinned"},
      /*is_folded=*/true);
  for (const Pruned& pruned : method.all) {
    const std::size_t parameters = pruned.pruning.pruned.size() + pruned.pruning.kept.size();
    table.rows.push_back(
        {pruned.group->title, pruned.from->device, significant(pruned.pruning.reduction(), 3),
         std::to_string(pruned.pruning.pruned.size()) + "/" + std::to_string(parameters),
         retention_text(pruned), pinned_text(pruned.pruning)});
  }
  table.caption =
      "Performance kept: the best in the pruned space relative to the best in the full one, on "
      "each device.";
  return table;
}

}  // namespace

Section pruning_section(const Study& study, const ReportOptions& options, const Continue& go_on) {
  Section section{"pruning", "What pruning keeps", {}};
  PruningOptions pruning;
  pruning.retention = options.threshold;
  const bool compares = std::any_of(study.groups.begin(), study.groups.end(),
                                    [](const Group& g) { return g.sources.size() > 1; });
  if (!compares) return section;  // what it keeps elsewhere is all that it is about
  std::vector<Method> methods{{PruningMethod::aggressive, "Aggressive", {}},
                              {PruningMethod::conservative, "Conservative", {}}};
  for (const Group& group : study.groups) {
    for (std::size_t i = 0; i < std::min(group.sources.size(), kMostSourcesPerKernel); ++i) {
      if (!go_on("pruning: " + group.title + ", " + group.sources[i].device)) return section;
      for (Method& method : methods) {
        auto pruned = pruned_with(group, group.sources[i], method.method, pruning);
        if (pruned) method.all.push_back(std::move(*pruned));
      }
    }
  }
  section.parts.push_back(
      Paragraph{"Parameters that say little about the run time are pinned to their median, as seen "
                "on one device, and the smaller space is used on the others. Far to the right is "
                "good: nothing was lost." +
                finding(methods)});
  Figure figure("Performance that a pruned space keeps on other devices",
                {{"box", true, "middle half of the pairs of devices, and median"}});
  const bool many = std::any_of(study.groups.begin(), study.groups.end(), [](const Group& g) {
    return g.sources.size() > kMostSourcesPerKernel;
  });
  const std::string few_sources = many ? " Of a kernel\u2019s devices the first " +
                                             count_text(kMostSourcesPerKernel) + " prune."
                                       : "";
  std::size_t values = 0;
  std::size_t wanted = 0;
  for (const Method& method : methods) {
    Figure::Panel panel = panel_of(method, study, figure.panels.size() + 1, values, wanted);
    if (!panel.svg.empty()) figure.panels.push_back(std::move(panel));
  }
  figure.caption =
      "Every kernel pruned with the history of each device in turn; one value per other device: "
      "the best performance in the pruned space relative to that in the full one. On the right how "
      "many times smaller the space became. Aggressive: from the least informative parameter on, "
      "as long as " +
      percent_text(pruning.retention) +
      " of the best remains on the device it was computed with. Conservative: of those only "
      "parameters with less than " +
      percent_text(pruning.information_share) + " of the highest information." +
      left_out(kMostPanels, wanted, "kernels and sizes are drawn") + few_sources;
  figure.counts = {{"values", values}};
  if (!figure.panels.empty()) section.parts.push_back(std::move(figure));
  for (const Method& method : methods) section.parts.push_back(table_of(method));
  return section;
}

}  // namespace idletune::report
