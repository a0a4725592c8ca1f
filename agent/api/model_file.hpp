// A model from where it was pushed to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/trust.hpp>

#include "models/predict/model.hpp"

namespace idletune {

using ModelPointer = std::shared_ptr<const Model>;  // null: there is none

// Reads and verifies the file. Errors: those of read_pushed_file() (at most kMaxModelBytes) and of
// Model::open().
Result<ModelPointer> read_model(const std::string& path, const FileTrust* trust = nullptr);

}  // namespace idletune
