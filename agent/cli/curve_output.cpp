#include "agent/cli/curve_output.hpp"

#include <cstdio>

#include <nlohmann/json.hpp>

namespace idletune::cli {

namespace {

struct NamedAxis {
  CurveAxis axis;
  const char* name;
};
constexpr NamedAxis kAxes[] = {{CurveAxis::evaluations, "evaluations"},
                               {CurveAxis::tuning_ms, "tuning_ms"}};

// As RFC 4180 wants it: quoted where needed.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

nlohmann::json curves_json(const std::vector<SimulatedSearch>& searches) {
  nlohmann::json curves;
  for (const NamedAxis& each : kAxes) {
    nlohmann::json& points = curves[each.name] = nlohmann::json::array();
    for (const CurvePoint& point : performance_curve(searches, each.axis)) {
      points.push_back(
          {{"at", point.at}, {"mean", point.mean}, {"median", point.median}, {"p10", point.p10}});
    }
  }
  return curves;
}

std::string curves_csv(const std::string& target, const std::string& searcher,
                       const std::vector<SimulatedSearch>& searches) {
  std::string lines;
  for (const NamedAxis& each : kAxes) {
    const std::string begin = csv_cell(target) + "," + csv_cell(searcher) + "," + each.name;
    for (const CurvePoint& point : performance_curve(searches, each.axis)) {
      char numbers[128];
      std::snprintf(numbers, sizeof numbers, ",%.9g,%.6f,%.6f,%.6f\n", point.at, point.mean,
                    point.median, point.p10);
      lines += begin + numbers;
    }
  }
  return lines;
}

}  // namespace idletune::cli
