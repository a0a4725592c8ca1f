// errno to Status, in one place.
#pragma once

#include <csignal>
#include <string>
#include <string_view>

#include <idletune/result.hpp>

namespace idletune {

// "No space left on device"; any thread.
std::string error_text(int error);

// "<doing> '<path>': <text>" under the code that fits `error`.
Status system_error(std::string_view doing, const std::string& path, int error);

// While it lives, what this thread writes beyond the process's limit on the size of files
// (RLIMIT_FSIZE) fails with EFBIG, as on a full disk, instead of ending the process with SIGXFSZ.
class WithinFileLimit {
 public:
  WithinFileLimit();
  WithinFileLimit(const WithinFileLimit&) = delete;
  WithinFileLimit& operator=(const WithinFileLimit&) = delete;
  ~WithinFileLimit();  // leaves errno as it is

 private:
  sigset_t before_;
};

}  // namespace idletune
