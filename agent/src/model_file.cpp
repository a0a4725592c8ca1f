#include "agent/src/model_file.hpp"

#include <utility>

#include "agent/signing/pushed_file.hpp"

namespace idletune {

Result<PushedModel> read_pushed_model(const std::string& path, const FileTrust* trust) {
  Result<PushedFile> file = read_pushed_file(path, kMaxModelBytes, trust);
  if (!file.ok()) return file.status();
  Result<std::shared_ptr<const Model>> model = Model::open(std::move(file->content), path);
  if (!model.ok()) return model.status();
  return PushedModel{std::move(*model), std::move(file->proof)};
}

Result<std::shared_ptr<const Model>> read_model(const std::string& path) {
  Result<PushedModel> pushed = read_pushed_model(path, nullptr);
  if (!pushed.ok()) return pushed.status();
  return std::move(pushed->model);
}

}  // namespace idletune
