// idletune offload profile SOURCE: what a loop of CPU code does, as features that a learner takes.

#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/profiled_program.hpp"
#include "agent/host/cli/verbs.hpp"
#include "models/core/number_text.hpp"

namespace idletune::cli {
namespace {

struct ProfileArguments {
  ProfilingJob job;
  std::string output = "profile.json";
  bool no_time = false;
};

// How often a region took longer with the profiler than without; "" if either is not known.
std::string slow_down(const offload::RegionProfile& region) {
  for (const auto& [name, count] : region.counts) {
    if (name != "profiling_us" || count == 0 || !region.cpu_ms) continue;
    return number_text(std::round(1e-2 * static_cast<double>(count) / *region.cpu_ms) / 10, 6);
  }
  return "";
}

void print(const offload::Profile& profile, CliContext& context) {
  std::vector<std::string> columns{"feature"};
  constexpr std::size_t kMost = 6;  // regions beside each other
  const std::size_t shown = std::min(profile.regions.size(), kMost);
  for (std::size_t i = 0; i < shown; ++i) {
    columns.push_back(">" + profile.regions[i].name);
  }
  TextTable table(columns);
  const std::vector<std::string>& names = offload::profiled_features().names;
  for (std::size_t f = 0; f < names.size(); ++f) {
    std::vector<std::string> row{names[f]};
    for (std::size_t i = 0; i < shown; ++i)
      row.push_back(number_text(profile.regions[i].features[f], 6));
    table.add_row(row);
  }
  std::vector<std::string> slower{"times slower"};
  for (std::size_t i = 0; i < shown; ++i) slower.push_back(slow_down(profile.regions[i]));
  table.add_row(slower);
  context.print(table);
  if (shown < profile.regions.size()) {
    context.print(std::to_string(profile.regions.size() - shown) +
                  " more regions are in the file.");
  }
}

void run_profile(const ProfileArguments& arguments, CliContext& context) {
  if (!context.check(arguments.output, FileKind::profile)) return;
  ProfilingJob job = arguments.job;
  job.quiet = context.json();
  job.time = !arguments.no_time;
  const KeepsPart stops_the_program;
  const auto profile = must(profile_program(job));
  const auto text = must(offload::profile_text(profile));
  const bool written = context.write({{arguments.output, FileKind::profile, bytes_of(text)}});
  for (const offload::RegionProfile& region : profile.regions) {
    for (const std::string& remark : region.remarks) context.warn(region.name, remark);
  }
  if (interrupted()) context.stopped(kStoppedEarly);
  if (!context.json()) {
    print(profile, context);
    if (written) context.print_paragraph("Written to " + arguments.output + ".");
    return;
  }
  json answer = json::parse(text);
  answer["file"] = arguments.output;
  context.print_json(answer);
}

}  // namespace

void add_offload_profile_verb(Verb& offload, CliContext& context) {
  auto arguments = std::make_shared<ProfileArguments>();
  Verb verb = offload.add_verb("profile", "measures what loops of a C++ program do");
  verb.required("source", arguments->job.source, "C or C++ source of the program, one file");
  verb.option("arguments", arguments->job.arguments, "The program's own arguments, behind --");
  verb.option("--function", arguments->job.functions,
              "A function that is a region; also those marked IDLETUNE_OFFLOAD_REGION are")
      .one_at_a_time();
  verb.option("-o,--output", arguments->output, "File to write").writes(FileKind::profile);
  verb.option("--option", arguments->job.options,
              "For compiler and linker, such as --option=-Iinclude; may be repeated")
      .one_at_a_time();
  const Argument full =
      verb.flag("--full", arguments->job.full, "Trace everything, not bursts: exact and slow");
  const Argument no_time =
      verb.flag("--no-time", arguments->no_time,
                "Do not compile and run it again to time the regions without the profiler");
  const Argument from_code =
      verb.flag("--static", arguments->job.from_code,
                "Walk through the code instead of running it; what it does not say stays open")
          .excludes(full)
          .excludes(no_time);
  verb.option("--value", arguments->job.values,
              "With --static: NAME=NUMBER of a parameter of a region or of a global variable")
      .needs(from_code)
      .one_at_a_time();
  verb.option("--limit N[s]", arguments->job.limit_s, "After which a run is stopped")
      .between(1e-3, 1e9);
  verb.example("offload profile saxpy.cpp --function saxpy -- 100000");
  verb.example("offload profile saxpy.cpp --function saxpy --static --value n=100000");
  verb.runs([arguments, &context] { run_profile(*arguments, context); });
}

}  // namespace idletune::cli
