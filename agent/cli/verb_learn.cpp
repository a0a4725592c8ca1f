// idletune learn H... -o M: trains a model and says how well it would have done on each device.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "agent/cli/histories.hpp"
#include "agent/cli/lab.hpp"
#include "agent/cli/progress.hpp"
#include "agent/cli/report/numbers.hpp"
#include "agent/cli/sparse_learning.hpp"
#include "agent/cli/verbs.hpp"
#include "models/core/median.hpp"
#include "models/learn/learn.hpp"
#include "models/learn/model_contents.hpp"
#include "models/learn/selector_code.hpp"
#include "models/predict/model.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

namespace {

constexpr std::size_t kMaxPublishedBytes = std::size_t{64} << 20;

struct LearnArguments {
  std::vector<std::string> histories;  // with `merge`: models
  std::string output;
  std::string code;  // where selectors go as C++; empty: nowhere
  LearnOptions options;
  bool no_cross_validation = false;
  bool no_selector = false;
  bool plain_features = false;
  bool merge = false;
  bool as_published = false;
  std::string published;
  std::string published_kernel = "Xgemm=gemm";
  PublishedOptions published_options;
};

std::string decimals(double value, int digits) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
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

nlohmann::json selectors_of(const LearnedKernel& kernel) {
  nlohmann::json selectors = nlohmann::json::array();
  for (const LearnedSelector& selector : kernel.selectors) {
    nlohmann::json entry = {{"device", selector.device.empty() ? nlohmann::json(nullptr)
                                                               : nlohmann::json(selector.device)},
                            {"shapes", selector.shapes},
                            {"inputs", selector.inputs},
                            {"configurations", selector.classes.size()},
                            {"leaves", selector.tree().leaf_count()},
                            {"height", selector.tree().height()},
                            {"height_limit", selector.height_limit},
                            {"leaf_limit", selector.leaf_limit}};
    if (selector.folds > 0) {
      entry["held_out"] = {{"folds", selector.folds},
                           {"dtpr", selector.retained},
                           {"dttr", selector.against_single},
                           {"worst", selector.worst},
                           {"single_configuration", selector.single},
                           {"accuracy", selector.accuracy}};
    }
    selectors.push_back(entry);
  }
  return selectors;
}

void print_selectors(const LearnedKernel& kernel, const CliContext& context) {
  if (kernel.selectors.empty()) return;
  TextTable table({{"  selector for"},
                   {"shapes", Align::right},
                   {"leaves", Align::right},
                   {"height", Align::right},
                   {"of the best (DTPR)", Align::right},
                   {"worst", Align::right},
                   {"one for all", Align::right},
                   {"speed-up over it (DTTR)", Align::right}});
  for (const LearnedSelector& selector : kernel.selectors) {
    const bool judged = selector.folds > 0;
    table.add_row({"  " + (selector.device.empty() ? "any device" : selector.device),
                   std::to_string(selector.shapes), std::to_string(selector.tree().leaf_count()),
                   std::to_string(selector.tree().height()),
                   judged ? decimals(100 * selector.retained, 1) + " %" : "-",
                   judged ? decimals(100 * selector.worst, 1) + " %" : "-",
                   judged ? decimals(100 * selector.single, 1) + " %" : "-",
                   judged ? decimals(selector.against_single, 3) : "-"});
  }
  context.print(table);
}

void print_readable(const LearnedModel& model, const LearnArguments& arguments,
                    const CliContext& context) {
  for (const LearnedKernel& kernel : model.kernels) {
    context.print(kernel.kernel + ": " + std::to_string(kernel.configurations) +
                  " configurations, " + std::to_string(kernel.devices.size()) +
                  " histories, portfolio of " + std::to_string(kernel.portfolio) + ", " +
                  std::to_string(kernel.bytes) + " bytes\n");
    if (kernel.published > 0) {
      context.print("  " + std::to_string(kernel.published) +
                    " published configurations (no times)\n");
    }
    print_selectors(kernel, context);
    if (kernel.held_out.empty()) continue;
    TextTable table({{"  left out"},
                     {"shape"},
                     {"first pick", Align::right},
                     {"evaluations to 95 %", Align::right}});
    for (const HeldOutResult& result : kernel.held_out) {
      table.add_row({"  " + result.device, report::shape_text(result.shape),
                     decimals(100 * result.first_pick, 1) + " %",
                     result.evaluations > 0 ? std::to_string(result.evaluations) : "not reached"});
    }
    context.print(table);
  }
  context.print("wrote " + arguments.output + ", " + std::to_string(model.bytes.size()) +
                " bytes\n");
}

// Now, or the time that a reproducible build says (SOURCE_DATE_EPOCH).
Status set_time_of_learning(std::int64_t& unix_seconds) {
  const char* said = std::getenv("SOURCE_DATE_EPOCH");
  unix_seconds = static_cast<std::int64_t>(std::time(nullptr));
  if (said == nullptr) return {};
  const char* end = said + std::strlen(said);
  const auto read = std::from_chars(said, end, unix_seconds);
  if (read.ec == std::errc() && read.ptr == end && unix_seconds >= 0) return {};
  return Status(StatusCode::invalid_argument, {"environment variable SOURCE_DATE_EPOCH='", said,
                                               "': expected whole seconds since 1970"});
}

Status load_published(LearnArguments& arguments) {
  if (arguments.published.empty()) return {};
  PublishedOptions& options = arguments.published_options;
  const std::size_t equals = arguments.published_kernel.find('=');
  options.published_kernel = arguments.published_kernel.substr(0, equals);
  options.kernel = equals == std::string::npos ? options.published_kernel
                                               : arguments.published_kernel.substr(equals + 1);
  auto bytes = read_file(arguments.published, kMaxPublishedBytes);
  if (!bytes.ok()) return bytes.status();
  auto published = import_published(*bytes, arguments.published, options);
  if (!published.ok()) return published.status();
  arguments.options.published.push_back(std::move(*published));
  return {};
}

// The model, and its selectors as code if that is wanted.
Status write_outputs(const LearnArguments& arguments, const std::vector<std::uint8_t>& bytes) {
  if (!arguments.code.empty()) {
    const auto model = Model::open(bytes, arguments.output);
    if (!model.ok()) return model.status();
    const std::string text = selector_code(**model);
    Status written = write_file_atomically(
        arguments.code, Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
    if (!written.ok()) return written;
  }
  return write_file_atomically(arguments.output, bytes);
}

void run_merge(const LearnArguments& arguments, CliContext& context) {
  std::vector<ModelContents> models;
  for (const std::string& path : arguments.histories) {
    const auto bytes = read_file(path, kMaxModelBytes);
    if (!bytes.ok()) return context.fail(bytes.status());
    auto model = read_model(*bytes, path);
    if (!model.ok()) return context.fail(model.status());
    models.push_back(std::move(*model));
  }
  MergedModel merged = merge_models(models, arguments.histories);
  if (arguments.options.generation > 0) merged.contents.generation = arguments.options.generation;
  const std::vector<std::uint8_t> bytes = write_model(merged.contents);
  if (const auto opened = Model::open(bytes, "being merged"); !opened.ok())
    return context.fail(opened.status());
  if (Status status = write_outputs(arguments, bytes); !status.ok()) return context.fail(status);
  nlohmann::json kernels = nlohmann::json::array();
  for (const ModelKernel& kernel : merged.contents.kernels) {
    kernels.push_back({{"kernel", kernel.name}, {"bytes", kernel.bytes()}});
    if (kernel.bytes() > arguments.options.bytes_per_kernel) {
      context.warn("kernel " + kernel.name + " takes " + std::to_string(kernel.bytes()) +
                   " bytes, more than --bytes-per-kernel; learn it anew to make it smaller");
    }
  }
  nlohmann::json conflicts = nlohmann::json::array();
  for (const MergeConflict& conflict : merged.conflicts) {
    conflicts.push_back({{"kernel", conflict.kernel},
                         {"kept", conflict.kept},
                         {"dropped", conflict.dropped},
                         {"same", conflict.same}});
    if (!conflict.same && !context.json()) {
      context.warn("kernel " + conflict.kernel + " is in both: kept that of " + conflict.kept +
                   ", dropped that of " + conflict.dropped);
    }
  }
  if (context.json()) {
    return context.print_json({{"kernels", kernels},
                               {"conflicts", conflicts},
                               {"generation", merged.contents.generation},
                               {"model", arguments.output},
                               {"bytes", bytes.size()}});
  }
  context.print("wrote " + arguments.output + ", " + std::to_string(kernels.size()) +
                " kernels, generation " + std::to_string(merged.contents.generation) + ", " +
                std::to_string(bytes.size()) + " bytes\n");
}

void print_for_programs(const LearnedModel& model, const LearnArguments& arguments,
                        const std::vector<const History*>& histories, CliContext& context) {
  nlohmann::json kernels = nlohmann::json::array();
  for (const LearnedKernel& kernel : model.kernels) {
    kernels.push_back({{"kernel", kernel.kernel},
                       {"devices", kernel.devices},
                       {"bytes", kernel.bytes},
                       {"configurations", kernel.configurations},
                       {"portfolio", kernel.portfolio},
                       {"published", kernel.published},
                       {"selectors", selectors_of(kernel)},
                       {"dropped", kernel.dropped},
                       {"quality", quality_of(kernel)}});
  }
  context.print_json(
      {{"kernels", kernels},
       {"model", arguments.output},
       {"bytes", model.bytes.size()},
       {"products", arguments.no_cross_validation ? nlohmann::json(nullptr)
                                                  : report_choices(histories, context)},
       {"warnings", model.warnings}});
}

void print_as_published(const std::vector<const History*>& histories, CliContext& context) {
  const auto report = report_as_published(histories, context);
  if (!report.ok()) return context.fail(report.status());
  if (context.json()) context.print_json({{"as_published", *report}});
}

void run_learn(LearnArguments& arguments, CliContext& context) {
  if (arguments.histories.empty() && (arguments.merge || arguments.published.empty()))
    return context.used_wrongly("expected histories, models with --merge, or --published");
  if (arguments.output.empty() != arguments.as_published)
    return context.used_wrongly("expected --output, or --as-published alone");
  if (arguments.merge) return run_merge(arguments, context);
  LearnOptions& options = arguments.options;
  if (options.generation == 0) options.generation = 1;
  options.cross_validate = !arguments.no_cross_validation;
  options.selector.learn = !arguments.no_selector;
  options.selector.derived_features = !arguments.plain_features;
  if (Status status = set_time_of_learning(options.learned_unix_seconds); !status.ok())
    return context.fail(status);
  if (Status status = load_published(arguments); !status.ok()) return context.fail(status);
  const auto files = history_files(arguments.histories);
  if (!files.ok()) return context.fail(files.status());
  Progress progress("learn", files->size() + 1, context.json());
  std::vector<History> histories;
  for (const std::string& path : *files) {
    if (interrupted()) return context.fail("stopped; nothing was written");
    progress.update(histories.size(), path);
    auto loaded = load_histories(path);
    if (!loaded.ok()) return context.fail(loaded.status());
    for (History& history : *loaded) histories.push_back(std::move(history));
  }
  progress.update(files->size(), "training");
  std::vector<const History*> pointers;
  pointers.reserve(histories.size());
  for (const History& history : histories) pointers.push_back(&history);
  if (arguments.as_published) {
    progress.clear();
    return print_as_published(pointers, context);
  }
  const auto model = learn(pointers, options);
  if (!model.ok()) return context.fail(model.status());
  if (Status status = write_outputs(arguments, model->bytes); !status.ok())
    return context.fail(status);
  progress.clear();
  if (!context.json()) {
    for (const std::string& warning : model->warnings) context.warn(warning);
    print_readable(*model, arguments, context);
    if (!arguments.no_cross_validation) report_choices(pointers, context);
    return;
  }
  print_for_programs(*model, arguments, pointers, context);
}

void add_selector_options(Verb verb, LearnArguments& arguments) {
  SelectorOptions& selector = arguments.options.selector;
  verb.option("--height", selector.height,
              "Selector trees: splits on a path, at most; 0: chosen by cross-validation")
      .between(0, 128)
      .shows_default();
  verb.option("--leaf", selector.leaf,
              "Selector trees: shapes of a leaf, at least (below 1: as a share of all); 0: "
              "chosen by cross-validation")
      .between(0.0, 65536.0)
      .shows_default();
  verb.option("--inputs", selector.inputs,
              "Names of the problem's dimensions, where the histories do not say")
      .separated_by_commas()
      .value_name("NAME,...")
      .shows_default("M,N,K");
  verb.flag("--plain-features", arguments.plain_features,
            "Selector trees ask for the dimensions alone, not for products and ratios");
  verb.flag("--no-selector", arguments.no_selector, "Learn no selection by shape");
  verb.option("--emit-cpp", arguments.code, "Write the selectors as a C++17 header, too")
      .value_name("FILE");
}

void add_published_options(Verb verb, LearnArguments& arguments) {
  PublishedOptions& options = arguments.published_options;
  verb.option("--published", arguments.published,
              "Table of published best parameters (CLBlast's database as CSV): no times, only "
              "something to start with");
  verb.option("--published-kernel", arguments.published_kernel, "The kernel's name there and here")
      .shows_default();
  verb.option("--published-precision", options.precision, "Which precision's entries")
      .shows_default();
  verb.option("--published-vendors", options.vendors, "Which vendors' entries")
      .separated_by_commas()
      .shows_default();
  verb.option("--published-origin", options.origin,
              "Where it was published and under which licence, for the provenance");
}

}  // namespace

void add_learn_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<LearnArguments>();
  Verb verb = line.add_verb("learn", "makes a model from histories");
  verb.option("histories", arguments->histories,
              "Histories (.ithistory, or what import reads); with --merge: models");
  verb.option("-o,--output", arguments->output, "The model file (.itmodel)").value_name("FILE");
  verb.option("--portfolio", arguments->options.portfolio,
              "Configurations to keep per kernel, at most")
      .between(1, 65536)
      .shows_default();
  verb.option("--bytes-per-kernel", arguments->options.bytes_per_kernel, "Size limit per kernel")
      .shows_default();
  arguments->options.generation = 0;
  verb.option("--generation", arguments->options.generation,
              "Number of this model among its versions")
      .shows_default("1, or with --merge one above the highest");
  verb.flag("--merge", arguments->merge,
            "Put models together; of a kernel that several know the newest counts");
  add_selector_options(verb, *arguments);
  add_published_options(verb, *arguments);
  verb.flag("--as-published", arguments->as_published,
            of_lab("Write no model, but learn of products with sparse matrices as Li and Suda 2012 "
                   "did, and print their tables 4 to 7 beside ours"));
  verb.flag("--no-cross-validation", arguments->no_cross_validation,
            "Do not learn again without each device");
  verb.example("learn histories -o board.itmodel");
  context.add_json_flag(verb);
  verb.runs([arguments, &context] {
    catch_interrupts();
    run_learn(*arguments, context);
  });
}

}  // namespace idletune::cli
