// idletune lab VERB: repeats publications and judges methods.

#include "agent/host/cli/lab.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"

namespace idletune::cli {

void add_lab_verb(CommandLine& line, CliContext& context) {
  Verb lab = line.add_verb("lab", "repeats publications and judges methods");
  add_lab_simulate_verb(lab, context);
  add_lab_regret_verb(lab, context);
  add_lab_fractions_verb(lab, context);
  add_lab_steps_verb(lab, context);
  add_lab_converge_verb(lab, context);
  add_lab_select_verb(lab, context);
  add_lab_formats_verb(lab, context);
  add_lab_offload_verb(lab, context);
}

std::vector<report::SectionMaker> lab_sections() {
  return {{"convergence", report::convergence_section},
          {"searchers", report::searcher_section},
          {"regret", report::regret_section},
          {"selection", report::selection_section}};
}

}  // namespace idletune::cli
