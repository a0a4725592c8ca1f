#include "agent/cli/report/replayed_sections.hpp"

namespace idletune::report {

std::vector<SectionMaker> replayed_sections() {
  return {{"convergence", convergence_section},
          {"searchers", searcher_section},
          {"regret", regret_section}};
}

}  // namespace idletune::report
