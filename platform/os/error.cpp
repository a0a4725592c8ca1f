#include "platform/os/error.hpp"

#include <idletune/text.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace idletune {
namespace {

// strerror_r is one of two functions, depending on the C library.
[[maybe_unused]] const char* chosen_text(int failed, const char* buffer) {
  return failed == 0 ? buffer : "unknown error";
}
[[maybe_unused]] const char* chosen_text(const char* text, const char*) { return text; }

StatusCode code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return StatusCode::not_found;
    case EROFS:
    case EACCES:
    case EPERM: return StatusCode::read_only;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return StatusCode::no_space;
    case ENOMEM:
    case EAGAIN: return StatusCode::out_of_memory;
    default: return StatusCode::io_error;
  }
}

}  // namespace

std::string error_text(int error) {
  char buffer[128] = "";
  return chosen_text(::strerror_r(error, buffer, sizeof(buffer)), buffer);
}

Status system_error(std::string_view doing, const std::string& path, int error) {
  return {code_of(error), joined("% '%': %", doing, path, error_text(error))};
}

WithinFileLimit::WithinFileLimit() {
  sigset_t limit;
  ::sigemptyset(&limit);
  ::sigaddset(&limit, SIGXFSZ);
  (void)::pthread_sigmask(SIG_BLOCK, &limit, &before_);
}

WithinFileLimit::~WithinFileLimit() {
  const int error = errno;
  if (error == EFBIG && ::sigismember(&before_, SIGXFSZ) == 0) {
    sigset_t limit;
    ::sigemptyset(&limit);
    ::sigaddset(&limit, SIGXFSZ);
    const timespec at_once{};
    (void)::sigtimedwait(&limit, nullptr, &at_once);  // it is pending for this thread
  }
  (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

}  // namespace idletune
