
#include "agent/host/pictures/plots.hpp"
#include "agent/host/report/numbers.hpp"

namespace idletune::report {

namespace {

Caption caption(std::size_t number, const char* what, const std::string& description) {
  return {std::string(what) + "-" + std::to_string(number), what, description};
}

// Cells of the matrix by how many entries they have, the darkest for the most.
Figure pattern_figure(const json& result, std::size_t number) {
  const json& counts = result["pattern"];  // rows of cells, from above
  HeatMap map;
  map.caption = caption(number, "Pattern", "Where the matrix has entries");
  map.x_name = "column";
  map.y_name = "row";
  double most = 1;
  for (const json& row : counts) {
    for (const json& count : row) most = std::max(most, count.get<double>());
  }
  const double rows = result["matrix"]["rows"].get<double>();
  const double columns = result["matrix"]["columns"].get<double>();
  const std::size_t side = counts.size();
  for (std::size_t y = 0; y < side; ++y) {
    const json& row = counts[side - 1 - y];
    map.y_labels.push_back(mean_count_text(
        std::floor(rows * static_cast<double>(side - 1 - y) / static_cast<double>(side))));
    for (const json& count : row) {
      const double share = std::log1p(count.get<double>()) / std::log1p(most);
      map.cells.push_back(share > 0 ? 0.4 + 0.6 * share : std::numeric_limits<double>::quiet_NaN());
    }
  }
  const std::size_t across = side > 0 ? counts[0].size() : 0;
  for (std::size_t x = 0; x < across; ++x) {
    map.x_labels.push_back(mean_count_text(
        std::floor(columns * static_cast<double>(x) / static_cast<double>(across))));
  }
  Figure figure("Where the entries are");
  figure.caption =
      "Every cell stands for the same number of rows and of columns, which begin at those named. "
      "Its colour says how many entries it has, on a logarithmic scale; blank: none.";
  figure.legend = {{"heat h1", false, "few entries"},
                   {"heat h" + std::to_string(HeatMap::kShades), false,
                    "up to " + counted(static_cast<std::uint64_t>(most), "entry", "entries")}};
  figure.panels.push_back({"Pattern", "", draw(map), ""});
  return figure;
}

Figure curve_figure(const json& result, std::size_t number) {
  CurvePlot plot;
  plot.caption = caption(number, "Residual", "The residual's norm by iteration");
  plot.x_name = "iteration";
  plot.y_name = "residual";
  plot.logarithmic_y = true;
  Curve curve;
  for (const json& point : result["curve"]) {
    const double residual = point[1].get<double>();
    if (point[0].get<double>() >= 1 && residual > 0)
      curve.points.push_back({point[0].get<double>(), residual});
  }
  plot.curves.push_back(std::move(curve));
  Figure figure("The residual while iterating");
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

Table formats_table(const json& result) {
  Table table("The formats side by side",
              {"format", ">MiB", ">a product", ">over CSR", "kernel", ""});
  table.caption =
      "Bytes of the matrix on the device, and the fastest product in each format, of all kernels "
      "and work groups, measured alone after the solve: without what goes on beside it there, and "
      "so often faster than the figures above.";
  const json& formats = result["formats"];
  const double csr = formats.empty() || !formats[0]["measured_us"].is_number()
                         ? 0
                         : formats[0]["measured_us"].get<double>();
  for (const json& format : formats) {
    const json& us = format["measured_us"];
    const bool chosen = format["format"] == result["chosen"]["format"];
    table.rows.push_back({format["format"].get<std::string>(),
                          significant(format["bytes"].get<double>() / (1 << 20)),
                          us.is_number() ? time_of_us(us) : "no room",
                          us.is_number() && csr > 0 ? significant(us.get<double>() / csr) : "-",
                          format["kernel"].get<std::string>(), chosen ? "chosen" : ""});
  }
  return table;
}

// "work_items_per_row" of the JSON.
std::string words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

Table facts_table(const json& result) {
  Table table("What happened", {"figure", "value"});
  const json& conversion = result["conversion"];
  table.rows = {
      {"method",
       result["method"].get<std::string>() + ", " + result["precision"].get<std::string>()},
      {"ended", result["ended"].get<std::string>()},
      {"iterations", plain(result["iterations"])},
      {"residual", plain(result["residual"])},
      {"true residual", plain(result["true_residual"])},
      {"chosen", result["chosen"]["format"].get<std::string>() + ", " +
                     words(result["chosen"]["kernel"].get<std::string>()) + ", groups of " +
                     count_text(result["chosen"]["work_group"].get<std::uint64_t>())},
      {"a product: expected, measured, in CSR",
       time_of_us(result["chosen"]["predicted_us"]) + ", " +
           time_of_us(result["chosen"]["measured_us"]) +
           (result["chosen"]["times_measured"] == 1 ? " (once)" : "") + ", " +
           time_of_us(result["csr_us"])},
      {"conversion",
       conversion["verdict"].get<std::string>() + ": " + conversion["reason"].get<std::string>()},
      {"it pays from iterations", plain(conversion["break_even_iterations"])},
      {"seconds: solves, tuning, setup", plain(result["seconds"]["solve"]) + ", " +
                                             plain(result["seconds"]["tuning"]) + ", " +
                                             plain(result["seconds"]["setup"])}};
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
  std::size_t number = 0;
  for (const json& result : results) {
    const std::string file = result["matrix"]["file"].get<std::string>();
    Section section{
        "matrix-" + std::to_string(++number), file.substr(file.find_last_of('/') + 1), {}};
    if (result.contains("error")) {
      section.parts.push_back(Paragraph{result["error"].get<std::string>()});
      page.sections.push_back(std::move(section));
      continue;
    }
    section.parts.push_back(
        Paragraph{counted(result["matrix"]["rows"].get<std::uint64_t>(), "row", "rows") + ", " +
                  counted(result["matrix"]["nonzeros"].get<std::uint64_t>(), "entry", "entries") +
                  (result["matrix"]["symmetric"] == true ? ", symmetric." : ".")});
    section.parts.push_back(facts_table(result));
    section.parts.push_back(pattern_figure(result, number));
    section.parts.push_back(formats_table(result));
    if (result["curve"].size() > 2) section.parts.push_back(curve_figure(result, number));
    page.sections.push_back(std::move(section));
  }
  return page;
}

}  // namespace idletune::report
