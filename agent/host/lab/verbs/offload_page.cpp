
#include "agent/host/pictures/plots.hpp"
#include "agent/host/report/numbers.hpp"

namespace idletune::report {

namespace {

double value_of(const json& value) { return value.is_number() ? value.get<double>() : 0; }

std::vector<std::string> row_of(const std::string& name, const json& f) {
  return {name,
          count_text(f["samples"].get<std::uint64_t>()),
          percent(f["error"]["median"]),
          percent(f["error"]["published"]),
          percent(f["coverage"]["p80"]),
          plain(f["choice"]["ratio"]),
          plain(f["choice"]["always_cpu"]),
          plain(f["choice"]["always_gpu"]),
          percent(f["unknown"]),
          percent(f["wrong"])};
}

Table table_of(const std::string& title, const std::string& caption, const std::string& first) {
  Table table(title, {{first},
                      ">samples",
                      ">median error",
                      ">as published",
                      ">80 % covers",
                      ">choices",
                      ">always CPU",
                      ">always GPU",
                      ">unknown",
                      ">wrong"});
  table.caption = caption;
  return table;
}

Section figures_section(const json& result) {
  Section section{"figures", "What the predictions were worth", {}};
  Table table = table_of("Errors, intervals and choices",
                         "Error: of the GPU's time. Choices, always CPU and always GPU: total time "
                         "over that of the better device each time. Unknown: without a verdict. "
                         "Wrong: of the verdicts that were given.",
                         "samples of");
  const std::string left_out = result.value("left_out", "nothing");
  table.rows.push_back(row_of("all, " + left_out + " left out", result));
  if (result.contains("leaky"))
    table.rows.push_back(row_of("all, random tenths left out", result["leaky"]));
  for (const json& part : result.value("parts", json::array()))
    table.rows.push_back(row_of(part.value("group", ""), part));
  section.parts.emplace_back(std::move(table));
  if (result.contains("leaky")) {
    section.parts.emplace_back(
        Paragraph{"Random tenths leak: they hold samples that resemble those learned from. The "
                  "first row is what new code gets.",
                  true});
  }
  return section;
}

Section class_section(const json& result) {
  Section section{"classes", "By speed-up", {}};
  Table table = table_of("Samples by the GPU's measured speed-up",
                         "The classes of Ardalani et al. 2015.", "speed-up up to");
  for (const json& one : result.value("classes", json::array()))
    table.rows.push_back(row_of(one["up_to"].is_number() ? plain(one["up_to"]) : "any", one));
  section.parts.emplace_back(std::move(table));
  return section;
}

Section risk_section(const json& result) {
  Section section{"risk", "If only the most certain verdicts were given", {}};
  const json risk = result.value("risk", json::array());
  Curve wrong;
  Curve realised;
  Curve expected;
  expected.series = 2;
  for (const json& point : risk) {
    const double answered = value_of(point["answered"]);
    wrong.points.push_back({answered, value_of(point["wrong"])});
    realised.points.push_back({answered, value_of(point["regret_ms"])});
    expected.points.push_back({answered, value_of(point["expected_ms"])});
  }
  CurvePlot shares;
  shares.caption = {"offload-risk", "Wrong verdicts over verdicts given", ""};
  shares.x_name = "share of samples with a verdict";
  shares.y_name = "of these wrong";
  shares.percentages = true;
  shares.x_percentages = true;
  shares.linear_x = true;
  shares.curves = {wrong};
  CurvePlot regrets;
  regrets.caption = {"offload-regret", "Regret, expected and realised, over verdicts given", ""};
  regrets.x_name = "share of samples with a verdict";
  regrets.y_name = "regret, ms per sample";
  regrets.x_percentages = true;
  regrets.linear_x = true;
  regrets.curves = {realised, expected};
  Figure figure("Risk and regret",
                {{"curve s1", false, "measured"}, {"curve s2", false, "expected"}});
  figure.caption = "Samples in the order of how certain their verdict is, the most certain first.";
  figure.panels.push_back({"wrong", "", draw(shares), ""});
  figure.panels.push_back({"regret", "", draw(regrets), ""});
  section.parts.emplace_back(std::move(figure));
  return section;
}

}  // namespace

Page offload_page(const json& result) {
  Page page;
  page.title = "Offloading: predictions on " + result.value("set", "samples");
  page.lead = "Each group of samples (" + result.value("left_out", "nothing") +
              ") was left out of the learning and then predicted.";
  if (!result.value("complete", true)) page.lead += " Stopped early: some are missing.";
  const std::string device = result.value("device", "");
  if (!device.empty()) page.lead += " GPU: " + device + ".";
  page.totals = {{count_text(result["samples"].get<std::uint64_t>()), "samples"},
                 {count_text(result["groups"].get<std::uint64_t>()), "groups"},
                 {percent(result["error"]["median"]), "median error"},
                 {percent(result["unknown"]), "unknown"}};
  page.sections.push_back(figures_section(result));
  if (!result.value("classes", json::array()).empty())
    page.sections.push_back(class_section(result));
  if (result.value("risk", json::array()).size() > 1) page.sections.push_back(risk_section(result));
  return page;
}

}  // namespace idletune::report
