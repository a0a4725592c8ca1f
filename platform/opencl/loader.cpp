#include "platform/opencl/loader.hpp"

#include <dlfcn.h>

#include <cstddef>

#include "platform/shared_library.hpp"

namespace idletune::opencl {
namespace {

constexpr const char* kWellKnownLibraries[] = {
    "libOpenCL.so.1",
    "libOpenCL.so",
// Android keeps vendor libraries outside the default search path.
#if defined(__LP64__)
    "/vendor/lib64/libOpenCL.so",
    "/system/vendor/lib64/libOpenCL.so",
    "/system/lib64/libOpenCL.so",
    "/vendor/lib64/egl/libGLES_mali.so",
    "/system/vendor/lib64/egl/libGLES_mali.so",
#else
    "/vendor/lib/libOpenCL.so",
    "/system/vendor/lib/libOpenCL.so",
    "/system/lib/libOpenCL.so",
    "/vendor/lib/egl/libGLES_mali.so",
    "/system/vendor/lib/egl/libGLES_mali.so",
#endif
    // Mali's user-space driver on Linux boards, where it comes without a loader.
    "libGLES_mali.so",
    "libmali.so.1",
    "libmali.so",
};

template <class Function>
bool resolve(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

Result<std::shared_ptr<const Api>> resolve_all(void* library, std::string path) {
  auto api = std::make_shared<Api>();
  const char* missing = nullptr;
#define IDLETUNE_OPENCL_RESOLVE(name) \
  if (!resolve(library, "cl" #name, api->name)) missing = "cl" #name;
  IDLETUNE_OPENCL_REQUIRED(IDLETUNE_OPENCL_RESOLVE)
#undef IDLETUNE_OPENCL_RESOLVE
#define IDLETUNE_OPENCL_RESOLVE(name) resolve(library, "cl" #name, api->name);
  IDLETUNE_OPENCL_OPTIONAL(IDLETUNE_OPENCL_RESOLVE)
#undef IDLETUNE_OPENCL_RESOLVE
  if (missing != nullptr) {
    return {
        StatusCode::unsupported,
        {"OpenCL library '", path, "' lacks ", missing, "; expected all functions of OpenCL 1.2"}};
  }
  api->path = std::move(path);
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
  for (const char* name : kWellKnownLibraries) {
    void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) continue;
    auto api = resolve_all(handle, name);
    if (api.ok()) return api;
    if (first_failure.ok()) first_failure = api.status();
  }
  if (!first_failure.ok()) return first_failure;
  return {StatusCode::not_found,
          "no OpenCL library: tried libOpenCL.so.1, libOpenCL.so and the vendors' libraries"};
}

const char* error_name(cl_int error) {
#define IDLETUNE_OPENCL_NAME(name) \
  case name: return #name;
  switch (error) {
    IDLETUNE_OPENCL_NAME(CL_SUCCESS)
    IDLETUNE_OPENCL_NAME(CL_DEVICE_NOT_FOUND)
    IDLETUNE_OPENCL_NAME(CL_DEVICE_NOT_AVAILABLE)
    IDLETUNE_OPENCL_NAME(CL_COMPILER_NOT_AVAILABLE)
    IDLETUNE_OPENCL_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    IDLETUNE_OPENCL_NAME(CL_OUT_OF_RESOURCES)
    IDLETUNE_OPENCL_NAME(CL_OUT_OF_HOST_MEMORY)
    IDLETUNE_OPENCL_NAME(CL_PROFILING_INFO_NOT_AVAILABLE)
    IDLETUNE_OPENCL_NAME(CL_MEM_COPY_OVERLAP)
    IDLETUNE_OPENCL_NAME(CL_BUILD_PROGRAM_FAILURE)
    IDLETUNE_OPENCL_NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET)
    IDLETUNE_OPENCL_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    IDLETUNE_OPENCL_NAME(CL_COMPILE_PROGRAM_FAILURE)
    IDLETUNE_OPENCL_NAME(CL_LINKER_NOT_AVAILABLE)
    IDLETUNE_OPENCL_NAME(CL_LINK_PROGRAM_FAILURE)
    IDLETUNE_OPENCL_NAME(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)
    IDLETUNE_OPENCL_NAME(CL_INVALID_VALUE)
    IDLETUNE_OPENCL_NAME(CL_INVALID_DEVICE_TYPE)
    IDLETUNE_OPENCL_NAME(CL_INVALID_PLATFORM)
    IDLETUNE_OPENCL_NAME(CL_INVALID_DEVICE)
    IDLETUNE_OPENCL_NAME(CL_INVALID_CONTEXT)
    IDLETUNE_OPENCL_NAME(CL_INVALID_QUEUE_PROPERTIES)
    IDLETUNE_OPENCL_NAME(CL_INVALID_COMMAND_QUEUE)
    IDLETUNE_OPENCL_NAME(CL_INVALID_HOST_PTR)
    IDLETUNE_OPENCL_NAME(CL_INVALID_MEM_OBJECT)
    IDLETUNE_OPENCL_NAME(CL_INVALID_BINARY)
    IDLETUNE_OPENCL_NAME(CL_INVALID_BUILD_OPTIONS)
    IDLETUNE_OPENCL_NAME(CL_INVALID_PROGRAM)
    IDLETUNE_OPENCL_NAME(CL_INVALID_PROGRAM_EXECUTABLE)
    IDLETUNE_OPENCL_NAME(CL_INVALID_KERNEL_NAME)
    IDLETUNE_OPENCL_NAME(CL_INVALID_KERNEL_DEFINITION)
    IDLETUNE_OPENCL_NAME(CL_INVALID_KERNEL)
    IDLETUNE_OPENCL_NAME(CL_INVALID_ARG_INDEX)
    IDLETUNE_OPENCL_NAME(CL_INVALID_ARG_VALUE)
    IDLETUNE_OPENCL_NAME(CL_INVALID_ARG_SIZE)
    IDLETUNE_OPENCL_NAME(CL_INVALID_KERNEL_ARGS)
    IDLETUNE_OPENCL_NAME(CL_INVALID_WORK_DIMENSION)
    IDLETUNE_OPENCL_NAME(CL_INVALID_WORK_GROUP_SIZE)
    IDLETUNE_OPENCL_NAME(CL_INVALID_WORK_ITEM_SIZE)
    IDLETUNE_OPENCL_NAME(CL_INVALID_GLOBAL_OFFSET)
    IDLETUNE_OPENCL_NAME(CL_INVALID_EVENT_WAIT_LIST)
    IDLETUNE_OPENCL_NAME(CL_INVALID_EVENT)
    IDLETUNE_OPENCL_NAME(CL_INVALID_OPERATION)
    IDLETUNE_OPENCL_NAME(CL_INVALID_BUFFER_SIZE)
    IDLETUNE_OPENCL_NAME(CL_INVALID_GLOBAL_WORK_SIZE)
    IDLETUNE_OPENCL_NAME(CL_INVALID_PROPERTY)
    IDLETUNE_OPENCL_NAME(CL_INVALID_COMPILER_OPTIONS)
    IDLETUNE_OPENCL_NAME(CL_INVALID_LINKER_OPTIONS)
    IDLETUNE_OPENCL_NAME(CL_PLATFORM_NOT_FOUND_KHR)
    default: return "unknown OpenCL error";
  }
#undef IDLETUNE_OPENCL_NAME
}

Status to_status(cl_int error, const char* call) {
  if (error == CL_SUCCESS) return {};
  return {StatusCode::device_error, {call, ": ", error_name(error), " (", error, ")"}};
}

Status creation_failure(cl_int error, const char* call) {
  return to_status(error != CL_SUCCESS ? error : CL_OUT_OF_RESOURCES, call);
}

}  // namespace idletune::opencl
