// The sections of the page that need the lab.
#pragma once

#include "agent/cli/report/sections.hpp"

namespace idletune::report {

Section convergence_section(const Study& study, const ReportOptions& options,
                            const Continue& go_on);
// Without models: searchers that begin with random draws.
Section searcher_section(const Study& study, const ReportOptions& options, const Continue& go_on);
Section regret_section(const Study& study, const ReportOptions& options, const Continue& go_on);

}  // namespace idletune::report
