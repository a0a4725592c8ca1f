// The verbs of `idletune offload`. Defined in verb_offload_<name>.cpp.
#pragma once

#include "agent/cli/verbs.hpp"

namespace idletune::cli {

void add_offload_profile_verb(Verb& offload, CliContext& context);
void add_offload_learn_verb(Verb& offload, CliContext& context);
void add_offload_evaluate_verb(Verb& offload, CliContext& context);
void add_offload_decide_verb(Verb& offload, CliContext& context);

}  // namespace idletune::cli
