#include "agent/src/model_file.hpp"

#include <utility>
#include <vector>

#include "platform/os/storage.hpp"

namespace idletune {

Result<std::shared_ptr<const Model>> read_model(const std::string& path) {
  Result<std::vector<std::uint8_t>> bytes = read_file(path, kMaxModelBytes);
  if (!bytes.ok()) return bytes.status();
  return Model::open(std::move(*bytes), path);
}

}  // namespace idletune
