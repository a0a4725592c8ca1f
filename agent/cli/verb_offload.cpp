// idletune offload ...: is a loop of CPU code worth a GPU kernel?
#include "agent/cli/verbs_offload.hpp"

namespace idletune::cli {

void add_offload_verb(CommandLine& line, CliContext& context) {
  Verb offload = line.add_verb("offload", "predicts from CPU code whether a GPU kernel would pay");
  add_offload_profile_verb(offload, context);
  add_offload_learn_verb(offload, context);
  add_offload_evaluate_verb(offload, context);
  add_offload_decide_verb(offload, context);
}

}  // namespace idletune::cli
