#include "platform/cuda/driver.hpp"

#include <idletune/text.hpp>

#include <dlfcn.h>

#include "platform/shared_library.hpp"

namespace idletune::cuda {
namespace {

constexpr const char* kWellKnownLibraries[] = {
    "libcuda.so.1",
    "libcuda.so",
#if defined(__aarch64__)
    // Jetson, JetPack 5 and 6, where the linker's cache does not know it.
    "/usr/lib/aarch64-linux-gnu/tegra/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1",
#endif
};

// The signatures of IDLETUNE_CUDA_REQUIRED are those of this version.
constexpr int kRequiredVersion = 11030;

// Asks the driver itself for its functions, which gives the signature of the version asked for;
// older drivers (before CUDA 11.3) only have their symbols.
class Resolver {
 public:
  explicit Resolver(void* library) : library_(library) {
    second_ = reinterpret_cast<SecondGetter>(dlsym(library, "cuGetProcAddress_v2"));
    if (second_ == nullptr) {
      first_ = reinterpret_cast<FirstGetter>(dlsym(library, "cuGetProcAddress"));
    }
  }

  void* find(const char* name, const char* symbol, int version) const {
    void* function = nullptr;
    Error error = kNotFound;
    if (second_ != nullptr) {
      int status = 0;
      error = second_(name, &function, version, kProcAddressDefault, &status);
    } else if (first_ != nullptr) {
      error = first_(name, &function, version, kProcAddressDefault);
    }
    if (error == kSuccess && function != nullptr) return function;
    function = dlsym(library_, symbol);
    // CUDA 10 has the second version of few functions; the first is called alike.
    return function != nullptr ? function : dlsym(library_, name);
  }

 private:
  using SecondGetter = Error (*)(const char*, void**, int, std::uint64_t, int*);
  using FirstGetter = Error (*)(const char*, void**, int, std::uint64_t);
  void* library_;
  SecondGetter second_ = nullptr;
  FirstGetter first_ = nullptr;
};

template <class Function>
bool resolve(const Resolver& resolver, const char* name, const char* symbol, int version,
             Function*& function) {
  function = reinterpret_cast<Function*>(resolver.find(name, symbol, version));
  return function != nullptr;
}

Result<std::shared_ptr<Driver>> resolve_all(void* library, const std::string& path) {
  auto driver = std::make_shared<Driver>();
  const Resolver resolver(library);
  const char* missing = nullptr;
#define IDLETUNE_CUDA_RESOLVE(name, suffix, parameters)                                     \
  if (!resolve(resolver, "cu" #name, "cu" #name #suffix, kRequiredVersion, driver->name)) { \
    missing = "cu" #name #suffix;                                                           \
  }
  IDLETUNE_CUDA_REQUIRED(IDLETUNE_CUDA_RESOLVE)
#undef IDLETUNE_CUDA_RESOLVE
#define IDLETUNE_CUDA_RESOLVE(name, version, parameters) \
  resolve(resolver, "cu" #name, "cu" #name, version, driver->name);
  IDLETUNE_CUDA_OPTIONAL(IDLETUNE_CUDA_RESOLVE)
#undef IDLETUNE_CUDA_RESOLVE
  if (missing != nullptr) {
    return {StatusCode::unsupported,
            "CUDA driver '%' lacks %; expected a driver of CUDA 10.2 or newer", path, missing};
  }
  driver->path = library_of(dlsym(library, "cuInit"));
  return driver;
}

Status initialise(Driver& driver) {
  const Error error = driver.Init(0);
  if (error == kStubLibrary) {
    return {StatusCode::not_found,
            "CUDA driver '%' is the toolkit's stub library; expected the driver's", driver.path};
  }
  driver.has_devices = error != kNoDevice;
  if (error != kSuccess && error != kNoDevice) {
    return {StatusCode::unsupported, "CUDA driver '%': %", driver.path,
            driver.describe(error, "cuInit")};
  }
  return driver.to_status(driver.DriverGetVersion(&driver.version), "cuDriverGetVersion");
}

Result<std::shared_ptr<const Driver>> set_up(void* library, const std::string& path) {
  auto driver = resolve_all(library, path);
  if (!driver.ok()) return driver.status();
  if (Status ready = initialise(**driver); !ready.ok()) return ready;
  return std::shared_ptr<const Driver>(std::move(*driver));
}

}  // namespace

std::string Driver::describe(Error error, const char* call) const {
  const char* name = nullptr;
  if (GetErrorName(error, &name) != kSuccess || name == nullptr) name = "unknown CUDA error";
  return joined("%: % (%)", call, name, error);
}

Status Driver::to_status(Error error, const char* call) const {
  if (error == kSuccess) return {};
  return {StatusCode::device_error, describe(error, call)};
}

Result<std::shared_ptr<const Driver>> load_driver(const std::string& library) {
  if (!library.empty()) {
    const Result<void*> handle = open_library("CUDA driver", library);
    if (!handle.ok()) return handle.status();
    return set_up(*handle, library);
  }
  Status first_failure;
  for (const char* name : kWellKnownLibraries) {
    void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) continue;
    auto driver = set_up(handle, name);
    if (driver.ok()) return driver;
    if (first_failure.ok()) first_failure = driver.status();
  }
  if (!first_failure.ok()) return first_failure;
  return {StatusCode::not_found, "no CUDA driver: tried libcuda.so.1 and libcuda.so"};
}

std::string kernel_module_version(const std::string& text) {
  constexpr char kDigits[] = "0123456789";
  constexpr char kVersionCharacters[] = "0123456789.";
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find_first_of(" \t\n", at);
    if (end == std::string::npos) end = text.size();
    std::string word = text.substr(at, end - at);
    if (word.find('.') != std::string::npos && word.find_first_of(kDigits) == 0 &&
        word.find_first_not_of(kVersionCharacters) == std::string::npos) {
      return word;
    }
    at = end + 1;
  }
  return {};
}

}  // namespace idletune::cuda
