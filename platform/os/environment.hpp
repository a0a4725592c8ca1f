// Environment variables. The one place that reads them.
#pragma once

#include <cstdlib>

namespace idletune {

// The value of an environment variable; null where it is unset or empty, and in a privileged
// program (set-user-id, file capabilities): whoever starts that one must not choose what it runs.
inline const char* environment(const char* name) {
  const char* value = ::secure_getenv(name);
  return value != nullptr && value[0] != '\0' ? value : nullptr;
}

}  // namespace idletune
