// The verbs of `idletune lab`, each defined in verb_<name>.cpp, and the sections that the lab adds
// to `idletune report`.
#pragma once

#include "agent/host/cli/context.hpp"
#include "agent/host/report/sections.hpp"

namespace idletune::cli {

void add_lab_simulate_verb(Verb& lab, CliContext& context);
void add_lab_regret_verb(Verb& lab, CliContext& context);
void add_lab_fractions_verb(Verb& lab, CliContext& context);
void add_lab_steps_verb(Verb& lab, CliContext& context);
void add_lab_converge_verb(Verb& lab, CliContext& context);
void add_lab_select_verb(Verb& lab, CliContext& context);
void add_lab_formats_verb(Verb& lab, CliContext& context);
void add_lab_offload_verb(Verb& lab, CliContext& context);

}  // namespace idletune::cli

namespace idletune::report {

// Searchers come without models, and begin with random draws.
SectionFunction convergence_section, searcher_section, regret_section, selection_section;

}  // namespace idletune::report
