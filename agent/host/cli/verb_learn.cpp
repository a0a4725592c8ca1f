// idletune learn H... -o M: trains a model and says how well it would have done on each device.
#include <ctime>

#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/progress.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/signing/pushed_file.hpp"
#include "models/core/median.hpp"
#include "models/host/learn/learn.hpp"
#include "models/host/learn/model_contents.hpp"
#include "models/host/learn/selector_code.hpp"
#include "platform/os/environment.hpp"
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
  bool emulated = false;
  std::string published;
  std::string published_kernel = "Xgemm=gemm";
  PublishedOptions published_options;
};

json quality_of(const LearnedKernel& kernel) {
  std::vector<double> first_picks;
  const json held_out = list_of(kernel.held_out, [&](const HeldOutResult& result) {
    first_picks.push_back(result.first_pick);
    const json evaluations = or_null(result.evaluations > 0, result.evaluations);
    return joined(joined(IDLETUNE_FIELDS(result, device, first_pick),
                         {{"evaluations_to_95_percent", evaluations}}),
                  report::shape_members(result.shape));
  });
  return {{"held_out", held_out},
          {"first_pick_median", first_picks.empty() ? json() : json(median_of(first_picks))}};
}

json selectors_of(const LearnedKernel& kernel) {
  return list_of(kernel.selectors, [](const LearnedSelector& selector) {
    json entry = joined(IDLETUNE_FIELDS(selector, shapes, inputs, height_limit, leaf_limit),
                        {{"device", or_null(!selector.device.empty(), selector.device)},
                         {"configurations", selector.classes.size()},
                         {"leaves", selector.tree().leaf_count()},
                         {"height", selector.tree().height()}});
    if (selector.folds > 0) {
      entry["held_out"] = {{"folds", selector.folds},
                           {"dtpr", selector.retained},
                           {"dttr", selector.against_single},
                           {"worst", selector.worst},
                           {"single_configuration", selector.single},
                           {"accuracy", selector.accuracy}};
    }
    return entry;
  });
}

void print_selectors(const LearnedKernel& kernel, const CliContext& context) {
  if (kernel.selectors.empty()) return;
  TextTable table({"  selector for", ">shapes", ">leaves", ">height", ">of the best (DTPR)",
                   ">worst", ">one for all", ">speed-up over it (DTTR)"});
  for (const LearnedSelector& selector : kernel.selectors) {
    const bool judged = selector.folds > 0;
    table.add_row({"  " + (selector.device.empty() ? "any device" : selector.device),
                   std::to_string(selector.shapes), std::to_string(selector.tree().leaf_count()),
                   std::to_string(selector.tree().height()),
                   judged ? report::percent_text(selector.retained) : "-",
                   judged ? report::percent_text(selector.worst) : "-",
                   judged ? report::percent_text(selector.single) : "-",
                   judged ? report::significant(selector.against_single) : "-"});
  }
  context.print(table);
}

void print_readable(const LearnedModel& model, const LearnArguments& arguments, bool written,
                    const CliContext& context) {
  for (const LearnedKernel& kernel : model.kernels) {
    using report::counted;
    context.print_paragraph(
        kernel.kernel + ": " + counted(kernel.configurations, "configuration", "configurations") +
        ", " + counted(kernel.devices.size(), "history", "histories") + ", portfolio of " +
        report::count_text(kernel.portfolio) + ", " + counted(kernel.bytes, "byte", "bytes"));
    if (kernel.published > 0) {
      context.print("  " + std::to_string(kernel.published) +
                    " published configurations (no times)\n");
    }
    print_selectors(kernel, context);
    if (kernel.held_out.empty()) continue;
    TextTable table({"  left out", "shape", ">first pick", ">evaluations to 95 %"});
    for (const HeldOutResult& result : kernel.held_out) {
      table.add_row({"  " + result.device, report::shape_text(result.shape),
                     report::percent_text(result.first_pick),
                     result.evaluations > 0 ? std::to_string(result.evaluations) : "not reached"});
    }
    context.print(table);
  }
  if (!written) return;
  context.print_paragraph("wrote " + arguments.output + ", " +
                          report::count_text(model.bytes.size()) + " bytes");
}

// Now, or the time that a reproducible build says (SOURCE_DATE_EPOCH).
void set_time_of_learning(std::int64_t& unix_seconds) {
  const char* said = environment("SOURCE_DATE_EPOCH");
  unix_seconds = static_cast<std::int64_t>(std::time(nullptr));
  if (said == nullptr || (read_number(said, unix_seconds) && unix_seconds >= 0)) return;
  throw Failure(StatusCode::invalid_argument,
                "environment variable SOURCE_DATE_EPOCH='%': expected whole seconds since 1970",
                said);
}

void load_published(LearnArguments& arguments) {
  if (arguments.published.empty()) return;
  PublishedOptions& options = arguments.published_options;
  const std::size_t equals = arguments.published_kernel.find('=');
  options.published_kernel = arguments.published_kernel.substr(0, equals);
  options.kernel = equals == std::string::npos ? options.published_kernel
                                               : arguments.published_kernel.substr(equals + 1);
  const auto bytes = must(read_file(arguments.published, kMaxPublishedBytes));
  arguments.options.published.push_back(
      must(import_published(bytes, arguments.published, options)));
}

// The model, and its selectors as code if that is wanted. False: neither was written.
bool write_outputs(const LearnArguments& arguments, const std::vector<std::uint8_t>& bytes,
                   CliContext& context) {
  std::vector<Output> outputs{{arguments.output, FileKind::model, bytes}};
  std::string code;
  if (!arguments.code.empty()) {
    const auto model = Model::open(bytes, arguments.output);
    if (!model.ok()) {
      context.fail(model.status());
      return false;
    }
    code = selector_code(**model);
    outputs.push_back({arguments.code, FileKind::code, bytes_of(code)});
  }
  return context.write(outputs);
}

void run_merge(const LearnArguments& arguments, CliContext& context) {
  std::vector<ModelContents> models;
  for (const std::string& path : arguments.histories) {
    const auto file = must(read_pushed_file(path, kMaxModelBytes, nullptr));
    models.push_back(must(read_model(file, path)));
  }
  MergedModel merged = merge_models(models, arguments.histories);
  if (arguments.options.generation > 0) merged.contents.generation = arguments.options.generation;
  const std::vector<std::uint8_t> bytes = write_model(merged.contents);
  must(Model::open(bytes, "being merged"));
  if (!write_outputs(arguments, bytes, context)) return;
  json kernels = json::array();
  for (const ModelKernel& kernel : merged.contents.kernels) {
    kernels.push_back({{"kernel", kernel.name}, {"bytes", kernel.bytes()}});
    if (kernel.bytes() > arguments.options.bytes_per_kernel) {
      context.warn("kernel " + kernel.name + " takes " + std::to_string(kernel.bytes()) +
                   " bytes, more than --bytes-per-kernel; learn it anew to make it smaller");
    }
  }
  json conflicts = json::array();
  for (const MergeConflict& conflict : merged.conflicts) {
    conflicts.push_back(IDLETUNE_FIELDS(conflict, kernel, kept, dropped, same));
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
  context.print_paragraph("wrote " + arguments.output + ", " + std::to_string(kernels.size()) +
                          (kernels.size() == 1 ? " kernel" : " kernels") + ", generation " +
                          std::to_string(merged.contents.generation) + ", " +
                          report::count_text(bytes.size()) + " bytes");
}

void print_for_programs(const LearnedModel& model, const LearnArguments& arguments,
                        CliContext& context) {
  const json kernels = list_of(model.kernels, [](const LearnedKernel& kernel) {
    return joined(IDLETUNE_FIELDS(kernel, kernel, devices, bytes, configurations, portfolio,
                                  published, dropped),
                  {{"selectors", selectors_of(kernel)}, {"quality", quality_of(kernel)}});
  });
  context.print_json({{"kernels", kernels},
                      {"model", arguments.output},
                      {"bytes", model.bytes.size()},
                      {"warnings", model.warnings}});
}

void run_learn(LearnArguments& arguments, CliContext& context) {
  if (arguments.histories.empty() && (arguments.merge || arguments.published.empty()))
    return context.used_wrongly("expected histories, models with --merge, or --published");
  if (arguments.merge) return run_merge(arguments, context);
  LearnOptions& options = arguments.options;
  if (options.generation == 0) options.generation = 1;
  options.cross_validate = !arguments.no_cross_validation;
  options.selector.learn = !arguments.no_selector;
  options.selector.derived_features = !arguments.plain_features;
  options.emulated = arguments.emulated;
  set_time_of_learning(options.learned_unix_seconds);
  load_published(arguments);
  const auto files = must(history_files(arguments.histories));
  Progress progress("learn", files.size(), context.json());
  std::size_t read = 0;
  std::vector<History> histories;
  for (const std::string& path : files) {
    progress.update(read++, path);
    auto loaded = must(load_file(path, arguments.emulated));
    for (History& history : loaded) {
      if (const Status status = check_names(history); !status.ok())
        return context.fail(Status(status.code(), "%: %", path, status.message()));
      histories.push_back(std::move(history));
    }
  }
  progress.update(read, "training");
  const auto model = must(learn(pointers_to(histories), options));
  const bool written = write_outputs(arguments, model.bytes, context);
  if (context.json()) return print_for_programs(model, arguments, context);
  for (const std::string& warning : model.warnings) context.warn(warning);
  print_readable(model, arguments, written, context);
}

// These options are about learning, not about putting models together.
Argument of_learning(Argument option, const LearnArguments& arguments) {
  return option.acts("where a model is learned", [&arguments] { return !arguments.merge; });
}

Argument of_selectors(Argument option, const LearnArguments& arguments) {
  return of_learning(option, arguments).acts("without --no-selector", [&arguments] {
    return !arguments.no_selector;
  });
}

void add_selector_options(Verb verb, LearnArguments& arguments) {
  SelectorOptions& selector = arguments.options.selector;
  of_selectors(
      verb.option("--height", selector.height,
                  "Selector trees: splits on a path, at most; 0: chosen by cross-validation")
          .between(0, 128)
          .shows_default(),
      arguments);
  of_selectors(verb.option("--leaf", selector.leaf,
                           "Selector trees: shapes of a leaf, at least (below 1: as a share of "
                           "all); 0: chosen by cross-validation")
                   .between(0.0, 65536.0)
                   .shows_default(),
               arguments);
  of_selectors(verb.option("--inputs NAME,...", selector.inputs,
                           "Names of the problem's dimensions, where the histories do not say")
                   .separated_by_commas()
                   .shows_default("size_0,size_1,..."),
               arguments);
  of_selectors(
      verb.flag("--plain-features", arguments.plain_features,
                "Selector trees ask for the dimensions alone, not for products and ratios"),
      arguments);
  of_learning(verb.flag("--no-selector", arguments.no_selector, "Learn no selection by shape"),
              arguments);
  verb.option("--emit-cpp", arguments.code, "Write the selectors as a C++17 header, too")
      .writes(FileKind::code);
}

void add_published_options(Verb verb, LearnArguments& arguments) {
  PublishedOptions& options = arguments.published_options;
  const Argument published =
      of_learning(verb.option("--published", arguments.published,
                              "Table of published best parameters (CLBlast's database as CSV): no "
                              "times, only something to start with"),
                  arguments);
  verb.option("--published-kernel", arguments.published_kernel, "The kernel's name there and here")
      .needs(published);
  verb.option("--published-precision", options.precision, "Which precision's entries")
      .needs(published);
  verb.option("--published-vendors", options.vendors, "Which vendors' entries")
      .separated_by_commas()
      .needs(published);
  verb.option("--published-origin", options.origin,
              "Where it was published and under which licence, for the provenance")
      .needs(published);
}

}  // namespace

void add_learn_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<LearnArguments>();
  Verb verb = line.add_verb("learn", "makes a model from histories");
  verb.option("histories", arguments->histories,
              "Histories (.ithistory, or what import reads); with --merge: models");
  verb.required("-o,--output", arguments->output, "The model file (.itmodel)")
      .writes(FileKind::model);
  of_learning(verb.option("--portfolio", arguments->options.portfolio,
                          "Configurations to keep per kernel, at most")
                  .between(1, 65536),
              *arguments);
  verb.option("--bytes-per-kernel N[B]", arguments->options.bytes_per_kernel,
              "Size limit per kernel; times of sparse products have none");
  arguments->options.generation = 0;
  verb.option("--generation", arguments->options.generation,
              "Number of this model among its versions")
      .shows_default("1, or with --merge one above the highest");
  const Argument merge =
      verb.flag("--merge", arguments->merge,
                "Put models together; of a kernel that several know the newest counts");
  add_selector_options(verb, *arguments);
  add_published_options(verb, *arguments);
  of_learning(verb.flag("--no-cross-validation", arguments->no_cross_validation,
                        "Do not learn again without each device"),
              *arguments);
  add_emulated(verb, arguments->emulated).excludes(merge);
  verb.example("learn histories -o board.itmodel");
  verb.runs([arguments, &context] { run_learn(*arguments, context); });
}

}  // namespace idletune::cli
