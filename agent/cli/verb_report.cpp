// idletune report H... -o R.html: one page with pictures from histories.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "agent/cli/histories.hpp"
#include "agent/cli/known_kernels.hpp"
#include "agent/cli/lab.hpp"
#include "agent/cli/named_kind.hpp"
#include "agent/cli/progress.hpp"
#include "agent/cli/report/numbers.hpp"
#include "agent/cli/report/sections.hpp"
#include "agent/cli/verbs.hpp"
#include "agent/src/model_file.hpp"
#include "models/package/xml.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

namespace {

struct ReportArguments {
  std::vector<std::string> histories;
  std::vector<std::string> kernels;
  std::vector<std::string> kinds;
  std::vector<std::string> sections;
  std::string model;
  std::string title = "What the tuning histories say";
  std::string output;
  report::ReportOptions options;
};

constexpr const char* kReplayedSections[] = {"convergence", "searchers", "regret"};

// In the order of the page, as far as this build has them.
std::vector<report::SectionMaker> section_makers() {
  std::vector<report::SectionMaker> makers = {{"best", report::best_section},
                                              {"distribution", report::distribution_section},
                                              {"values", report::value_section},
                                              {"fractions", report::fraction_section},
                                              {"importance", report::importance_section},
                                              {"devices", report::device_section},
                                              {"pruning", report::pruning_section}};
  for (const report::SectionMaker& maker : report::replayed_sections()) makers.push_back(maker);
  makers.push_back({"selection", report::selection_section});
  makers.push_back({"model", report::model_section});
  makers.push_back({"sources", report::source_section});
  return makers;
}

std::vector<std::string> section_names() {
  std::vector<std::string> names(std::begin(kReplayedSections), std::end(kReplayedSections));
  for (const report::SectionMaker& maker : section_makers()) {
    if (std::find(names.begin(), names.end(), maker.name) == names.end()) {
      names.emplace_back(maker.name);
    }
  }
  return names;
}

// Kinds from descriptions and from NAME=KIND; those of the latter are the user's last word.
Result<report::ParameterKinds> read_kinds(const ReportArguments& arguments) {
  report::ParameterKinds kinds;
  std::vector<KernelDescription> descriptions;
  for (const std::string& path : arguments.kernels) {
    auto description = read_kernel_xml(path);
    if (!description.ok()) return description.status();
    for (const DescribedParameter& parameter : description->parameters) {
      kinds.describe(description->name, parameter.name, parameter.kind);
    }
  }
  for (const std::string& text : arguments.kinds) {
    const Result<NamedKind> named = named_kind(text);
    if (!named.ok()) return named.status();
    kinds.decide(named->name, named->kind);
  }
  return kinds;
}

Result<std::vector<report::Recording>> load_recordings(const std::vector<std::string>& paths) {
  std::vector<report::Recording> recordings;
  const auto files = history_files(paths);
  if (!files.ok()) return files.status();
  for (const std::string& path : *files) {
    auto histories = load_histories(path);
    if (!histories.ok()) return histories.status();
    // A page that is shown around need not say in which folder somebody keeps his files.
    const std::string file = path.substr(path.find_last_of('/') + 1);
    for (History& history : *histories) recordings.push_back({std::move(history), file});
    if (interrupted()) break;
  }
  return recordings;
}

bool is_wanted(const ReportArguments& arguments, const char* section) {
  return arguments.sections.empty() ||
         std::find(arguments.sections.begin(), arguments.sections.end(), section) !=
             arguments.sections.end();
}

report::Page page_of(const report::Study& study, const ReportArguments& arguments) {
  report::Page page;
  page.title = arguments.title;
  page.lead =
      "Measurements of GPU kernels in many configurations: how hard it is to find a good one, "
      "which "
      "parameters decide, and what one device teaches about another.";
  std::uint64_t configurations = 0;
  std::vector<std::string> devices;
  for (const report::Group& group : study.groups) {
    for (const report::Source& source : group.sources) {
      configurations += source.distribution.measured;
      devices.push_back(source.history->device);
    }
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  using report::count_text;
  page.totals = {{count_text(study.groups.size()), study.groups.size() == 1 ? "kernel" : "kernels"},
                 {count_text(devices.size()), devices.size() == 1 ? "device" : "devices"},
                 {count_text(study.source_count()), "pairs of kernel and device"},
                 {count_text(configurations), "configurations measured"}};
  return page;
}

void write_report(const ReportArguments& arguments, const report::Page& page, CliContext& context) {
  const std::string html = report::html_of(page);
  const Status written = write_file_atomically(
      arguments.output, Bytes(reinterpret_cast<const std::uint8_t*>(html.data()), html.size()));
  if (!written.ok()) return context.fail(written);
  nlohmann::json contents = report::contents_of(page);
  contents["file"] = arguments.output;
  contents["bytes"] = html.size();
  if (context.json()) return context.print_json(contents);
  TextTable table({{"section"}, {"figures", Align::right}, {"tables", Align::right}});
  for (const auto& section : contents["sections"]) {
    table.add_row({section["title"], std::to_string(section["figures"].size()),
                   std::to_string(section["tables"].size())});
  }
  context.print(table);
  context.print(arguments.output + ": " + report::count_text(html.size()) + " bytes");
}

void say_stopped(const ReportArguments& arguments, CliContext& context) {
  context.fail("stopped; " + arguments.output + " was not written");
}

// False if the user asked for a section that this build lacks.
bool has_wanted_sections(const ReportArguments& arguments, CliContext& context) {
  if (built_with_lab()) return true;
  if (arguments.sections.empty()) {
    context.warn("without the sections convergence, searchers and regret; " +
                 needs_lab().message());
    return true;
  }
  for (const char* section : kReplayedSections) {
    if (!is_wanted(arguments, section)) continue;
    context.fail(needs_lab());
    return false;
  }
  return true;
}

void run_report(const ReportArguments& arguments, CliContext& context) {
  if (!has_wanted_sections(arguments, context)) return;
  auto kinds = read_kinds(arguments);
  if (!kinds.ok()) return context.fail(kinds.status());
  auto recordings = load_recordings(arguments.histories);
  if (!recordings.ok()) return context.fail(recordings.status());
  const report::Study study = report::study_of(std::move(*recordings), std::move(*kinds));
  if (interrupted()) return say_stopped(arguments, context);
  for (const std::string& warning : study.warnings) context.warn(warning + ": left out");
  if (study.groups.empty()) {
    return context.fail(std::string("there is no history in which something ran correctly"));
  }
  report::ReportOptions options = arguments.options;
  if (!arguments.model.empty()) {
    auto model = read_model(arguments.model);
    if (!model.ok()) return context.fail(model.status());
    options.model = std::move(*model);
  }
  const auto kernels = KnownKernels::open(arguments.kernels);
  if (!kernels.ok()) return context.fail(kernels.status());
  options.rates = [&kernels](const History& history) {
    const KernelFacts facts = kernels->about(history);
    return report::KnownRates{facts.default_ns, facts.work ? facts.work->operations.value_or(0) : 0,
                              facts.work ? facts.work->compulsory_bytes : 0};
  };
  report::Page page = page_of(study, arguments);
  Progress progress("report", 0, context.json());
  std::size_t done = 0;
  const report::Continue go_on = [&](const std::string& next) {
    progress.update(done++, next);
    return !interrupted();
  };
  for (const report::SectionMaker& section : section_makers()) {
    if (!is_wanted(arguments, section.name)) continue;
    report::Section made = section.make(study, options, go_on);
    if (!made.parts.empty()) page.sections.push_back(std::move(made));
    if (interrupted()) break;
  }
  progress.clear();
  if (interrupted()) return say_stopped(arguments, context);
  write_report(arguments, page, context);
}

}  // namespace

void add_report_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<ReportArguments>();
  Verb verb = line.add_verb("report", "writes one self-contained page with pictures");
  verb.option("histories", arguments->histories, "Histories (.ithistory, or what import reads)")
      .required();
  verb.option("-o,--output", arguments->output, "Where the page goes (HTML)")
      .value_name("FILE")
      .required();
  verb.option("--kernel", arguments->kernels,
              "Description (XML) that says the kinds of its kernel's parameters, and its work")
      .value_name("K.xml");
  verb.option("--kind", arguments->kinds,
              "Kind of the parameters of that name, in any kernel: " + kind_names())
      .value_name("NAME=KIND");
  verb.option("--threshold", arguments->options.threshold,
              "Relative performance that counts as good")
      .between(0.0, 1.0)
      .shows_default();
  verb.option("--probability", arguments->options.probability,
              "Wanted probability of finding a good one")
      .between(0.0, 0.999999999)
      .shows_default();
  verb.option("--model", arguments->model, "Model that searches start from")
      .value_name("FILE")
      .shows_default("for every device one learned from the others");
  verb.option("--repeat", arguments->options.repeats, "Simulated searches per curve of convergence")
      .between(1, 100000)
      .shows_default();
  verb.option("--seeds", arguments->options.seeds,
              "Simulated applications per point of a regret curve")
      .between(1, 1000)
      .shows_default();
  verb.option("--seed", arguments->options.seed, "Seed of the first simulated search")
      .shows_default();
  verb.option("--title", arguments->title, "Title of the page").shows_default();
  verb.option("--sections", arguments->sections,
              "Only these, separated by commas; " +
                  of_lab("convergence, searchers and regret replay searches"))
      .separated_by_commas()
      .one_of(section_names())
      .value_name("NAME,...")
      .shows_default("all");
  verb.example("report histories -o report.html");
  context.add_json_flag(verb);
  verb.runs([arguments, &context] {
    catch_interrupts();
    run_report(*arguments, context);
  });
}

}  // namespace idletune::cli
