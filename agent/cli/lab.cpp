#include "agent/cli/lab.hpp"

namespace idletune::cli {

Status needs_lab() {
  return {StatusCode::unsupported, "built without the lab: configure with -DIDLETUNE_LAB=ON"};
}

std::string of_lab(const std::string& description) {
  return built_with_lab() ? description : description + " (not in this build, which has no lab)";
}

}  // namespace idletune::cli
