#include "agent/cli/report/solve_page.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include "agent/cli/report/json_numbers.hpp"
#include "agent/cli/report/numbers.hpp"
#include "agent/cli/report/plots.hpp"

namespace idletune::report {

namespace {

using Json = nlohmann::json;

Caption caption(std::size_t number, const char* what, const std::string& description) {
  return {std::string(what) + "-" + std::to_string(number), what, description};
}

// Cells of the matrix by how many entries they have, the darkest for the most.
Figure pattern_figure(const Json& result, std::size_t number) {
  const Json& counts = result["pattern"];  // rows of cells, from above
  HeatMap map;
  map.caption = caption(number, "Pattern", "Where the matrix has entries");
  map.x_name = "column";
  map.y_name = "row";
  double most = 1;
  for (const Json& row : counts) {
    for (const Json& count : row) most = std::max(most, count.get<double>());
  }
  const double rows = result["matrix"]["rows"].get<double>();
  const double columns = result["matrix"]["columns"].get<double>();
  const std::size_t side = counts.size();
  for (std::size_t y = 0; y < side; ++y) {
    const Json& row = counts[side - 1 - y];
    map.y_labels.push_back(
        plain(std::floor(rows * static_cast<double>(side - 1 - y) / static_cast<double>(side))));
    for (const Json& count : row) {
      const double share = std::log1p(count.get<double>()) / std::log1p(most);
      map.cells.push_back(share > 0 ? 0.4 + 0.6 * share : std::numeric_limits<double>::quiet_NaN());
    }
  }
  const std::size_t across = side > 0 ? counts[0].size() : 0;
  for (std::size_t x = 0; x < across; ++x) {
    map.x_labels.push_back(
        plain(std::floor(columns * static_cast<double>(x) / static_cast<double>(across))));
  }
  Figure figure;
  figure.title = "Where the entries are";
  figure.caption = "Darker: more entries in a cell, on a logarithmic scale; blank: none.";
  figure.panels.push_back({"Pattern", "", draw(map), ""});
  return figure;
}

Figure curve_figure(const Json& result, std::size_t number) {
  CurvePlot plot;
  plot.caption = caption(number, "Residual", "The residual's norm by iteration");
  plot.x_name = "iteration";
  plot.y_name = "residual";
  plot.logarithmic_y = true;
  Curve curve;
  for (const Json& point : result["curve"]) {
    const double residual = point[1].get<double>();
    if (point[0].get<double>() >= 1 && residual > 0)
      curve.points.push_back({point[0].get<double>(), residual});
  }
  plot.curves.push_back(std::move(curve));
  Figure figure;
  figure.title = "The residual while iterating";
  figure.caption =
      "As a share of the norm of b, in the solve in which the format changed, or the first.";
  if (result["switched_at"].is_number()) {
    plot.marks.push_back({std::max(1.0, result["switched_at"].get<double>()),
                          result["switched_to"].get<std::string>()});
    figure.caption += " The line marks where iterations went on in another format.";
  }
  figure.panels.push_back({"Residual", "", draw(plot), ""});
  return figure;
}

Table formats_table(const Json& result) {
  Table table;
  table.title = "The formats side by side";
  table.caption =
      "Bytes of the matrix on the device, and the fastest product in each format, of all kernels "
      "and "
      "work groups, measured after the solve.";
  table.columns = {{"format"},         {"MiB", true}, {"us a product", true},
                   {"over CSR", true}, {"kernel"},    {""}};
  const Json& formats = result["formats"];
  const double csr = formats.empty() || !formats[0]["measured_us"].is_number()
                         ? 0
                         : formats[0]["measured_us"].get<double>();
  for (const Json& format : formats) {
    const Json& us = format["measured_us"];
    const bool chosen = format["format"] == result["chosen"]["format"];
    table.rows.push_back({format["format"].get<std::string>(),
                          significant(format["bytes"].get<double>() / (1 << 20)),
                          us.is_number() ? plain(us) : "no room",
                          us.is_number() && csr > 0 ? significant(us.get<double>() / csr) : "-",
                          format["kernel"].get<std::string>(), chosen ? "chosen" : ""});
  }
  return table;
}

Table facts_table(const Json& result) {
  Table table;
  table.title = "What happened";
  table.columns = {{"figure"}, {"value"}};
  const Json& conversion = result["conversion"];
  table.rows = {{"method", result["method"].get<std::string>() + ", " +
                               result["precision"].get<std::string>()},
                {"ended", result["ended"].get<std::string>()},
                {"iterations", plain(result["iterations"])},
                {"residual", plain(result["residual"])},
                {"true residual", plain(result["true_residual"])},
                {"chosen", result["chosen"]["format"].get<std::string>() + ", " +
                               result["chosen"]["kernel"].get<std::string>() + ", groups of " +
                               count_text(result["chosen"]["work_group"].get<std::uint64_t>())},
                {"us a product: expected, measured, in CSR",
                 plain(result["chosen"]["predicted_us"]) + ", " +
                     plain(result["chosen"]["measured_us"]) + ", " + plain(result["csr_us"])},
                {"conversion", conversion["verdict"].get<std::string>() + ": " +
                                   conversion["reason"].get<std::string>()},
                {"it pays from iterations", plain(conversion["break_even_iterations"])},
                {"seconds: solves, tuning, setup", plain(result["seconds"]["solve"]) + ", " +
                                                       plain(result["seconds"]["tuning"]) + ", " +
                                                       plain(result["seconds"]["setup"])}};
  return table;
}

}  // namespace

Page solve_page(const Json& results) {
  Page page;
  page.title = "Solved systems";
  page.lead =
      "What solvers ran with on this device and why: format, kernel and work group are chosen "
      "while "
      "they iterate.";
  page.totals.emplace_back(std::to_string(results.size()), "matrices");
  std::size_t number = 0;
  for (const Json& result : results) {
    const std::string file = result["matrix"]["file"].get<std::string>();
    Section section{
        "matrix-" + std::to_string(++number), file.substr(file.find_last_of('/') + 1), {}};
    if (result.contains("error")) {
      section.parts.push_back(Paragraph{result["error"].get<std::string>()});
      page.sections.push_back(std::move(section));
      continue;
    }
    section.parts.push_back(Paragraph{
        plain(result["matrix"]["rows"]) + " rows, " + plain(result["matrix"]["nonzeros"]) +
        " entries" + (result["matrix"]["symmetric"] == true ? ", symmetric." : ".")});
    section.parts.push_back(facts_table(result));
    section.parts.push_back(pattern_figure(result, number));
    section.parts.push_back(formats_table(result));
    if (result["curve"].size() > 2) section.parts.push_back(curve_figure(result, number));
    page.sections.push_back(std::move(section));
  }
  return page;
}

}  // namespace idletune::report
