// An OpenCL library that does nothing, at once. See stub_control.h.
// For other processes, STUB_OPENCL_EVENT_STATUS and STUB_OPENCL_GEMM preset those settings when the
// library is loaded.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "tests/bench/stub_gemm.hpp"
#include "tests/bench/stub_opencl/stub_state.hpp"

using namespace stub_opencl;

namespace {

int devices[4];
int platform;

cl_device_id device_at(cl_uint i) { return reinterpret_cast<cl_device_id>(&devices[i]); }
cl_platform_id the_platform() { return reinterpret_cast<cl_platform_id>(&platform); }

template <class Handle>
Handle create(cl_int error, cl_int* error_out, Object* parent = nullptr) {
  if (error_out != nullptr) *error_out = error;
  if (error != CL_SUCCESS) return nullptr;
  auto* object = new Object;
  object->parent = parent;
  state().live.fetch_add(1);
  std::lock_guard<std::mutex> lock(state().objects_mutex);
  state().objects.insert(object);
  return reinterpret_cast<Handle>(object);
}

template <class Handle>
cl_int retain(Function function, Handle handle) {
  const cl_int error = enter(function);
  if (error == CL_SUCCESS) object_of(handle)->references.fetch_add(1);
  return error;
}

template <class Handle>
cl_int release(Function function, Handle handle) {
  const cl_int error = enter(function);
  if (error != CL_SUCCESS) return error;
  if (object_of(handle)->references.fetch_sub(1) == 1) {
    {
      std::lock_guard<std::mutex> lock(state().objects_mutex);
      state().objects.erase(object_of(handle));
    }
    delete object_of(handle);
    state().live.fetch_sub(1);
  }
  return CL_SUCCESS;
}

// The way every clGet...Info answers.
cl_int give(const void* value, size_t value_size, size_t size, void* out, size_t* size_out) {
  if (size_out != nullptr) *size_out = value_size;
  if (out == nullptr) return CL_SUCCESS;
  if (size < value_size) return CL_INVALID_VALUE;
  std::memcpy(out, value, value_size);
  return CL_SUCCESS;
}
cl_int give(const std::string& text, size_t size, void* out, size_t* size_out) {
  return give(text.c_str(), text.size() + 1, size, out, size_out);
}
template <class T>
cl_int give_value(T value, size_t size, void* out, size_t* size_out) {
  return give(&value, sizeof value, size, out, size_out);
}

std::string version() { return "OpenCL " + std::to_string(setting(STUB_OPENCL_MAJOR)) + ".0 stub"; }

std::string extensions() {
  std::string list = "cl_khr_byte_addressable_store";
  if (setting(STUB_PRIORITY_HINTS) != 0) list += " cl_khr_priority_hints";
  if (setting(STUB_QUEUE_EXTENSION) != 0) list += " cl_khr_create_command_queue";
  return list;
}

// The number behind "NAME=" in a program's options; `otherwise` where there is none.
long definition(const Object& kernel, const char* name, long otherwise) {
  const std::string& options = kernel.parent->options;
  const std::size_t at = options.find(std::string(name) + "=");
  return at == std::string::npos ? otherwise
                                 : std::atol(options.c_str() + at + std::strlen(name) + 1);
}

cl_event make_event(const Object& kernel) {
  cl_int error = CL_SUCCESS;
  auto event = create<cl_event>(CL_SUCCESS, &error);
  object_of(event)->polls = setting(STUB_EVENT_POLLS);
  if (kernel.is_gemm && setting(STUB_GEMM) != 0) {
    object_of(event)->run_ns = idletune::bench::gemm_run_ns(kernel.parent->options);
  }
  if (kernel.is_scale) object_of(event)->run_ns = 1000 * definition(kernel, "RUN_US", 1);
  return event;
}

template <class T>
T argument_of(const Object& kernel, int i) {
  T value;
  std::memcpy(&value, kernel.argument[i], sizeof value);
  return value;
}

void run_scale(const Object& kernel) {
  const auto place = [&](int i) {
    return reinterpret_cast<float*>(data_of(object_of(argument_of<cl_mem>(kernel, i))));
  };
  float* const out = place(0);
  const float* const in = place(1);
  const int n = argument_of<int>(kernel, 3);
  for (int i = 0; i < n; ++i) out[i] = argument_of<float>(kernel, 2) * in[i];
  if (n > 0 && definition(kernel, "BEHAVIOUR", 0) != 0) out[n - 1] += 1;
}

void run_gemm(const Object& kernel) {
  idletune::bench::StubGemm gemm;
  gemm.m = argument_of<int>(kernel, 0);
  gemm.n = argument_of<int>(kernel, 1);
  gemm.k = argument_of<int>(kernel, 2);
  int next = 3;
  if (kernel.is_sgemm) {
    const int form = argument_of<int>(kernel, next++);
    gemm.turned_a = (form & 1) != 0;
    gemm.turned_b = (form & 2) != 0;
  }
  float* memory[3];
  for (float*& operand : memory) {
    operand = reinterpret_cast<float*>(data_of(object_of(argument_of<cl_mem>(kernel, next++))));
  }
  gemm.a = memory[0];
  gemm.b = memory[1];
  gemm.c = memory[2];
  if (kernel.is_sgemm) ++next;  // the table
  gemm.alpha = argument_of<float>(kernel, next++);
  gemm.beta = argument_of<float>(kernel, next);
  idletune::bench::compute(gemm);
}

// A program's binary tells what it was made from.
std::string binary_of(const Object* program) { return "stub binary of " + program->text; }

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

cl_int clGetPlatformIDs(cl_uint count, cl_platform_id* out, cl_uint* count_out) {
  if (const cl_int error = enter(kGetPlatformIDs)) return error;
  if (setting(STUB_PLATFORMS) == 0) return CL_PLATFORM_NOT_FOUND_KHR;
  if (count_out != nullptr) *count_out = 1;
  if (out != nullptr && count > 0) *out = the_platform();
  return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id, cl_platform_info what, size_t size, void* out,
                         size_t* size_out) {
  if (const cl_int error = enter(kGetPlatformInfo)) return error;
  switch (what) {
    case CL_PLATFORM_NAME: return give("Stub platform", size, out, size_out);
    case CL_PLATFORM_VENDOR: return give("idletune", size, out, size_out);
    case CL_PLATFORM_VERSION: return give(version(), size, out, size_out);
    case CL_PLATFORM_EXTENSIONS: return give(extensions(), size, out, size_out);
    default: return CL_INVALID_VALUE;
  }
}

cl_int clGetDeviceIDs(cl_platform_id, cl_device_type, cl_uint count, cl_device_id* out,
                      cl_uint* count_out) {
  if (const cl_int error = enter(kGetDeviceIDs)) return error;
  const auto available = static_cast<cl_uint>(std::clamp(setting(STUB_DEVICES), 0L, 4L));
  if (available == 0) return CL_DEVICE_NOT_FOUND;
  if (count_out != nullptr) *count_out = available;
  for (cl_uint i = 0; out != nullptr && i < std::min(count, available); ++i) out[i] = device_at(i);
  return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id, cl_device_info what, size_t size, void* out,
                       size_t* size_out) {
  if (const cl_int error = enter(kGetDeviceInfo)) return error;
  const size_t item_sizes[3] = {256, 128, 64};
  switch (what) {
    case CL_DEVICE_PLATFORM: return give_value(the_platform(), size, out, size_out);
    case CL_DEVICE_TYPE: return give_value<cl_device_type>(CL_DEVICE_TYPE_GPU, size, out, size_out);
    case CL_DEVICE_NAME: return give("  Stub GPU ", size, out, size_out);
    case CL_DEVICE_VENDOR: return give("idletune", size, out, size_out);
    case CL_DRIVER_VERSION: return give("1.0", size, out, size_out);
    case CL_DEVICE_VERSION: return give(version(), size, out, size_out);
    case CL_DEVICE_EXTENSIONS: return give(extensions(), size, out, size_out);
    case CL_DEVICE_MAX_COMPUTE_UNITS: return give_value<cl_uint>(8, size, out, size_out);
    case CL_DEVICE_LOCAL_MEM_SIZE: return give_value<cl_ulong>(32768, size, out, size_out);
    case CL_DEVICE_GLOBAL_MEM_SIZE: return give_value<cl_ulong>(1u << 30, size, out, size_out);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE: return give_value<cl_ulong>(1u << 28, size, out, size_out);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN: return give_value<cl_uint>(1024, size, out, size_out);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE: return give_value<size_t>(256, size, out, size_out);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
      return give(item_sizes, sizeof item_sizes, size, out, size_out);
    case CL_DEVICE_COMPILER_AVAILABLE:
      return give_value<cl_bool>(setting(STUB_COMPILER) != 0 ? CL_TRUE : CL_FALSE, size, out,
                                 size_out);
    case CL_DEVICE_HOST_UNIFIED_MEMORY: return give_value<cl_bool>(CL_TRUE, size, out, size_out);
    default: return CL_INVALID_VALUE;
  }
}

cl_context clCreateContext(const cl_context_properties*, cl_uint, const cl_device_id*,
                           void(CL_CALLBACK*)(const char*, const void*, size_t, void*), void*,
                           cl_int* error) {
  return create<cl_context>(enter(kCreateContext), error);
}

cl_int clGetContextInfo(cl_context, cl_context_info what, size_t size, void* out,
                        size_t* size_out) {
  if (const cl_int error = enter(kGetContextInfo)) return error;
  if (what != CL_CONTEXT_DEVICES) return CL_INVALID_VALUE;
  cl_device_id all[4];
  const auto count = static_cast<cl_uint>(std::clamp(setting(STUB_DEVICES), 0L, 4L));
  for (cl_uint i = 0; i < count; ++i) all[i] = device_at(i);
  return give(all, count * sizeof all[0], size, out, size_out);
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id,
                                      cl_command_queue_properties properties, cl_int* error) {
  cl_int result = enter(kCreateCommandQueue);
  const bool profiled = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  if (result == CL_SUCCESS && profiled && setting(STUB_PROFILING) == 0) {
    result = CL_INVALID_QUEUE_PROPERTIES;
  }
  auto queue = create<cl_command_queue>(result, error, object_of(context));
  if (queue != nullptr) object_of(queue)->properties = properties;
  return queue;
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id,
                                                    const cl_queue_properties* properties,
                                                    cl_int* error) {
  cl_int result = enter(kCreateCommandQueueWithProperties);
  cl_command_queue_properties flags = 0;
  bool low_priority = false;
  for (; properties != nullptr && *properties != 0; properties += 2) {
    if (properties[0] == CL_QUEUE_PROPERTIES) flags = properties[1];
    if (properties[0] == CL_QUEUE_PRIORITY_KHR) {
      low_priority = properties[1] == CL_QUEUE_PRIORITY_LOW_KHR;
    }
  }
  if ((flags & CL_QUEUE_PROFILING_ENABLE) != 0 && setting(STUB_PROFILING) == 0) {
    result = CL_INVALID_QUEUE_PROPERTIES;
  }
  auto queue = create<cl_command_queue>(result, error, object_of(context));
  if (queue != nullptr) {
    object_of(queue)->properties = flags;
    object_of(queue)->low_priority = low_priority;
  }
  return queue;
}

void* clGetExtensionFunctionAddressForPlatform(cl_platform_id, const char* name) {
  enter(kGetExtensionFunctionAddressForPlatform);
  if (std::strcmp(name, "clCreateCommandQueueWithPropertiesKHR") != 0) return nullptr;
  return reinterpret_cast<void*>(&clCreateCommandQueueWithProperties);
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what, size_t size,
                             void* out, size_t* size_out) {
  if (const cl_int error = enter(kGetCommandQueueInfo)) return error;
  switch (what) {
    case CL_QUEUE_CONTEXT:
      return give_value(reinterpret_cast<cl_context>(object_of(queue)->parent), size, out,
                        size_out);
    case CL_QUEUE_DEVICE: return give_value(device_at(0), size, out, size_out);
    case CL_QUEUE_PROPERTIES: return give_value(object_of(queue)->properties, size, out, size_out);
    case CL_QUEUE_REFERENCE_COUNT:
      return give_value<cl_uint>(object_of(queue)->references, size, out, size_out);
    default: return CL_INVALID_VALUE;
  }
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** strings,
                                     const size_t* lengths, cl_int* error) {
  auto program = create<cl_program>(enter(kCreateProgramWithSource), error, object_of(context));
  for (cl_uint i = 0; program != nullptr && i < count; ++i) {
    object_of(program)->text.append(strings[i], lengths[i]);
  }
  return program;
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint, const cl_device_id*,
                                     const size_t* sizes, const unsigned char** binaries,
                                     cl_int* status, cl_int* error) {
  {
    std::lock_guard<std::mutex> lock(state().mutex);
    ++state().binaries_given;
    state().last_binary.assign(binaries[0], binaries[0] + sizes[0]);
  }
  const cl_int result = enter(kCreateProgramWithBinary);
  if (status != nullptr) *status = result;
  return create<cl_program>(result, error, object_of(context));
}

cl_int clBuildProgram(cl_program program, cl_uint, const cl_device_id*, const char* options,
                      void(CL_CALLBACK*)(cl_program, void*), void*) {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().last_options = options != nullptr ? options : "";
  object_of(program)->options = state().last_options;
  return enter(kBuildProgram);
}

cl_int clGetProgramBuildInfo(cl_program, cl_device_id, cl_program_build_info what, size_t size,
                             void* out, size_t* size_out) {
  if (const cl_int error = enter(kGetProgramBuildInfo)) return error;
  if (what != CL_PROGRAM_BUILD_LOG) return CL_INVALID_VALUE;
  std::string log;
  for (int i = 1; i <= 1000; ++i) log += "stub.cl:" + std::to_string(i) + ": error: scripted\n";
  return give(log, size, out, size_out);
}

cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t size, void* out,
                        size_t* size_out) {
  if (const cl_int error = enter(kGetProgramInfo)) return error;
  const std::string binary = binary_of(object_of(program));
  switch (what) {
    case CL_PROGRAM_NUM_DEVICES: return give_value<cl_uint>(1, size, out, size_out);
    case CL_PROGRAM_DEVICES: return give_value(device_at(0), size, out, size_out);
    case CL_PROGRAM_BINARY_SIZES: return give_value(binary.size(), size, out, size_out);
    case CL_PROGRAM_BINARIES: {
      auto** places = static_cast<unsigned char**>(out);
      if (places[0] != nullptr) std::memcpy(places[0], binary.data(), binary.size());
      return CL_SUCCESS;
    }
    default: return CL_INVALID_VALUE;
  }
}

cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* error) {
  auto kernel = create<cl_kernel>(enter(kCreateKernel), error, object_of(program));
  if (kernel != nullptr) {
    object_of(kernel)->is_scale = std::strcmp(name, "stub_scale") == 0;
    object_of(kernel)->is_sgemm = idletune::bench::is_sgemm(name);
    object_of(kernel)->is_gemm = idletune::bench::is_gemm(name) || object_of(kernel)->is_sgemm;
  }
  return kernel;
}

cl_int clGetKernelInfo(cl_kernel, cl_kernel_info what, size_t size, void* out, size_t* size_out) {
  if (const cl_int error = enter(kGetKernelInfo)) return error;
  return what == CL_KERNEL_NUM_ARGS ? give_value<cl_uint>(32, size, out, size_out)
                                    : CL_INVALID_VALUE;
}

cl_int clGetKernelWorkGroupInfo(cl_kernel, cl_device_id, cl_kernel_work_group_info what,
                                size_t size, void* out, size_t* size_out) {
  if (const cl_int error = enter(kGetKernelWorkGroupInfo)) return error;
  switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE:
      return give_value(static_cast<size_t>(setting(STUB_KERNEL_WORK_GROUP_SIZE)), size, out,
                        size_out);
    case CL_KERNEL_LOCAL_MEM_SIZE: return give_value<cl_ulong>(1024, size, out, size_out);
    default: return CL_INVALID_VALUE;
  }
}

cl_int clGetMemObjectInfo(cl_mem memory, cl_mem_info what, size_t size, void* out,
                          size_t* size_out) {
  if (const cl_int error = enter(kGetMemObjectInfo)) return error;
  switch (what) {
    case CL_MEM_TYPE:
      return give_value(static_cast<cl_mem_object_type>(setting(STUB_MEMORY_TYPE)), size, out,
                        size_out);
    case CL_MEM_SIZE: return give_value(object_of(memory)->bytes.size(), size, out, size_out);
    case CL_MEM_CONTEXT: return give_value(object_of(memory)->parent, size, out, size_out);
    default: return CL_INVALID_VALUE;
  }
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  if (const cl_int error = enter(kSetKernelArg)) return error;
  Object& object = *object_of(kernel);
  if (index >= 32) return CL_INVALID_ARG_INDEX;
  if (value != nullptr && size > sizeof object.argument[0]) return CL_INVALID_ARG_SIZE;
  object.argument_count = std::max(object.argument_count, index + 1);
  object.argument_size[index] = size;
  if (value != nullptr) std::memcpy(object.argument[index], value, size);  // null: local memory
  return CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t*, const size_t* global, const size_t* local,
                              cl_uint wait_count, const cl_event* waits, cl_event* event) {
  if (const cl_int error = enter(kEnqueueNDRangeKernel)) return error;
  if ((wait_count == 0) != (waits == nullptr)) return CL_INVALID_EVENT_WAIT_LIST;
  const Object& object = *object_of(kernel);
  if (setting(STUB_RECORD_LAUNCHES) != 0) {
    std::lock_guard<std::mutex> lock(state().mutex);
    StubLaunch& launch = state().last_launch;
    launch.queue = queue;
    launch.kernel = kernel;
    launch.dimensions = dimensions;
    std::copy(global, global + dimensions, launch.global);
    std::copy(local, local + dimensions, launch.local);
    launch.wait_count = wait_count;
    launch.argument_count = object.argument_count;
    std::memcpy(launch.argument_size, object.argument_size, sizeof launch.argument_size);
    std::memcpy(launch.argument, object.argument, sizeof launch.argument);
  }
  if (object.is_gemm && setting(STUB_GEMM) == 2) run_gemm(object);
  if (object.is_scale) run_scale(object);
  if (event != nullptr) *event = make_event(object);
  return CL_SUCCESS;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags, size_t size, void*, cl_int* error) {
  auto memory = create<cl_mem>(enter(kCreateBuffer), error, object_of(context));
  if (memory != nullptr) object_of(memory)->bytes.resize(size);
  return memory;
}

cl_mem clCreateSubBuffer(cl_mem memory, cl_mem_flags, cl_buffer_create_type, const void* region,
                         cl_int* error) {
  auto part = create<cl_mem>(enter(kCreateSubBuffer), error, object_of(memory));
  if (part != nullptr) {
    object_of(part)->origin = static_cast<const cl_buffer_region*>(region)->origin;
  }
  return part;
}

cl_int clEnqueueReadBuffer(cl_command_queue, cl_mem memory, cl_bool, size_t offset, size_t size,
                           void* out, cl_uint, const cl_event*, cl_event*) {
  if (const cl_int error = enter(kEnqueueReadBuffer)) return error;
  std::memcpy(out, data_of(object_of(memory)) + offset, size);
  return CL_SUCCESS;
}

cl_int clEnqueueWriteBuffer(cl_command_queue, cl_mem memory, cl_bool, size_t offset, size_t size,
                            const void* data, cl_uint, const cl_event*, cl_event*) {
  if (const cl_int error = enter(kEnqueueWriteBuffer)) return error;
  std::memcpy(data_of(object_of(memory)) + offset, data, size);
  return CL_SUCCESS;
}

cl_int clEnqueueCopyBuffer(cl_command_queue, cl_mem from, cl_mem to, size_t from_offset,
                           size_t to_offset, size_t size, cl_uint, const cl_event*, cl_event*) {
  if (const cl_int error = enter(kEnqueueCopyBuffer)) return error;
  std::memmove(data_of(object_of(to)) + to_offset, data_of(object_of(from)) + from_offset, size);
  return CL_SUCCESS;
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t size, void* out,
                      size_t* size_out) {
  if (const cl_int error = enter(kGetEventInfo)) return error;
  if (what != CL_EVENT_COMMAND_EXECUTION_STATUS) return CL_INVALID_VALUE;
  const bool running = object_of(event)->polls.fetch_sub(1) > 0;
  const auto ended = static_cast<cl_int>(setting(STUB_EVENT_STATUS));
  return give_value<cl_int>(running ? CL_RUNNING : ended, size, out, size_out);
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void* out,
                               size_t* size_out) {
  if (const cl_int error = enter(kGetEventProfilingInfo)) return error;
  constexpr long kStart = 5'000'000;
  const long ran = object_of(event)->run_ns;
  const long run_ns = ran != 0 ? ran : setting(STUB_RUN_NS);
  const long time = what == CL_PROFILING_COMMAND_END ? kStart + run_ns : kStart;
  return give_value(static_cast<cl_ulong>(time), size, out, size_out);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint, const cl_event*,
                                   cl_event* event) {
  if (const cl_int error = enter(kEnqueueMarkerWithWaitList)) return error;
  if (event != nullptr) *event = make_event(*object_of(queue));
  return CL_SUCCESS;
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint wait_count, const cl_event*,
                                    cl_event*) {
  if (const cl_int error = enter(kEnqueueBarrierWithWaitList)) return error;
  std::lock_guard<std::mutex> lock(state().mutex);
  state().last_launch.queue = queue;
  state().last_launch.wait_count = wait_count;
  return CL_SUCCESS;
}

cl_int clFlush(cl_command_queue) { return enter(kFlush); }
cl_int clFinish(cl_command_queue) { return enter(kFinish); }
cl_int clRetainCommandQueue(cl_command_queue h) { return retain(kRetainCommandQueue, h); }
cl_int clRetainContext(cl_context h) { return retain(kRetainContext, h); }
cl_int clRetainEvent(cl_event h) { return retain(kRetainEvent, h); }
cl_int clReleaseCommandQueue(cl_command_queue h) { return release(kReleaseCommandQueue, h); }
cl_int clReleaseContext(cl_context h) { return release(kReleaseContext, h); }
cl_int clReleaseEvent(cl_event h) { return release(kReleaseEvent, h); }
cl_int clReleaseKernel(cl_kernel h) { return release(kReleaseKernel, h); }
cl_int clReleaseMemObject(cl_mem h) { return release(kReleaseMemObject, h); }
cl_int clReleaseProgram(cl_program h) { return release(kReleaseProgram, h); }

#pragma GCC visibility pop

}  // extern "C"
