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

struct PushedModel {
  std::shared_ptr<const Model> model;
  std::vector<std::uint8_t> proof;  // of the file, behind the model's bytes
};
// Reads and verifies the file. Errors: those of read_pushed_file() (at most kMaxModelBytes) and of
// Model::open().
Result<PushedModel> read_pushed_model(const std::string& path, const FileTrust* trust);
// The same where everything is believed.
Result<std::shared_ptr<const Model>> read_model(const std::string& path);

}  // namespace idletune
