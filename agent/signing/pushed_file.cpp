#include "agent/signing/pushed_file.hpp"

#include <algorithm>
#include <utility>

#include "agent/signing/trailer.hpp"
#include "platform/os/storage.hpp"

namespace idletune {

Result<PushedFile> read_pushed_file(const std::string& path, std::size_t limit_bytes,
                                    const FileTrust* trust) {
  Result<std::vector<std::uint8_t>> bytes = read_file(path, limit_bytes);
  if (!bytes.ok()) return bytes.status();
  std::size_t content = signing::bytes_without_trailer(*bytes);
  if (trust != nullptr) {
    const Result<std::size_t> believed = trust->believed(*bytes);
    if (!believed.ok()) return Status(believed.code(), "'%': %", path, believed.status().message());
    content = std::min(*believed, bytes->size());
  }
  PushedFile file;
  file.proof.assign(bytes->begin() + static_cast<std::ptrdiff_t>(content), bytes->end());
  bytes->resize(content);
  file.content = std::move(*bytes);
  return file;
}

}  // namespace idletune
