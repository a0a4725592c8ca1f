#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"

namespace idletune::report {
namespace {

// One row per group of samples, each with its name.
Table table_of(const std::string& title, const std::string& caption, const std::string& first,
               const std::vector<std::pair<std::string, json>>& groups) {
  Table table(title, {first, ">samples", ">median error", ">as published", ">80 % covers",
                      ">choices", ">always CPU", ">always GPU", ">unknown", ">wrong"});
  table.caption = caption;
  for (const auto& [name, f] : groups) {
    const json& choice = f.at("choice");
    table.rows.push_back({name, plain(f.at("samples")), percent(f.at("error").at("median")),
                          percent(f.at("error").at("published")),
                          percent(f.at("coverage").at("p80")), plain(choice.at("ratio")),
                          plain(choice.at("always_cpu")), plain(choice.at("always_gpu")),
                          percent(f.at("unknown")), percent(f.at("wrong"))});
  }
  return table;
}

Section figures_section(const json& result) {
  std::vector<std::pair<std::string, json>> groups{
      {"all, " + result.value("left_out", "nothing") + " left out", result}};
  const bool leaky = result.contains("leaky");
  if (leaky) groups.emplace_back("all, random tenths left out", result["leaky"]);
  for (const json& part : result.value("parts", json::array()))
    groups.emplace_back(part.value("group", ""), part);
  Section section{"figures",
                  "What the predictions were worth",
                  {table_of("Errors, intervals and choices",
                            "Error: of the GPU's time. Choices, always CPU and always GPU: total "
                            "time over that of the better device each time. Unknown: without a "
                            "verdict. Wrong: of the verdicts that were given.",
                            "samples of", groups)}};
  if (leaky)
    section.parts.emplace_back(
        Paragraph{"Random tenths leak: they hold samples that resemble those learned from. The "
                  "first row is what new code gets.",
                  true});
  return section;
}

Section class_section(const json& classes) {
  std::vector<std::pair<std::string, json>> groups;
  for (const json& one : classes)
    groups.emplace_back(one["up_to"].is_number() ? plain(one["up_to"]) : "any", one);
  return {"classes",
          "By speed-up",
          {table_of("Samples by the GPU's measured speed-up",
                    "The classes of Ardalani et al. 2015.", "speed-up up to", groups)}};
}

Section risk_section(const json& risk) {
  const auto number = [](const json& value) { return value.is_number() ? value.get<double>() : 0; };
  const auto curve_of = [&](int series, const char* y) {
    Curve curve{series};
    for (const json& point : risk) curve.add(number(point["answered"]), number(point[y]));
    return curve;
  };
  const Axis answered{"share of samples with a verdict", Axis::shares};
  Figure figure("offload", "Risk and regret",
                {{"curve s1", false, "measured"}, {"curve s2", false, "expected"}});
  const Curve realised = curve_of(1, "regret_ms"), expected = curve_of(2, "expected_ms");
  figure.add(CurvePlot{answered, {"of these wrong", Axis::shares}, {curve_of(1, "wrong")}},
             "wrong");
  figure.add(CurvePlot{answered, {"regret, ms per sample"}, {realised, expected}}, "regret");
  figure.caption = "Samples in the order of how certain their verdict is, the most certain first.";
  return {"risk", "If only the most certain verdicts were given", {figure}};
}

}  // namespace

Page offload_page(const json& result) {
  Page page;
  page.title = "Offloading: predictions on " + result.value("set", "samples");
  const std::string left_out = result.value("left_out", "nothing");
  page.lead = left_out == "nothing" ? "Predicted by a model that was given."
                                    : "Each group of samples (" + left_out +
                                          ") was left out of the learning and then predicted.";
  if (!result.value("complete", true)) page.lead += " Stopped early: some are missing.";
  if (const std::string device = result.value("device", ""); !device.empty())
    page.lead += " GPU: " + device + ".";
  page.totals = {{plain(result["samples"]), "samples"},
                 {plain(result["groups"]), "groups"},
                 {percent(result["error"]["median"]), "median error"},
                 {percent(result["unknown"]), "unknown"}};
  page.sections.push_back(figures_section(result));
  const json classes = result.value("classes", json::array());
  const json risk = result.value("risk", json::array());
  if (!classes.empty()) page.sections.push_back(class_section(classes));
  if (risk.size() > 1) page.sections.push_back(risk_section(risk));
  return page;
}

}  // namespace idletune::report
