#include "platform/os/boot.hpp"

#include "models/core/digest.hpp"
#include "platform/os/storage.hpp"

namespace idletune {

std::uint64_t boot_identity(const std::string& root) {
  const auto id = read_file(root + "/proc/sys/kernel/random/boot_id", 256);
  if (!id.ok() || id->empty()) return 0;
  return digest_of(Bytes(*id));
}

}  // namespace idletune
