#include "agent/host/cli/lab.hpp"

namespace idletune::cli {

void add_lab_verb(CommandLine& line, CliContext& context) {
  Verb verb = line.add_verb("lab", "judges methods (not in this build, which has no lab)");
  verb.takes_anything();
  verb.runs([&context] {
    context.fail(
        Status(StatusCode::unsupported, "built without the lab: configure with -DIDLETUNE_LAB=ON"));
  });
}

std::vector<report::SectionMaker> lab_sections() { return {}; }

}  // namespace idletune::cli
