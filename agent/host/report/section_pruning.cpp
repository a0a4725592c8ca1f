// What is left after pruning.

#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"
#include "models/host/insight/pruning.hpp"

namespace idletune::report {
namespace {

constexpr std::size_t kMostSourcesPerKernel = 24;

// All kernels pruned in one way.
struct Method {
  PruningMethod method;
  std::string name;
  std::vector<RowPlot::Row> rows;  // what is kept elsewhere, by kernel
  std::vector<double> reductions;
  std::vector<double> kept;  // on other devices
  Table table;
};

Method method_of(PruningMethod method, const std::string& name) {
  Method made{
      method,
      name,
      {},
      {},
      {},
      Table("Spaces after " + std::string(pruning_method_name(method)) + " pruning",
            {"kernel", "pruned with", ">times smaller", ">pruned", "performance kept on", "pinned"},
            /*is_folded=*/true)};
  made.table.caption =
      "Performance kept: the best in the pruned space relative to the best in the full one, on "
      "each device.";
  return made;
}

// Prunes the kernel with one device's history, and tells what that keeps on the others.
void add(Method& method, const Group& group, const Source& from, const PruningOptions& options,
         RowPlot::Row& row, Limits& reductions) {
  const Result<Pruning> pruning = prune(*from.history, method.method, options);
  if (!pruning.ok()) return;
  reductions.include(pruning->reduction());
  method.reductions.push_back(pruning->reduction());
  std::vector<std::string> retained;
  for (const Source& on : group.sources) {
    const Result<Retention> retention = retention_on(*pruning, *on.history);
    if (!retention.ok()) continue;
    const std::string text = percent_text(retention->value);
    retained.push_back(on.device + "\u00A0" + text);
    if (&on == &from) continue;
    method.kept.push_back(retention->value);
    row.values.push_back(
        {retention->value, "pruned with " + from.device + ", on " + on.device + ": " + text});
  }
  const std::size_t pruned = pruning->pruned.size();
  const auto pinned = listed(pruning->pruned, ", ", [](const PrunedParameter& parameter) {
    return parameter.name + "\u00A0=\u00A0" + parameter.value;
  });
  const auto on_devices = listed(retained, "; ", [](const std::string& text) { return text; });
  method.table.rows.push_back(
      {group.title, from.device, significant(pruning->reduction(), 3),
       std::to_string(pruned) + "/" + std::to_string(pruned + pruning->kept.size()),
       retained.empty() ? "-" : on_devices, pruned == 0 ? "none" : pinned});
}

// Medians over everything that was pruned.
std::string finding(Method& method) {
  if (method.kept.empty()) return {};
  std::sort(method.reductions.begin(), method.reductions.end());
  std::sort(method.kept.begin(), method.kept.end());
  return " " + method.name + " pruning makes spaces " +
         significant(quantile_of(method.reductions, 0.5), 2) + " times smaller and keeps " +
         percent_text(quantile_of(method.kept, 0.5)) +
         " of the performance on another device in the median, " +
         percent_text(method.kept.front()) + " at worst.";
}

}  // namespace

Section pruning_section(const Study& study, const ReportOptions& options, const Continue& go_on) {
  // What it keeps elsewhere is all that it is about.
  if (study.source_count() == study.groups.size()) return {};
  PruningOptions pruning;
  pruning.retention = options.threshold;
  Method methods[] = {method_of(PruningMethod::aggressive, "Aggressive"),
                      method_of(PruningMethod::conservative, "Conservative")};
  bool many = false;
  for (const Group& group : study.groups) {
    const std::size_t count = std::min(group.sources.size(), kMostSourcesPerKernel);
    many = many || group.sources.size() > count;
    for (Method& method : methods) {
      RowPlot::Row row{group.title};
      Limits reductions;
      for (std::size_t i = 0; i < count; ++i) {
        if (!go_on("pruning: " + group.title + ", " + group.sources[i].device)) return {};
        add(method, group, group.sources[i], pruning, row, reductions);
      }
      row.note = range_text(significant(reductions.low, 2), significant(reductions.high, 2)) +
                 " \u00D7 smaller";
      if (!row.values.empty()) method.rows.push_back(std::move(row));
    }
  }
  Figure figure("pruning", "Performance that a pruned space keeps on other devices",
                {{"box", true, "middle half of the pairs of devices, and median"}});
  std::string text =
      "Parameters that say little about the run time are pinned to their median, as seen on one "
      "device, and the smaller space is used on the others. Far to the right is good: nothing was "
      "lost.";
  std::size_t wanted = 0;
  for (Method& method : methods) {
    text += finding(method);
    wanted = method.rows.size();
    method.rows.resize(std::min(wanted, kMostPanels));
    if (wanted > 0)
      figure.add(RowPlot{RowPlot::boxes, "performance kept on other devices", method.rows},
                 method.name);
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
      left_out(kMostPanels, wanted, "kernels and sizes are drawn");
  if (many)
    figure.caption +=
        " Of a kernel\u2019s devices the first " + count_text(kMostSourcesPerKernel) + " prune.";
  Section section{"pruning", "What pruning keeps", {Paragraph{text}}};
  if (!figure.panels.empty()) section.parts.emplace_back(figure);
  for (const Method& method : methods) section.parts.emplace_back(method.table);
  return section;
}

}  // namespace idletune::report
