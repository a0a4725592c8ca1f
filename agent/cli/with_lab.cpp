#include "agent/cli/lab.hpp"

bool idletune::cli::built_with_lab() { return true; }
