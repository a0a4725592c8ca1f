// Whether a model learned from the histories that it is tried on.
#pragma once

#include "agent/host/report/common.hpp"
#include "models/host/history/history.hpp"

namespace idletune::cli {

// One entry per history: true if it is among those that the model in the file learned its kernel
// from. Such a history says nothing about a device that is new to the model. Errors: those of
// reading the model.
Result<std::vector<bool>> seen_by_model(const std::string& model,
                                        const std::vector<History>& histories);

// "2 of 3 targets are among what the model learned from: ..."; empty if none is.
std::string seen_warning(const std::vector<bool>& seen);

}  // namespace idletune::cli
