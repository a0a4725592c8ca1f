// What the verbs do in a build that leaves the lab out: they say so.

#include "agent/host/cli/lab.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/report/sections.hpp"

namespace idletune {
namespace cli {

namespace {

void add_missing_verb(CommandLine& line, CliContext& context, const char* name,
                      const char* purpose) {
  Verb verb = line.add_verb(name, of_lab(purpose));
  verb.takes_anything();
  verb.runs([&context] { context.fail(needs_lab()); });
}

}  // namespace

bool built_with_lab() { return false; }

std::unique_ptr<learners::Learner> make_lab_learner(std::string_view) { return nullptr; }

void add_simulate_verb(CommandLine& line, CliContext& context) {
  add_missing_verb(line, context, "simulate", "plays searchers on recorded histories");
}

void add_regret_verb(CommandLine& line, CliContext& context) {
  add_missing_verb(line, context, "regret",
                   "compares the total time of applications under policies of tuning");
}

void converge_on(const History&, const Pruning&, const ConvergedSearches&, json&) {
  must(needs_lab());
}

Result<json> report_as_published(const std::vector<const History*>&, const CliContext&) {
  return needs_lab();
}

void report_steps_predictions(const std::vector<History>&, const PredictionOptions&,
                              CliContext& context) {
  context.fail(needs_lab());
}

}  // namespace cli

namespace report {

std::vector<SectionMaker> replayed_sections() { return {}; }

}  // namespace report
}  // namespace idletune
