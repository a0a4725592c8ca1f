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

Section convergence_section(const Study& study, const ReportOptions& options,
                            const Continue& go_on);
// Without models: searchers that begin with random draws.
Section searcher_section(const Study& study, const ReportOptions& options, const Continue& go_on);
Section regret_section(const Study& study, const ReportOptions& options, const Continue& go_on);
// No parts where no device was measured at several problems of a kernel.
Section selection_section(const Study& study, const ReportOptions& options, const Continue& go_on);

}  // namespace idletune::report
