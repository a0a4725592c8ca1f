#include "platform/shared_library.hpp"

#include <dlfcn.h>

#include "models/core/plain_file.hpp"
#include "platform/os/storage.hpp"

namespace idletune {

Result<void*> open_library(std::string_view what, const std::string& library) {
  // A name without a slash is looked for in the system's folders.
  const bool is_path = library.find('/') != std::string::npos;
  if (is_path && is_no_plain_file(library)) {
    return {StatusCode::invalid_argument, "% '%': not a plain file", what, library};
  }
  if (void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  const char* text = dlerror();
  return {StatusCode::not_found, "% '%': %", what, library,
          text != nullptr ? text : "cannot be opened"};
}

std::string library_of(const void* symbol) {
  Dl_info found;
  if (dladdr(symbol, &found) == 0 || dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD) == nullptr) {
    return {};
  }
  return absolute_path(found.dli_fname);
}

}  // namespace idletune
