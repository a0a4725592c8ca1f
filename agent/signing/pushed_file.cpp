#include "agent/signing/pushed_file.hpp"

#include <utility>

#include "agent/signing/trailer.hpp"
#include "platform/os/storage.hpp"

namespace idletune {

Result<std::vector<std::uint8_t>> read_pushed_file(const std::string& path, std::size_t limit_bytes,
                                                   const FileTrust* trust) {
  Result<std::vector<std::uint8_t>> bytes = read_file(path, limit_bytes);
  if (!bytes.ok()) return bytes;
  return believed_part(std::move(*bytes), path, trust);
}

Result<std::vector<std::uint8_t>> believed_part(std::vector<std::uint8_t> bytes,
                                                const std::string& name, const FileTrust* trust) {
  std::size_t part = signing::bytes_without_trailer(bytes);
  if (trust != nullptr) {
    const Result<std::size_t> believed = trust->believed(bytes);
    if (!believed.ok()) return Status(believed.code(), "'%': %", name, believed.status().message());
    part = *believed;
  }
  if (part < bytes.size()) bytes.resize(part);
  return bytes;
}

}  // namespace idletune
