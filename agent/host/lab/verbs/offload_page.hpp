// A page of predictions of offloading.
#pragma once

#include "agent/host/pictures/page.hpp"

namespace idletune::report {

// `result` is one of those that `idletune lab offload --json` prints.
Page offload_page(const json& result);

}  // namespace idletune::report
