// A model from where it was pushed to.
#pragma once

#include <memory>
#include <string>

#include <idletune/result.hpp>

#include "models/predict/model.hpp"

namespace idletune {

// Reads and verifies the file. Errors: those of read_file() (at most kMaxModelBytes) and of
// Model::open().
Result<std::shared_ptr<const Model>> read_model(const std::string& path);

}  // namespace idletune
