#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"

namespace idletune::report {
namespace {

std::string text(const json& value) { return value.get<std::string>(); }

// Cells of the matrix by how many entries they have, the darkest for the most.
Figure pattern_figure(const json& result, const std::string& id) {
  const json& counts = result["pattern"];  // rows of cells, from above
  double most = 1;
  for (const json& row : counts) {
    for (const json& count : row) most = std::max(most, count.get<double>());
  }
  // Where the cells begin, of so many rows or columns.
  const auto starts = [&](const char* of, std::size_t cells) {
    const double all = result["matrix"][of].get<double>();
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < cells; ++i)
      labels.push_back(
          mean_count_text(std::floor(all * static_cast<double>(i) / static_cast<double>(cells))));
    return labels;
  };
  HeatMap map{"column",
              "row",
              starts("columns", counts.empty() ? 0 : counts[0].size()),
              starts("rows", counts.size()),
              {}};
  std::reverse(map.y_labels.begin(), map.y_labels.end());
  for (auto row = counts.rbegin(); row != counts.rend(); ++row) {
    for (const json& count : *row) {
      const double share = std::log1p(count.get<double>()) / std::log1p(most);
      map.cells.push_back(share > 0 ? 0.4 + 0.6 * share : std::numeric_limits<double>::quiet_NaN());
    }
  }
  std::vector<Legend> legend;
  if (result["matrix"]["nonzeros"] != 0) {
    legend = {{"heat h1", false, "few entries"},
              {"heat h" + std::to_string(HeatMap::kShades), false,
               "up to " + counted(static_cast<std::uint64_t>(most), "entry", "entries")}};
  }
  Figure figure("pattern-" + id, "Where the entries are", legend);
  figure.caption =
      "Every cell stands for the same number of rows and of columns, which begin at those named. "
      "Its colour says how many entries it has, on a logarithmic scale; blank: none.";
  figure.add(map, "Pattern");
  return figure;
}

Figure curve_figure(const json& result, const std::string& id) {
  Curve curve;
  for (const json& point : result["curve"]) {
    const double residual = point[1].get<double>();
    if (point[0].get<double>() >= 1 && residual > 0) curve.add(point[0].get<double>(), residual);
  }
  CurvePlot plot{{"iteration", Axis::logarithmic}, {"residual", Axis::logarithmic}, {curve}};
  Figure figure("residual-" + id, "The residual while iterating");
  figure.caption =
      "As a share of the norm of b, in the solve in which the format changed, or the first.";
  if (result["switched_at"].is_number()) {
    plot.marks.push_back(
        {std::max(1.0, result["switched_at"].get<double>()), text(result["switched_to"])});
    figure.caption += " The line marks where iterations went on in another format.";
  }
  figure.add(plot, "Residual");
  return figure;
}

Table formats_table(const json& result) {
  Table table("The formats side by side",
              {"format", ">MiB", ">a product", ">over CSR", "kernel", ""});
  table.caption =
      "Bytes of the matrix on the device, and the fastest product in each format, of all kernels "
      "and work groups, measured alone after the solve: without what goes on beside it there, and "
      "so often faster than the figures above.";
  const json& formats = result["formats"];  // CSR is the first
  for (const json& format : formats) {
    const json& us = format["measured_us"];
    const json& csr = formats[0]["measured_us"];
    const bool comparable = us.is_number() && csr.is_number() && csr.get<double>() > 0;
    table.rows.push_back(
        {text(format["format"]), significant(format["bytes"].get<double>() / (1 << 20)),
         us.is_number() ? time_of_us(us) : "no room",
         comparable ? significant(us.get<double>() / csr.get<double>()) : "-",
         text(format["kernel"]), format["format"] == result["chosen"]["format"] ? "chosen" : ""});
  }
  return table;
}

Table facts_table(const json& result) {
  Table table("What happened", {"figure", "value"});
  const json& chosen = result["chosen"];
  const json& conversion = result["conversion"];
  const json& seconds = result["seconds"];
  std::string kernel = text(chosen["kernel"]);  // "work_items_per_row"
  std::replace(kernel.begin(), kernel.end(), '_', ' ');
  table.rows = {
      {"method", text(result["method"]) + ", " + text(result["precision"])},
      {"ended", result["ended"].is_string() ? text(result["ended"]) : "-"},
      {"iterations", plain(result["iterations"])},
      {"residual", plain(result["residual"])},
      {"true residual", plain(result["true_residual"])},
      {"chosen",
       text(chosen["format"]) + ", " + kernel + ", groups of " + plain(chosen["work_group"])},
      {"a product: expected, measured, in CSR",
       time_of_us(chosen["predicted_us"]) + ", " + time_of_us(chosen["measured_us"]) +
           (chosen["times_measured"] == 1 ? " (once)" : "") + ", " + time_of_us(result["csr_us"])},
      {"conversion", text(conversion["verdict"]) + ": " + text(conversion["reason"])},
      {"it pays from products", plain(conversion["break_even_iterations"])},
      {"seconds: solves, tuning, setup",
       plain(seconds["solve"]) + ", " + plain(seconds["tuning"]) + ", " + plain(seconds["setup"])}};
  return table;
}

}  // namespace

Page solve_page(const json& results) {
  Page page;
  page.title = "Solved systems";
  page.lead =
      "What solvers ran with on this device and why: format, kernel and work group are chosen "
      "while they iterate.";
  page.totals.emplace_back(count_text(results.size()), results.size() == 1 ? "matrix" : "matrices");
  for (const json& result : results) {
    const json& matrix = result["matrix"];
    const std::string file = text(matrix["file"]);
    const std::string id = std::to_string(page.sections.size() + 1);
    Section& section = page.sections.emplace_back(
        Section{"matrix-" + id, file.substr(file.find_last_of('/') + 1), {}});
    if (result.contains("error")) {
      section.parts.emplace_back(Paragraph{text(result["error"])});
      continue;
    }
    section.parts = {Paragraph{matrix_text(matrix["rows"], matrix["columns"], matrix["nonzeros"],
                                           matrix["symmetric"] == true) +
                               "."},
                     facts_table(result), pattern_figure(result, id), formats_table(result)};
    if (result["curve"].size() > 2) section.parts.emplace_back(curve_figure(result, id));
  }
  return page;
}

}  // namespace idletune::report
