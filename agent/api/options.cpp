#include <idletune/options.hpp>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "platform/os/environment.hpp"

namespace idletune {
namespace {

std::string text_of(const char* name) {
  const char* value = environment(name);
  return value != nullptr ? value : "";
}

Status wrong(const char* name, const char* value, const char* expected) {
  return Status(StatusCode::invalid_argument, "environment variable %='%': expected %", name, value,
                expected);
}

Status apply_mode(AgentOptions& options) {
  const char* value = environment("IDLETUNE_MODE");
  if (value == nullptr) return {};
  if (std::strcmp(value, "off") == 0) {
    options.mode = Mode::off;
  } else if (std::strcmp(value, "cached") == 0) {
    options.mode = Mode::cached;
  } else if (std::strcmp(value, "tune") == 0) {
    options.mode = Mode::tune;
  } else {
    return wrong("IDLETUNE_MODE", value, "off, cached or tune");
  }
  return {};
}

Status apply_verbosity(AgentOptions& options) {
  const char* value = environment("IDLETUNE_VERBOSE");
  if (value == nullptr) return {};
  if (value[0] < '0' || value[0] > '3' || value[1] != '\0') {
    return wrong("IDLETUNE_VERBOSE", value, "a number from 0 to 3");
  }
  options.log_level = value[0] - '0';
  return {};
}

Status apply_max_tuning(AgentOptions& options) {
  const char* value = environment("IDLETUNE_MAX_TUNING_MS");
  if (value == nullptr) return {};
  char* end = nullptr;
  errno = 0;
  const long long milliseconds = std::strtoll(value, &end, 10);
  if (end == value || *end != '\0' || errno != 0 || milliseconds < 0 ||
      milliseconds > 1000000000000) {
    return wrong("IDLETUNE_MAX_TUNING_MS", value, "whole milliseconds, 0 or more");
  }
  options.max_tuning = std::chrono::milliseconds(milliseconds);
  // In the field that means "unlimited".
  if (milliseconds == 0) options.mode = options.mode == Mode::tune ? Mode::cached : options.mode;
  return {};
}

void apply_path(const char* name, std::string& field) {
  if (const char* value = environment(name)) field = value;
}

}  // namespace

Status apply_environment(AgentOptions& options) {
  if (Status status = apply_mode(options); !status.ok()) return status;
  if (Status status = apply_verbosity(options); !status.ok()) return status;
  if (Status status = apply_max_tuning(options); !status.ok()) return status;
  apply_path("IDLETUNE_STATE", options.state);
  apply_path("IDLETUNE_MODEL", options.model);
  apply_path("IDLETUNE_HELPER", options.helper);
  return {};
}

std::string environment_opencl_library() { return text_of("IDLETUNE_OPENCL_LIBRARY"); }
std::string environment_cuda_library() { return text_of("IDLETUNE_CUDA_LIBRARY"); }
std::string environment_nvrtc_library() { return text_of("IDLETUNE_NVRTC_LIBRARY"); }

}  // namespace idletune
