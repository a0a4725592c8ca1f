// Which boot of the board this is.
#pragma once

#include <cstdint>
#include <string>

namespace idletune {

// A digest of the kernel's boot id: the same for all processes until the next reboot, another one
// afterwards. 0 where the system does not say. `root` replaces "/" in tests.
std::uint64_t boot_identity(const std::string& root = "");

}  // namespace idletune
