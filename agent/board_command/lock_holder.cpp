#include "agent/board_command/lock_holder.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <cstdio>

namespace idletune::board {

// "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF"; what only waits has "->" behind the number.
long lock_holder(const std::string& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) return 0;
  std::FILE* const locks = std::fopen("/proc/locks", "re");
  if (locks == nullptr) return 0;
  long holder = 0;
  char line[256];
  while (holder == 0 && std::fgets(line, sizeof line, locks) != nullptr) {
    long process = 0;
    unsigned large = 0, small = 0;
    unsigned long long node = 0;
    // NOLINTBEGIN(cert-err34-c): what is no number is not found
    const int found =
        std::sscanf(line, "%*d: FLOCK %*s %*s %ld %x:%x:%llu", &process, &large, &small, &node);
    // NOLINTEND(cert-err34-c)
    if (found == 4 && process > 0 && large == major(info.st_dev) && small == minor(info.st_dev) &&
        node == info.st_ino) {
      holder = process;
    }
  }
  std::fclose(locks);
  return holder;
}

}  // namespace idletune::board
