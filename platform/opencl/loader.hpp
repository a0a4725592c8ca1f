// Opens an OpenCL library at run time and resolves the functions that idletune uses.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <memory>
#include <string>

#include <idletune/result.hpp>

namespace idletune::opencl {

// Functions of OpenCL 1.2, without which a library is refused.
// clang-format off
#define IDLETUNE_OPENCL_REQUIRED(X) \
  X(BuildProgram) X(CreateBuffer) X(CreateCommandQueue) X(CreateContext) X(CreateKernel) \
  X(CreateProgramWithBinary) X(CreateProgramWithSource) X(EnqueueCopyBuffer) \
  X(EnqueueNDRangeKernel) X(EnqueueReadBuffer) X(EnqueueWriteBuffer) X(Finish) X(Flush) X(GetCommandQueueInfo) \
  X(GetContextInfo) X(GetDeviceIDs) X(GetDeviceInfo) X(GetEventInfo) X(GetEventProfilingInfo) \
  X(GetKernelWorkGroupInfo) X(GetMemObjectInfo) X(GetPlatformIDs) X(GetPlatformInfo) X(GetProgramBuildInfo) \
  X(GetProgramInfo) X(ReleaseCommandQueue) X(ReleaseContext) X(ReleaseEvent) X(ReleaseKernel) \
  X(ReleaseMemObject) X(ReleaseProgram) X(RetainCommandQueue) X(RetainContext) X(RetainEvent) \
  X(SetKernelArg)

// Functions of later versions, or that few need; null where the library lacks them.
#define IDLETUNE_OPENCL_OPTIONAL(X) \
  X(CreateCommandQueueWithProperties) X(CreateSubBuffer) X(EnqueueBarrierWithWaitList) \
  X(EnqueueMarkerWithWaitList) X(GetExtensionFunctionAddressForPlatform) X(GetKernelInfo)
// clang-format on

// The functions of one OpenCL library, by their names without the prefix. The library stays loaded
// until the process ends: drivers leave threads and exit handlers behind.
struct Api {
#define IDLETUNE_OPENCL_MEMBER(name) decltype(&::cl##name) name = nullptr;
  IDLETUNE_OPENCL_REQUIRED(IDLETUNE_OPENCL_MEMBER)
  IDLETUNE_OPENCL_OPTIONAL(IDLETUNE_OPENCL_MEMBER)
#undef IDLETUNE_OPENCL_MEMBER
  std::string path;  // library_of() these
};

// Opens `library`, or where it is empty the library that the process has loaded already, else the
// first of the well-known names that opens. Errors: not_found (names what was tried and why it
// failed), unsupported (a library without some OpenCL 1.2 function, which the message names).
Result<std::shared_ptr<const Api>> load(const std::string& library);

// "CL_OUT_OF_RESOURCES", ...; "unknown OpenCL error" for a number that is none. Never null.
const char* error_name(cl_int error);

// device_error with "<call>: <name> (<number>)", or ok for CL_SUCCESS. out_of_memory for
// CL_MEM_OBJECT_ALLOCATION_FAILURE: drivers that allocate at the first use say so there.
Status to_status(cl_int error, const char* call);
// Of a clCreate... call that gave no object: also for drivers that forget to say why.
Status creation_failure(cl_int error, const char* call);

}  // namespace idletune::opencl
