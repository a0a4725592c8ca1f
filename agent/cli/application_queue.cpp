#include "agent/cli/application_queue.hpp"

#include <idletune/options.hpp>
#ifdef IDLETUNE_WITH_CUDA
#include <idletune/cuda.hpp>

#include "platform/cuda/driver.hpp"
#endif
#ifdef IDLETUNE_WITH_OPENCL
#include <idletune/opencl.hpp>

#include "platform/opencl/loader.hpp"
#endif

namespace idletune::cli {

#ifdef IDLETUNE_WITH_CUDA
namespace {

Status wait_for_stream(const cuda::Driver& driver, const cuda::Handles& handles) {
  cuda::Error error = driver.CtxPushCurrent(static_cast<cuda::ContextHandle>(handles.context));
  if (error != cuda::kSuccess) return driver.to_status(error, "cuCtxPushCurrent");
  error = driver.StreamSynchronize(static_cast<cuda::StreamHandle>(handles.stream));
  cuda::ContextHandle left = nullptr;
  (void)driver.CtxPopCurrent(&left);
  return driver.to_status(error, "cuStreamSynchronize");
}

}  // namespace
#endif

Result<WaitForLaunches> waiting_for(Device& device) {
#ifdef IDLETUNE_WITH_CUDA
  if (device.info().backend == "cuda") {
    const auto driver = cuda::load_driver(environment_cuda_library());
    if (!driver.ok()) return driver.status();
    return WaitForLaunches([driver = *driver, handles = cuda::handles(device)] {
      return wait_for_stream(*driver, handles);
    });
  }
#endif
#ifdef IDLETUNE_WITH_OPENCL
  if (device.info().backend == "opencl") {
    const auto api = opencl::load(environment_opencl_library());
    if (!api.ok()) return api.status();
    return WaitForLaunches([api = *api, queue = opencl::handles(device).queue] {
      return opencl::to_status(api->Finish(static_cast<cl_command_queue>(queue)), "clFinish");
    });
  }
#endif
  return Status(StatusCode::unsupported, "this build cannot wait for " + device.info().backend);
}

}  // namespace idletune::cli
