// idletune ask M --kernel K --device D --shape S: what would run there first, and why.

#include "agent/api/model_file.hpp"
#include "agent/host/cli/explanation_output.hpp"
#include "agent/host/cli/kernel_file.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/search/searchers.hpp"
#include "agent/tuning/planned_groups.hpp"
#include "models/devices/device_kind.hpp"
#include "models/devices/source_affinity.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::cli {

namespace {

struct AskArguments {
  std::string model;
  std::string kernel;
  std::string device;
  std::string shape;
  std::size_t count = 5;
};

const char* origin_name(ProposalOrigin origin) {
  switch (origin) {
    case ProposalOrigin::first_pick: return "first pick";
    case ProposalOrigin::portfolio: return "portfolio";
    case ProposalOrigin::learned: return "structure";  // nothing was measured, so nothing learned
    default: return "drawn";
  }
}

// What the model expects of a configuration of its portfolio on a device that it does not know;
// null: it is not in there.
json expected_of(const KernelKnowledge& knowledge, const SpaceMapping& mapping,
                 const Configuration& configuration) {
  for (std::size_t i = 0; i < knowledge.portfolio_size(); ++i) {
    if (mapping.map(knowledge.portfolio_values(i)) == configuration)
      return knowledge.portfolio_score(i);
  }
  return nullptr;
}

// What was measured, and how much each counts for this device.
json sources_of(const KernelKnowledge& knowledge, const std::string& device) {
  return list_of(knowledge.source_count(), [&](std::size_t i) -> json {
    const HistoricalSource source = knowledge.source(i);
    return {{"device", std::string(source.device)},
            {"shape", report::shape_text(source.shape)},
            {"other_kind", of_other_kind(device_kind(source.device), device_kind(device))},
            {"weight", source_affinity(device, source.device)}};
  });
}

std::string reason_of(const json& answer) {
  const std::string quality = answer["first_pick_quality"];
  if (quality == "exact") return "it was measured on this device at this shape";
  if (quality == "selector") return "a tree over shapes that were measured on this device says so";
  if (quality == "nearest_shape") return "it was measured on this device, at another shape";
  if (quality == "published") return "it is published for this device";
  if (quality == "other_device")
    return "other devices, or what is published for its family, say so";
  if (quality == "structure")
    return "nothing is known of devices of this kind: the first trials fill a GPU's warps";
  if (quality == "other_kind") return "nothing is known but devices of another kind";
  return "the model says nothing: the default runs";
}

void print_readable(const json& answer, CliContext& context) {
  context.print_paragraph(answer["kernel"].get<std::string>() + " at " +
                          answer["problem"].get<std::string>() + " on " +
                          answer["device"].get<std::string>() + ": " + reason_of(answer));
  TextTable table({"trial", "from", ">group", ">expected", "configuration"});
  std::size_t number = 0;
  for (const json& trial : answer["trials"]) {
    const json& expected = trial["expected"];
    table.add_row({std::to_string(++number), trial["origin"],
                   report::count_text(trial["group_items"].get<std::uint64_t>()),
                   expected.is_null() ? "-" : report::percent_text(expected.get<double>()),
                   trial["configuration"]});
  }
  context.print(table);
  TextTable sources({"evidence", "at", ">weight", "kind"});
  for (const json& source : answer["sources"]) {
    sources.add_row({source["device"], source["shape"],
                     report::significant(source["weight"].get<double>()),
                     source["other_kind"].get<bool>() ? "another" : "the same"});
  }
  context.print(sources);
}

void run_ask(const AskArguments& arguments, CliContext& context) {
  const auto model = must(read_model(arguments.model));
  const auto package =
      must(KernelPackage::open(must(read_kernel(arguments.kernel)), arguments.kernel));
  const Shape shape = package->inputs().with_features(must(parse_problem(arguments.shape)));
  const Configuration& fallback = package->default_configuration();
  LaunchPlan plan;
  must(package->plan(shape, fallback, plan));
  const KernelKnowledge* knowledge =
      model->kernel(package->name(), package->space(), package->inputs().names());
  const PlannedGroups groups(*package, shape);
  SearcherOptions options;
  options.shape = shape;
  options.device = arguments.device;
  options.fallback = fallback;
  if (device_kind(arguments.device) == DeviceKind::gpu) options.work_groups = &groups;
  const bool structured = begins_by_structure(package->space(), knowledge, options);
  std::optional<SpaceMapping> mapping;
  json answer = {{"kernel", std::string(package->name())},
                 {"device", arguments.device},
                 {"problem", package->inputs().problem_text(shape)},
                 {"first_pick_quality", structured ? "structure" : "default"},
                 {"trials", json::array()},
                 {"sources", json::array()}};
  const auto searcher = make_product_searcher(package->space(), knowledge, options);
  searcher->exclude(fallback);
  if (knowledge != nullptr) {
    mapping.emplace(*knowledge, package->space(), fallback);
    const auto pick = first_pick_of(package->space(), *knowledge, options);
    if (pick) answer["first_pick_quality"] = pick_quality_name(pick->quality);
    answer["sources"] = sources_of(*knowledge, arguments.device);
  }
  for (std::size_t i = 0; i < arguments.count; ++i) {
    const auto proposal = searcher->ask();
    if (!proposal) break;
    const Configuration& configuration = proposal->configuration;
    const json expected = mapping ? expected_of(*knowledge, *mapping, configuration) : nullptr;
    answer["trials"].push_back({{"origin", origin_name(proposal->origin)},
                                {"configuration", to_text(package->space(), configuration)},
                                {"group_items", groups.items(configuration)},
                                {"expected", expected}});
  }
  if (context.json()) return context.print_json(answer);
  print_readable(answer, context);
}

}  // namespace

void add_ask_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<AskArguments>();
  Verb verb = line.add_verb("ask", "tells what would be tried first on a device, and why");
  verb.required("model", arguments->model, "Model file (.itmodel)");
  verb.required("--kernel FILE", arguments->kernel, "Package or XML");
  verb.required("--device NAME", arguments->device, "The device, as its driver names it");
  verb.required("--shape SHAPE", arguments->shape,
                "Problem size, such as 256,256,256; features behind a colon")
      .checked(wrong_with_problem);
  verb.option("-n,--count", arguments->count, "So many trials").between(1, 1000);
  verb.example("ask idletune.itmodel --kernel gemm.itkernel --device Mali-G610 --shape 64,64,64");
  verb.runs([arguments, &context] { run_ask(*arguments, context); });
}

}  // namespace idletune::cli
