// idletune learn H... -o M: trains a model and says how well it would have done on each device.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "agent/cli/histories.hpp"
#include "agent/cli/progress.hpp"
#include "agent/cli/verbs.hpp"
#include "models/learn/learn.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

namespace {

struct LearnArguments {
  std::vector<std::string> histories;
  std::string output;
  LearnOptions options;
  bool no_cross_validation = false;
};

std::string decimals(double value, int digits) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

nlohmann::json quality_of(const LearnedKernel& kernel) {
  nlohmann::json held_out = nlohmann::json::array();
  std::vector<double> first_picks;
  for (const HeldOutResult& result : kernel.held_out) {
    first_picks.push_back(result.first_pick);
    nlohmann::json entry = {{"device", result.device}, {"first_pick", result.first_pick}};
    entry["shape"] =
        std::vector<std::int64_t>(result.shape.values().begin(), result.shape.values().end());
    entry["evaluations_to_95_percent"] =
        result.evaluations > 0 ? nlohmann::json(result.evaluations) : nlohmann::json(nullptr);
    held_out.push_back(entry);
  }
  nlohmann::json quality = {{"held_out", held_out}};
  quality["first_pick_median"] =
      first_picks.empty() ? nlohmann::json(nullptr) : nlohmann::json(median_of(first_picks));
  return quality;
}

void print_readable(const LearnedModel& model, const LearnArguments& arguments,
                    const CliContext& context) {
  for (const LearnedKernel& kernel : model.kernels) {
    context.print(kernel.kernel + ": " + std::to_string(kernel.configurations) +
                  " configurations, " + std::to_string(kernel.devices.size()) +
                  " histories, portfolio of " + std::to_string(kernel.portfolio) + ", " +
                  std::to_string(kernel.bytes) + " bytes\n");
    if (kernel.held_out.empty()) continue;
    TextTable table({{"  left out"},
                     {"shape"},
                     {"first pick", Align::right},
                     {"evaluations to 95 %", Align::right}});
    for (const HeldOutResult& result : kernel.held_out) {
      table.add_row({"  " + result.device, to_text(result.shape),
                     decimals(100 * result.first_pick, 1) + " %",
                     result.evaluations > 0 ? std::to_string(result.evaluations) : "not reached"});
    }
    context.print(table);
  }
  context.print("wrote " + arguments.output + ", " + std::to_string(model.bytes.size()) +
                " bytes\n");
}

void run_learn(LearnArguments& arguments, CliContext& context) {
  arguments.options.cross_validate = !arguments.no_cross_validation;
  Progress progress("learn", arguments.histories.size() + 1, context.json());
  std::vector<History> histories;
  for (const std::string& path : arguments.histories) {
    if (interrupted()) return context.fail("stopped; nothing was written");
    progress.update(histories.size(), path);
    auto loaded = load_histories(path);
    if (!loaded.ok()) return context.fail(loaded.status());
    for (History& history : *loaded) histories.push_back(std::move(history));
  }
  progress.update(arguments.histories.size(), "training");
  std::vector<const History*> pointers;
  for (const History& history : histories) pointers.push_back(&history);
  const auto model = learn(pointers, arguments.options);
  if (!model.ok()) return context.fail(model.status());
  if (Status status = write_file_atomically(arguments.output, model->bytes); !status.ok()) {
    return context.fail(status);
  }
  progress.clear();
  if (!context.json()) {
    for (const std::string& warning : model->warnings) context.warn(warning);
    return print_readable(*model, arguments, context);
  }
  nlohmann::json kernels = nlohmann::json::array();
  for (const LearnedKernel& kernel : model->kernels) {
    kernels.push_back({{"kernel", kernel.kernel},
                       {"devices", kernel.devices},
                       {"bytes", kernel.bytes},
                       {"configurations", kernel.configurations},
                       {"portfolio", kernel.portfolio},
                       {"quality", quality_of(kernel)}});
  }
  context.print_json({{"kernels", kernels},
                      {"model", arguments.output},
                      {"bytes", model->bytes.size()},
                      {"warnings", model->warnings}});
}

}  // namespace

void add_learn_verb(CLI::App& app, CliContext& context) {
  auto arguments = std::make_shared<LearnArguments>();
  CLI::App* verb = app.add_subcommand("learn", "Trains a model from histories");
  verb->add_option("histories", arguments->histories,
                   "Histories (.ithistory, or what import reads)")
      ->required();
  verb->add_option("-o,--output", arguments->output, "The model file (.itmodel)")->required();
  verb->add_option("--portfolio", arguments->options.portfolio,
                   "Configurations to keep per kernel, at most")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  verb->add_option("--bytes-per-kernel", arguments->options.bytes_per_kernel,
                   "Size limit per kernel")
      ->capture_default_str();
  verb->add_option("--generation", arguments->options.generation,
                   "Number of this model among its versions")
      ->capture_default_str();
  verb->add_flag("--no-cross-validation", arguments->no_cross_validation,
                 "Do not learn again without each device");
  context.add_json_flag(*verb);
  verb->callback([arguments, &context] {
    catch_interrupts();
    run_learn(*arguments, context);
  });
}

}  // namespace idletune::cli
