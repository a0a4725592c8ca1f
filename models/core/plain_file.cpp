#include "models/core/plain_file.hpp"

#include <sys/stat.h>

namespace idletune {

bool is_no_plain_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

}  // namespace idletune
