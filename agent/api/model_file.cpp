#include "agent/api/model_file.hpp"

#include <utility>

#include "agent/signing/pushed_file.hpp"

namespace idletune {

Result<ModelPointer> read_model(const std::string& path, const FileTrust* trust) {
  Result<std::vector<std::uint8_t>> bytes = read_pushed_file(path, kMaxModelBytes, trust);
  if (!bytes.ok()) return bytes.status();
  return Model::open(std::move(*bytes), path);
}

}  // namespace idletune
