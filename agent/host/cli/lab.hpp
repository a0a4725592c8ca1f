// What the lab (IDLETUNE_LAB) adds to the command. Defined in agent/host/lab/verbs or, in builds
// without the lab, in without_lab.cpp.
#pragma once

#include "agent/host/cli/context.hpp"
#include "agent/host/report/sections.hpp"

namespace idletune::cli {

// `idletune lab`, with verbs of its own; in a build without the lab it says how to have one.
void add_lab_verb(CommandLine& line, CliContext& context);

// Sections of the report that replay searches or judge methods. Empty: this build has no lab.
std::vector<report::SectionMaker> lab_sections();

}  // namespace idletune::cli
