#include "agent/host/cli/pruned_space.hpp"

#include "agent/host/report/numbers.hpp"

namespace idletune::cli {

void add_pruning_options(Verb verb, PruneArguments& arguments) {
  verb.required("history", arguments.history,
                "History that decides (.ithistory, or what import reads)");
  verb.option("--method", arguments.method, "naive, aggressive or conservative")
      .one_of({"naive", "aggressive", "conservative"});
  verb.option("--check", arguments.checked,
              "Histories of other devices to try the pruned space on");
  verb.option("--information", arguments.options.information_share,
              "Share of the highest mutual information below which a parameter matters little")
      .between(0.0, 1.0)
      .acts("with --method naive or conservative",
            [&arguments] { return arguments.method != "aggressive"; });
  verb.option("--retention", arguments.options.retention,
              "Share of the best performance that must be kept on the deciding device")
      .between(0.0, 1.0)
      .acts("with --method aggressive or conservative",
            [&arguments] { return arguments.method != "naive"; });
}

PrunedSpace read_and_prune(const PruneArguments& arguments) {
  PrunedSpace space;
  space.histories = must(load_histories(arguments.history));
  if (space.histories.size() != 1) {
    throw Failure(StatusCode::invalid_argument, "%: expected one history to prune with, found %",
                  arguments.history, space.histories.size());
  }
  std::vector<History> others;
  for (const std::string& file : arguments.checked) {
    for (History& other : must(load_histories({file}))) {
      if (other.kernel != space.histories.front().kernel) {
        throw Failure(StatusCode::invalid_argument, "%: is of the kernel %, expected %", file,
                      other.kernel, space.histories.front().kernel);
      }
      others.push_back(std::move(other));
    }
  }
  space.pruning =
      must(prune(space.histories.front(),
                 pruning_method_from_name(arguments.method).value_or(PruningMethod::conservative),
                 arguments.options));
  for (History& other : others) space.histories.push_back(std::move(other));
  return space;
}

json pruning_object(const Pruning& pruning, const std::string& method) {
  const json pruned = list_of(pruning.pruned, [](const PrunedParameter& p) {
    return IDLETUNE_FIELDS(p, name, value, information, at_median);
  });
  return joined(IDLETUNE_FIELDS(pruning, kernel, device, kept, constant, configurations, remaining),
                {{"method", method}, {"pruned", pruned}, {"reduction", pruning.reduction()}});
}

void print_pruning(const json& object, const CliContext& context) {
  const auto count = [&](const char* name) {
    return report::count_text(object[name].get<std::uint64_t>());
  };
  context.print_paragraph(
      object["kernel"].get<std::string>() + " on " + object["device"].get<std::string>() + ", " +
      object["method"].get<std::string>() + " pruning: " + count("configurations") +
      " configurations become " + count("remaining") + " (" +
      report::significant(object["reduction"]) + " times fewer), " +
      std::to_string(object["pruned"].size()) + " of " +
      std::to_string(object["pruned"].size() + object["kept"].size()) + " parameters pinned");
  TextTable parameters({"parameter", "pinned to", ">bits"});
  for (const auto& p : object["pruned"]) {
    parameters.add_row(
        {p["name"],
         p["value"].get<std::string>() + (p["at_median"] ? "" : " (nearest to the median)"),
         report::significant(p["information"])});
  }
  for (const auto& name : object["kept"]) parameters.add_row({name, "(kept)"});
  context.print(parameters);
}

}  // namespace idletune::cli
