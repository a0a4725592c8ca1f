// idletune importance H...: what each tuning parameter says about the run time.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "agent/cli/explanation_output.hpp"
#include "agent/cli/histories.hpp"
#include "agent/cli/kernel_file.hpp"
#include "agent/cli/named_kind.hpp"
#include "agent/cli/verbs.hpp"
#include "models/insight/importance.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::cli {

namespace {

struct ImportanceArguments {
  std::vector<std::string> histories;
  std::vector<std::string> kernels;
  std::vector<std::string> kinds;
};

using Kinds = std::map<std::string, ParameterKind>;

// What the kernels' files say; NAME=KIND is the last word.
Result<Kinds> kinds_of(const ImportanceArguments& arguments) {
  Kinds kinds;
  for (const std::string& path : arguments.kernels) {
    auto bytes = read_kernel(path);
    if (!bytes.ok()) return bytes.status();
    const auto package = KernelPackage::open(std::move(*bytes), path);
    if (!package.ok()) return package.status();
    const Space& space = (*package)->space();
    for (std::size_t p = 0; p < space.parameter_count(); ++p) {
      kinds[std::string(space.parameter_name(p))] = space.parameter_kind(p);
    }
  }
  for (const std::string& text : arguments.kinds) {
    const Result<NamedKind> named = named_kind(text);
    if (!named.ok()) return named.status();
    kinds[named->name] = named->kind;
  }
  return kinds;
}

nlohmann::json result_of(const Importance& importance, const Kinds& kinds) {
  nlohmann::json parameters = nlohmann::json::array();
  for (const ParameterImportance& p : importance.parameters) {
    const auto kind = kinds.find(p.name);
    const nlohmann::json kind_name = kind == kinds.end()
                                         ? nlohmann::json(nullptr)
                                         : nlohmann::json(parameter_kind_name(kind->second));
    parameters.push_back({{"name", p.name},
                          {"kind", kind_name},
                          {"values", p.values},
                          {"information", p.information},
                          {"corrected", p.corrected},
                          {"relative", p.relative},
                          {"failure_information", p.failure_information}});
  }
  return {{"kernel", importance.kernel},
          {"device", importance.device},
          {"correct", importance.correct},
          {"failed", importance.failed},
          {"bins", importance.bins},
          {"time_entropy", importance.time_entropy},
          {"unit", "bits"},
          {"parameters", parameters}};
}

std::string bits(double information) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.4f", information);
  return buffer;
}

void print_readable(const nlohmann::json& results, const CliContext& context) {
  for (const auto& r : results) {
    context.print(r["kernel"].get<std::string>() + " on " + r["device"].get<std::string>() + ": " +
                  std::to_string(r["correct"].get<std::size_t>()) + " run times in " +
                  std::to_string(r["bins"].get<std::size_t>()) + " bins (" +
                  bits(r["time_entropy"]) + " bits), " +
                  std::to_string(r["failed"].get<std::size_t>()) + " failed");
    TextTable table({{"parameter"},
                     {"kind"},
                     {"values", Align::right},
                     {"bits", Align::right},
                     {"corrected", Align::right},
                     {"of highest", Align::right},
                     {"about failing", Align::right}});
    std::vector<nlohmann::json> parameters = r["parameters"];
    std::stable_sort(parameters.begin(), parameters.end(), [](const auto& a, const auto& b) {
      return a["information"].template get<double>() > b["information"].template get<double>();
    });
    for (const auto& p : parameters) {
      table.add_row({p["name"], p["kind"].is_null() ? "-" : p["kind"].get<std::string>(),
                     std::to_string(p["values"].get<std::size_t>()), bits(p["information"]),
                     bits(p["corrected"]), format_percent(p["relative"].get<double>()),
                     bits(p["failure_information"])});
    }
    context.print(table);
  }
}

void run_importance(const ImportanceArguments& arguments, CliContext& context) {
  const auto kinds = kinds_of(arguments);
  if (!kinds.ok()) return context.fail(kinds.status());
  const auto histories = load_histories(arguments.histories);
  if (!histories.ok()) return context.fail(histories.status());
  nlohmann::json results = nlohmann::json::array();
  for (const History& history : *histories)
    results.push_back(result_of(importance_of(history), *kinds));
  if (context.json()) return context.print_json({{"results", results}});
  print_readable(results, context);
}

}  // namespace

void add_importance_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<ImportanceArguments>();
  Verb verb =
      line.add_verb("importance", "tells how much each tuning parameter says about the run time");
  verb.option("histories", arguments->histories, "Histories (.ithistory, or what import reads)")
      .required();
  verb.option(
          "--kernel", arguments->kernels,
          "Kernel description or package that says what kind its parameters are; may be repeated")
      .one_at_a_time();
  verb.option("--kind", arguments->kinds, "Kind of the parameters of that name; may be repeated")
      .value_name("NAME=KIND")
      .one_at_a_time();
  verb.example("importance gemm.ithistory --kernel kernels/gemm/gemm.xml");
  context.add_json_flag(verb);
  verb.runs([arguments, &context] { run_importance(*arguments, context); });
}

}  // namespace idletune::cli
