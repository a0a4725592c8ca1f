// What a model knows, and how well it did on devices it was not learned from.

#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"

namespace idletune::report {
namespace {

void add_sources(Table& table, const KernelKnowledge& kernel, double threshold) {
  for (std::size_t i = 0; i < kernel.source_count(); ++i) {
    const HistoricalSource source = kernel.source(i);
    table.rows.push_back(
        {std::string(kernel.name()), std::string(source.device), shape_text(source.shape),
         count_text(source.valid_count), count_text(source.measured_count),
         percent_text(source.relative_performance.share_at_least(threshold)),
         time_text(source.best_time_ns), time_text(source.median_run_ns),
         source.median_compile_ns > 0 ? time_text(source.median_compile_ns) : "-"});
  }
}

}  // namespace

Section model_section(const Study&, const ReportOptions& options, const Continue& go_on) {
  go_on("model");
  if (!options.model) return {};
  Table sources("What the model was learned from",
                {"kernel", "device", "shape", ">valid", ">measured", ">well-performing",
                 ">best time", ">median run", ">median compile"},
                /*is_folded=*/true);
  Table held_out("Devices left out",
                 {"kernel", "device", "shape", ">first pick", ">evaluations to 95\u00A0%"});
  RowPlot plot{RowPlot::boxes, "first pick relative to the best"};
  std::size_t portfolio = 0;
  for (const KernelKnowledge& kernel : options.model->kernels()) {
    const std::string name(kernel.name());
    portfolio += kernel.portfolio_size();
    add_sources(sources, kernel, options.threshold);
    RowPlot::Row row{name};
    const auto quality = cli::must(kernel.quality());
    for (const KernelKnowledge::HeldOut& result : quality.held_out) {
      const std::string device(result.device), pick = percent_text(result.first_pick);
      row.values.push_back({result.first_pick, device + ": " + pick});
      held_out.rows.push_back(
          {name, device, shape_text(result.shape), pick,
           result.evaluations > 0 ? count_text(result.evaluations) : "not in the portfolio"});
    }
    row.note = counted(row.values.size(), "device left out", "devices left out");
    if (!row.values.empty()) plot.rows.push_back(std::move(row));
  }
  const Paragraph lead{
      "The model holds " + counted(options.model->kernels().size(), "kernel", "kernels") +
      " from " + counted(sources.rows.size(), "pair", "pairs") +
      " of device and problem size, with " + counted(portfolio, "configuration", "configurations") +
      " worth trying, in " + count_text(options.model->size_bytes()) + " bytes (generation " +
      count_text(options.model->generation()) + ")."};
  Section section{"model", "What the model knows", {lead}};
  held_out.caption =
      "Each device with a model learned from the others: relative performance of its first pick, "
      "and configurations of its portfolio until one reaches 95\u00A0% of the best.";
  sources.caption = "Well-performing: share of the valid configurations with at least " +
                    percent_text(options.threshold) +
                    " of the best, interpolated between the model\u2019s quantiles.";
  if (!plot.rows.empty()) {
    Figure figure("model-first-pick", "First picks on devices that the model had not seen");
    figure.add(plot);
    figure.caption =
        "Recorded when the model was learned: each device left out in turn, and the configuration "
        "that the others\u2019 model would start with. Nothing was measured on the device before.";
    section.parts.emplace_back(figure);
    section.parts.emplace_back(held_out);
  }
  section.parts.emplace_back(sources);
  return section;
}

}  // namespace idletune::report
