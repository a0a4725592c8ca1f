#include "platform/opencl/loader.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>

#include "models/core/shared.hpp"
#include "platform/shared_library.hpp"

namespace idletune::opencl {
namespace {

// One text with the names one after the other costs less than an address for each.
constexpr char kWellKnownLibraries[] =
    "libOpenCL.so.1\0"
    "libOpenCL.so\0"
// Android keeps vendor libraries outside the default search path.
#if defined(__LP64__)
    "/vendor/lib64/libOpenCL.so\0"
    "/system/vendor/lib64/libOpenCL.so\0"
    "/system/lib64/libOpenCL.so\0"
    "/vendor/lib64/egl/libGLES_mali.so\0"
    "/system/vendor/lib64/egl/libGLES_mali.so\0"
#else
    "/vendor/lib/libOpenCL.so\0"
    "/system/vendor/lib/libOpenCL.so\0"
    "/system/lib/libOpenCL.so\0"
    "/vendor/lib/egl/libGLES_mali.so\0"
    "/system/vendor/lib/egl/libGLES_mali.so\0"
#endif
    // Mali's user-space driver on Linux boards, where it comes without a loader.
    "libGLES_mali.so\0"
    "libmali.so.1\0"
    "libmali.so\0";

// The names in the order of Api's members.
#define IDLETUNE_OPENCL_NAME(name) "cl" #name "\0"
constexpr char kFunctionNames[] =
    IDLETUNE_OPENCL_REQUIRED(IDLETUNE_OPENCL_NAME) IDLETUNE_OPENCL_OPTIONAL(IDLETUNE_OPENCL_NAME);
#undef IDLETUNE_OPENCL_NAME
static_assert(sizeof(void*) == sizeof(decltype(Api::BuildProgram)));

Result<std::shared_ptr<const Api>> resolve_all(void* library, const std::string& path) {
  auto api = new_shared<Api>();
  const char* missing = nullptr;
  auto* place = reinterpret_cast<unsigned char*>(&api->BuildProgram);
  for (const char* name = kFunctionNames; *name != '\0'; name += std::strlen(name) + 1) {
    void* function = dlsym(library, name);
    const bool needed =
        place < reinterpret_cast<unsigned char*>(&api->CreateCommandQueueWithProperties);
    if (function == nullptr && needed) missing = name;
    std::memcpy(place, &function, sizeof function);
    place += sizeof function;
  }
  if (missing != nullptr) {
    return {StatusCode::unsupported, "OpenCL library '%' lacks %, which OpenCL 1.2 has", path,
            missing};
  }
  api->path = library_of(reinterpret_cast<const void*>(api->GetPlatformIDs));
  return std::shared_ptr<const Api>(std::move(api));
}

}  // namespace

Result<std::shared_ptr<const Api>> load(const std::string& library) {
  if (!library.empty()) {
    const Result<void*> handle = open_library("OpenCL library", library);
    if (!handle.ok()) return handle.status();
    return resolve_all(*handle, library);
  }
  if (dlsym(RTLD_DEFAULT, "clGetPlatformIDs") != nullptr) {
    auto loaded = resolve_all(RTLD_DEFAULT, "(already loaded)");
    if (loaded.ok()) return loaded;
  }
  Status first_failure;
  for (const char* name = kWellKnownLibraries; *name != '\0'; name += std::strlen(name) + 1) {
    void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) continue;
    auto api = resolve_all(handle, name);
    if (api.ok()) return api;
    if (first_failure.ok()) first_failure = api.status();
  }
  if (!first_failure.ok()) return first_failure;
  return {StatusCode::not_found,
          "no OpenCL library: tried libOpenCL.so.1, libOpenCL.so and the vendors'"};
}

// clang-format off
#define IDLETUNE_OPENCL_ERRORS(X) \
  X(CL_SUCCESS) X(CL_DEVICE_NOT_FOUND) X(CL_DEVICE_NOT_AVAILABLE) X(CL_COMPILER_NOT_AVAILABLE) \
  X(CL_MEM_OBJECT_ALLOCATION_FAILURE) X(CL_OUT_OF_RESOURCES) X(CL_OUT_OF_HOST_MEMORY) \
  X(CL_PROFILING_INFO_NOT_AVAILABLE) X(CL_MEM_COPY_OVERLAP) X(CL_BUILD_PROGRAM_FAILURE) \
  X(CL_MISALIGNED_SUB_BUFFER_OFFSET) X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) \
  X(CL_COMPILE_PROGRAM_FAILURE) X(CL_LINKER_NOT_AVAILABLE) X(CL_LINK_PROGRAM_FAILURE) \
  X(CL_KERNEL_ARG_INFO_NOT_AVAILABLE) X(CL_INVALID_VALUE) X(CL_INVALID_DEVICE_TYPE) \
  X(CL_INVALID_PLATFORM) X(CL_INVALID_DEVICE) X(CL_INVALID_CONTEXT) \
  X(CL_INVALID_QUEUE_PROPERTIES) X(CL_INVALID_COMMAND_QUEUE) X(CL_INVALID_HOST_PTR) \
  X(CL_INVALID_MEM_OBJECT) X(CL_INVALID_BINARY) X(CL_INVALID_BUILD_OPTIONS) \
  X(CL_INVALID_PROGRAM) X(CL_INVALID_PROGRAM_EXECUTABLE) X(CL_INVALID_KERNEL_NAME) \
  X(CL_INVALID_KERNEL_DEFINITION) X(CL_INVALID_KERNEL) X(CL_INVALID_ARG_INDEX) \
  X(CL_INVALID_ARG_VALUE) X(CL_INVALID_ARG_SIZE) X(CL_INVALID_KERNEL_ARGS) \
  X(CL_INVALID_WORK_DIMENSION) X(CL_INVALID_WORK_GROUP_SIZE) X(CL_INVALID_WORK_ITEM_SIZE) \
  X(CL_INVALID_GLOBAL_OFFSET) X(CL_INVALID_EVENT_WAIT_LIST) X(CL_INVALID_EVENT) \
  X(CL_INVALID_OPERATION) X(CL_INVALID_BUFFER_SIZE) X(CL_INVALID_GLOBAL_WORK_SIZE) \
  X(CL_INVALID_PROPERTY) X(CL_INVALID_COMPILER_OPTIONS) X(CL_INVALID_LINKER_OPTIONS) \
  X(CL_PLATFORM_NOT_FOUND_KHR)
// clang-format on
#define IDLETUNE_OPENCL_NUMBER(name) name,
#define IDLETUNE_OPENCL_NAME(name) #name "\0"
constexpr std::int16_t kErrors[] = {IDLETUNE_OPENCL_ERRORS(IDLETUNE_OPENCL_NUMBER)};
constexpr char kErrorNames[] = IDLETUNE_OPENCL_ERRORS(IDLETUNE_OPENCL_NAME);
#undef IDLETUNE_OPENCL_NUMBER
#undef IDLETUNE_OPENCL_NAME

const char* error_name(cl_int error) {
  const char* name = kErrorNames;
  for (const std::int16_t known : kErrors) {
    if (known == error) return name;
    name += std::strlen(name) + 1;
  }
  return "unknown OpenCL error";
}

Status to_status(cl_int error, const char* call) {
  if (error == CL_SUCCESS) return {};
  const bool memory = error == CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return {memory ? StatusCode::out_of_memory : StatusCode::device_error, "%: % (%)", call,
          error_name(error), error};
}

Status creation_failure(cl_int error, const char* call) {
  return to_status(error != CL_SUCCESS ? error : CL_OUT_OF_RESOURCES, call);
}

}  // namespace idletune::opencl
