#include "platform/os/boot.hpp"

#include "models/core/digest.hpp"
#include "platform/os/storage.hpp"

namespace idletune {

std::uint64_t boot_identity(const std::string& root) {
  const auto id = read_file(root + "/proc/sys/kernel/random/boot_id", 256);
  if (!id.ok() || id->empty()) return 0;
  return digest_of(Bytes(*id));
}

std::uint64_t board_identity(const std::string& root) {
  Digest digest;
  digest.add("idletune's draws");
  bool known = false;
  for (const char* file :
       {"/proc/device-tree/serial-number", "/sys/devices/soc0/serial_number", "/etc/machine-id"}) {
    const auto id = read_file(root + file, 4096);
    if (!id.ok() || id->empty()) continue;
    digest.add(Bytes(*id));
    known = true;
  }
  return known ? digest.value() : 0;
}

}  // namespace idletune
