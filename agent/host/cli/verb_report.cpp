// idletune report H... -o R.html: one page with pictures from histories.

#include "agent/api/model_file.hpp"
#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/kernel_file.hpp"
#include "agent/host/cli/known_kernels.hpp"
#include "agent/host/cli/lab.hpp"
#include "agent/host/cli/progress.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"
#include "models/host/pack/xml.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

namespace {

struct ReportArguments {
  std::vector<std::string> histories;
  std::vector<std::string> kernels;
  std::vector<std::string> kinds;
  std::vector<std::string> sections;
  std::string model;
  bool emulated = false;
  std::string title = "What the tuning histories say";
  std::string output;
  report::ReportOptions options;
};

// In the order of the page, as far as this build has them.
std::vector<report::SectionMaker> section_makers() {
  std::vector<report::SectionMaker> makers = {{"best", report::best_section},
                                              {"distribution", report::distribution_section},
                                              {"values", report::value_section},
                                              {"fractions", report::fraction_section},
                                              {"importance", report::importance_section},
                                              {"devices", report::device_section},
                                              {"pruning", report::pruning_section}};
  for (const report::SectionMaker& maker : lab_sections()) makers.push_back(maker);
  makers.push_back({"model", report::model_section});
  makers.push_back({"sources", report::source_section});
  return makers;
}

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const report::SectionMaker& maker : section_makers()) names.emplace_back(maker.name);
  return names;
}

// Kinds from descriptions and from NAME=KIND; those of the latter are the user's last word.
Result<report::ParameterKinds> read_kinds(const ReportArguments& arguments) {
  report::ParameterKinds kinds;
  std::vector<KernelDescription> descriptions;
  for (const std::string& path : arguments.kernels) {
    auto description = must(read_kernel_xml(path));
    for (const DescribedParameter& parameter : description.parameters) {
      kinds.describe(description.name, parameter.name, parameter.kind);
    }
  }
  for (const std::string& text : arguments.kinds) {
    const auto named = must(named_kind(text));
    kinds.decide(named.name, named.kind);
  }
  return kinds;
}

// A page that is shown around need not say in which folder somebody keeps his files.
Result<std::vector<report::Recording>> load_recordings(const std::vector<std::string>& paths,
                                                       bool emulated) {
  auto loaded = must(load_with_files(paths, emulated));
  std::vector<report::Recording> recordings;
  for (std::size_t i = 0; i < loaded.files.size(); ++i) {
    const std::string& path = loaded.files[i];
    recordings.push_back({std::move(loaded.histories[i]), path.substr(path.find_last_of('/') + 1)});
  }
  return recordings;
}

bool is_wanted(const ReportArguments& arguments, const char* section) {
  return arguments.sections.empty() || contains(arguments.sections, section);
}

report::Page page_of(const report::Study& study, const ReportArguments& arguments) {
  report::Page page;
  page.title = arguments.title;
  page.lead =
      "Measurements of GPU kernels in many configurations: how hard it is to find a good one, "
      "which parameters decide, and what one device teaches about another.";
  std::uint64_t configurations = 0;
  std::set<std::string> devices;
  std::set<std::string> kernels;
  for (const report::Group& group : study.groups) {
    kernels.insert(group.kernel);
    for (const report::Source& source : group.sources) {
      configurations += source.distribution.measured;
      devices.insert(source.history->device);
    }
  }
  using report::count_text;
  const auto total = [&page](std::uint64_t count, const char* one, const char* many) {
    page.totals.emplace_back(count_text(count), count == 1 ? one : many);
  };
  total(kernels.size(), "kernel", "kernels");
  const bool sizes = study.groups.size() > kernels.size();
  if (sizes) total(study.groups.size(), "kernel and size", "kernels and sizes");
  total(devices.size(), "device", "devices");
  total(study.source_count(), sizes ? "pair of these" : "pair of kernel and device",
        sizes ? "pairs of these" : "pairs of kernel and device");
  total(configurations, "configuration measured", "configurations measured");
  return page;
}

// A part of a page does not take the place of an earlier page.
void write_report(const ReportArguments& arguments, report::Page page, bool complete,
                  CliContext& context) {
  if (!complete) page.lead += " Stopped early: the sections that were to follow are missing.";
  const std::string html = report::html_of(page);
  const bool stays = !complete && file_stamp(arguments.output) != 0;
  if (stays) context.warn(arguments.output, "the earlier page stays");
  const bool written =
      !stays && context.write({{arguments.output, FileKind::page, bytes_of(html)}});
  json contents = report::contents_of(page);
  contents["file"] = stays ? json() : json(arguments.output);
  contents["bytes"] = html.size();
  contents["complete"] = complete;
  if (context.json()) return context.print_json(contents);
  TextTable table({"section", ">figures", ">tables"});
  for (const auto& section : contents["sections"]) {
    table.add_row({section["title"], std::to_string(section["figures"].size()),
                   std::to_string(section["tables"].size())});
  }
  context.print(table);
  if (written)
    context.print_paragraph(arguments.output + ": " + report::count_text(html.size()) + " bytes");
}

void run_report(const ReportArguments& arguments, CliContext& context) {
  auto kinds = must(read_kinds(arguments));
  auto recordings = must(load_recordings(arguments.histories, arguments.emulated));
  const report::Study study = report::study_of(std::move(recordings), std::move(kinds));
  for (const std::string& warning : study.warnings) context.warn(warning + ": left out");
  if (study.groups.empty()) {
    return context.fail(std::string("there is no history in which something ran correctly"));
  }
  report::ReportOptions options = arguments.options;
  if (!arguments.model.empty()) {
    options.model = must(read_model(arguments.model));
  }
  const auto kernels = must(KnownKernels::open(arguments.kernels));
  options.rates = [&kernels](const History& history) {
    const KernelFacts facts = kernels.about(history);
    return rates_of(facts.default_ns, facts.work);
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
    if (interrupted()) break;
    if (made.parts.empty()) continue;
    page.sections.push_back(std::move(made));
    context.keep_part(
        [arguments, page, &context] { write_report(arguments, page, false, context); });
  }
  const bool complete = !interrupted();
  if (!complete && page.sections.empty()) return context.stopped(kStopped);
  write_report(arguments, page, complete, context);
  if (!complete) context.stopped(kStoppedEarly);
}

// Whether one of these sections is on the page.
std::function<bool()> has_one(const std::shared_ptr<ReportArguments>& arguments,
                              std::vector<const char*> sections) {
  return [arguments, sections = std::move(sections)] {
    return std::any_of(sections.begin(), sections.end(),
                       [&](const char* section) { return is_wanted(*arguments, section); });
  };
}

// Of the lab's sections.
void add_replay_options(Verb verb, const std::shared_ptr<ReportArguments>& arguments) {
  verb.option("--repeat", arguments->options.repeats, "Simulated searches per curve of convergence")
      .between(1, 100000)
      .acts("in the sections convergence and searchers",
            has_one(arguments, {"convergence", "searchers"}));
  verb.option("--seeds", arguments->options.seeds,
              "Simulated applications per point of a regret curve")
      .between(1, 1000)
      .acts("in the sections regret and selection", has_one(arguments, {"regret", "selection"}));
  verb.option("--seed", arguments->options.seed, "Seed of the first simulated search")
      .acts("in sections that draw",
            has_one(arguments, {"convergence", "searchers", "regret", "selection"}));
}

// What the sections compute with.
void add_study_options(Verb verb, const std::shared_ptr<ReportArguments>& arguments) {
  add_threshold(verb, arguments->options.threshold)
      .acts("in other sections",
            has_one(arguments, {"distribution", "fractions", "devices", "pruning", "convergence",
                                "searchers", "model"}));
  add_probability(verb, arguments->options.probability)
      .acts("in the section fractions", has_one(arguments, {"fractions"}));
  const bool replays = !lab_sections().empty();
  verb.option("--model FILE", arguments->model,
              replays ? "Model that searches start from" : "Model to describe")
      .acts(replays ? "in the sections regret and model" : "in the section model",
            has_one(arguments, {"regret", "model"}))
      .shows_default(replays ? "for every device one learned from the others" : "none");
  if (replays) add_replay_options(verb, arguments);
}

}  // namespace

void add_report_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<ReportArguments>();
  Verb verb = line.add_verb("report", "writes one self-contained page with pictures");
  verb.required("histories", arguments->histories, "Histories (.ithistory, or what import reads)");
  verb.required("-o,--output", arguments->output, "Where the page goes (HTML)")
      .writes(FileKind::page);
  verb.option("--kernel K.xml", arguments->kernels,
              "Description (XML) that says the kinds of its kernel's parameters, and its work; may "
              "be repeated")
      .one_at_a_time();
  verb.option("--kind NAME=KIND", arguments->kinds,
              "Kind of the parameters of that name, in any kernel: " + kind_names() +
                  "; may be repeated")
      .checked(wrong_with_kind)
      .one_at_a_time();
  add_study_options(verb, arguments);
  verb.option("--title", arguments->title, "Title of the page");
  verb.option("--sections", arguments->sections, "Only these, separated by commas")
      .separated_by_commas()
      .one_of(section_names())
      .shows_default("all");
  add_emulated(verb, arguments->emulated);
  verb.example("report histories -o report.html");
  verb.runs([arguments, &context] { run_report(*arguments, context); });
}

}  // namespace idletune::cli
