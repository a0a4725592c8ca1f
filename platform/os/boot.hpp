// Which board this is, and which boot of it.
#pragma once

#include <cstdint>
#include <string>

namespace idletune {

// A digest of the kernel's boot id: the same for all processes until the next reboot, another one
// afterwards. 0 where the system does not say. `root` replaces "/" in tests.
std::uint64_t boot_identity(const std::string& root = "");

// A salted digest of the board's serial numbers (device tree, system on chip) and /etc/machine-id:
// the same at every start, another one on another board of the same kind. It identifies the board,
// so it must not be written or sent anywhere. 0 where the system says nothing.
std::uint64_t board_identity(const std::string& root = "");

}  // namespace idletune
