// idletune importance H...: what each tuning parameter says about the run time.

#include "agent/host/cli/explanation_output.hpp"
#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/kernel_file.hpp"
#include "agent/host/cli/verbs.hpp"
#include "models/host/insight/importance.hpp"
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
    const auto package = must(KernelPackage::open(must(read_kernel(path)), path));
    const Space& space = package->space();
    for (std::size_t p = 0; p < space.parameter_count(); ++p) {
      kinds[std::string(space.parameter_name(p))] = space.parameter_kind(p);
    }
  }
  for (const std::string& text : arguments.kinds) {
    const auto named = must(named_kind(text));
    kinds[named.name] = named.kind;
  }
  return kinds;
}

json result_of(const History& history, const Kinds& kinds) {
  const Importance importance = importance_of(history);
  const json parameters = list_of(importance.parameters, [&](const ParameterImportance& p) {
    const auto kind = kinds.find(p.name);
    const json name = kind == kinds.end() ? json() : json(parameter_kind_name(kind->second));
    return joined(
        IDLETUNE_FIELDS(p, name, values, information, corrected, relative, failure_information),
        {{"kind", name}});
  });
  return joined(IDLETUNE_FIELDS(importance, kernel, device, correct, failed, bins, time_entropy),
                {{"shape", report::shape_object(history.shape)},
                 {"problem", problem_object(history)},
                 {"unit", "bits"},
                 {"parameters", parameters}});
}

std::string bits(double information) { return report::significant(information); }

void print_readable(const json& results, const std::vector<std::string>& problems,
                    const CliContext& context) {
  using report::count_text;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const json& r = results[i];
    if (i > 0) context.print("");
    context.print_paragraph(
        r["kernel"].get<std::string>() + " " + (problems.empty() ? "" : problems[i] + " ") + "on " +
        r["device"].get<std::string>() + ": " + count_text(r["correct"].get<std::uint64_t>()) +
        " run times in " + count_text(r["bins"].get<std::uint64_t>()) + " bins (" +
        bits(r["time_entropy"]) + " bits), " + count_text(r["failed"].get<std::uint64_t>()) +
        " failed");
    TextTable table(
        {"parameter", "kind", ">values", ">bits", ">corrected", ">of highest", ">about failing"});
    std::vector<json> parameters = r["parameters"];
    std::stable_sort(parameters.begin(), parameters.end(), [](const auto& a, const auto& b) {
      return a["information"].template get<double>() > b["information"].template get<double>();
    });
    for (const auto& p : parameters) {
      table.add_row({p["name"], p["kind"].is_null() ? "-" : p["kind"].get<std::string>(),
                     std::to_string(p["values"].get<std::size_t>()), bits(p["information"]),
                     bits(p["corrected"]), report::percent_text(p["relative"].get<double>()),
                     bits(p["failure_information"])});
    }
    context.print(table);
  }
}

void run_importance(const ImportanceArguments& arguments, CliContext& context) {
  const auto kinds = must(kinds_of(arguments));
  const auto loaded = must(load_with_files(arguments.histories));
  json results = json::array();
  for (std::size_t i = 0; i < loaded.histories.size(); ++i) {
    results.push_back(result_of(loaded.histories[i], kinds));
    results.back()["file"] = loaded.files[i];
  }
  if (context.json()) return context.print_json({{"results", results}});
  print_readable(results, problem_column(loaded), context);
}

}  // namespace

void add_importance_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<ImportanceArguments>();
  Verb verb =
      line.add_verb("importance", "tells how much each tuning parameter says about the run time");
  verb.required("histories", arguments->histories, "Histories (.ithistory, or what import reads)");
  verb.option(
          "--kernel", arguments->kernels,
          "Kernel description or package that says what kind its parameters are; may be repeated")
      .one_at_a_time();
  verb.option("--kind NAME=KIND", arguments->kinds,
              "Kind of the parameters of that name; may be repeated")
      .checked(wrong_with_kind)
      .one_at_a_time();
  verb.example("importance gemm.ithistory --kernel kernels/gemm/gemm.xml");
  verb.runs([arguments, &context] { run_importance(*arguments, context); });
}

}  // namespace idletune::cli
