// What a model knows, and how well it did on devices it was not learned from.

#include "agent/host/pictures/plots.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"

namespace idletune::report {
namespace {

Table sources_table(const Model& model, const ReportOptions& options) {
  Table table("What the model was learned from",
              {"kernel", "device", "shape", ">valid", ">measured", ">well-performing", ">best time",
               ">median run", ">median compile"},
              /*is_folded=*/true);
  for (const KernelKnowledge& kernel : model.kernels()) {
    for (std::size_t i = 0; i < kernel.source_count(); ++i) {
      const HistoricalSource source = kernel.source(i);
      table.rows.push_back(
          {std::string(kernel.name()), std::string(source.device), shape_text(source.shape),
           count_text(source.valid_count), count_text(source.measured_count),
           percent_text(source.relative_performance.share_at_least(options.threshold)),
           time_text(source.best_time_ns), time_text(source.median_run_ns),
           source.median_compile_ns > 0 ? time_text(source.median_compile_ns) : "-"});
    }
  }
  table.caption = "Well-performing: share of the valid configurations with at least " +
                  percent_text(options.threshold) +
                  " of the best, interpolated between the model\u2019s quantiles.";
  return table;
}

// One row per kernel that has results of devices left out.
std::vector<BoxRow> held_out_rows(const Model& model) {
  std::vector<BoxRow> rows;
  for (const KernelKnowledge& kernel : model.kernels()) {
    BoxRow row;
    row.name = std::string(kernel.name());
    for (std::size_t i = 0; i < kernel.held_out_count(); ++i) {
      const KernelKnowledge::HeldOut result = kernel.held_out(i);
      row.values.push_back(
          {result.first_pick, std::string(result.device) + ": " + percent_text(result.first_pick)});
    }
    row.note = counted(row.values.size(), "device left out", "devices left out");
    if (!row.values.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

Table held_out_table(const Model& model) {
  Table table("Devices left out",
              {"kernel", "device", "shape", ">first pick", ">evaluations to 95\u00A0%"});
  for (const KernelKnowledge& kernel : model.kernels()) {
    for (std::size_t i = 0; i < kernel.held_out_count(); ++i) {
      const KernelKnowledge::HeldOut result = kernel.held_out(i);
      table.rows.push_back(
          {std::string(kernel.name()), std::string(result.device), shape_text(result.shape),
           percent_text(result.first_pick),
           result.evaluations > 0 ? count_text(result.evaluations) : "not in the portfolio"});
    }
  }
  table.caption =
      "Each device with a model learned from the others: relative performance of its first pick, "
      "and configurations of its portfolio until one reaches 95\u00A0% of the best.";
  return table;
}

}  // namespace

Section model_section(const Study&, const ReportOptions& options, const Continue& go_on) {
  Section section{"model", "What the model knows", {}};
  go_on("model");
  if (!options.model) return section;
  const Model& model = *options.model;
  std::size_t sources = 0;
  std::size_t portfolio = 0;
  for (const KernelKnowledge& kernel : model.kernels()) {
    sources += kernel.source_count();
    portfolio += kernel.portfolio_size();
  }
  section.parts.push_back(Paragraph{
      "The model holds " + counted(model.kernels().size(), "kernel", "kernels") + " from " +
      counted(sources, "pair", "pairs") + " of device and problem size, with " +
      counted(portfolio, "configuration", "configurations") + " worth trying, in " +
      count_text(model.size_bytes()) + " bytes (generation " + count_text(model.generation()) +
      ")."});
  BoxPlot plot;
  plot.axis = "first pick relative to the best";
  plot.rows = held_out_rows(model);
  if (!plot.rows.empty()) {
    plot.caption = {"model-first-pick", "First picks on devices left out", ""};
    std::size_t values = 0;
    for (const BoxRow& row : plot.rows) {
      values += row.values.size();
      plot.caption.description += row.name + ":";
      for (const BoxRow::Value& value : row.values)
        plot.caption.description += " " + value.tip + ".";
      plot.caption.description += " ";
    }
    Figure figure;
    figure.title = "First picks on devices that the model had not seen";
    figure.panels.push_back({"", "", draw(plot), ""});
    figure.caption =
        "Recorded when the model was learned: each device left out in turn, and the configuration "
        "that the others\u2019 model would start with. Nothing was measured on the device before.";
    figure.counts = {{"values", values}};
    section.parts.push_back(std::move(figure));
    section.parts.push_back(held_out_table(model));
  }
  section.parts.push_back(sources_table(model, options));
  return section;
}

}  // namespace idletune::report
