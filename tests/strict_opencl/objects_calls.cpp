// Calls that make, ask and release objects.
#include <cstring>
#include <utility>

#include "tests/strict_opencl/objects.hpp"

using namespace strict_opencl;

namespace {

using Guard = std::lock_guard<std::recursive_mutex>;

template <class T>
T real(Object* object) {
  return static_cast<T>(object->real);
}

// Of a call that gives a handle.
template <class Handle>
Handle made(Object* object, cl_int error, cl_int* told) {
  if (told != nullptr) *told = error;
  return reinterpret_cast<Handle>(object);
}

cl_int answer(const void* value, std::size_t size, std::size_t room, void* place,
              std::size_t* needed) {
  if (needed != nullptr) *needed = size;
  if (place == nullptr) return CL_SUCCESS;
  if (room < size) return CL_INVALID_VALUE;
  std::memcpy(place, value, size);
  return CL_SUCCESS;
}

// The application's references alone: the layer's own are nobody's business.
cl_int answer_references(const Object& object, std::size_t room, void* place, std::size_t* needed) {
  const auto references = static_cast<cl_uint>(object.references);
  return answer(&references, sizeof references, room, place, needed);
}

cl_int retain(const void* handle, Kind kind, cl_int error, const char* call) {
  if (const cl_int planned = planned_error(call)) return planned;
  const Guard guard(lock());
  Object* object = living(handle, kind, call);
  if (object == nullptr) return error;
  ++object->references;
  return CL_SUCCESS;
}

cl_int let_go(const void* handle, Kind kind, cl_int error, const char* call) {
  if (const cl_int planned = planned_error(call)) return planned;
  const Guard guard(lock());
  Object* object = living(handle, kind, call);
  if (object == nullptr) return error;
  if (kind == Kind::queue) flush(static_cast<Queue&>(*object));
  release(*object);
  return CL_SUCCESS;
}

cl_command_queue make_queue(cl_context context, cl_device_id device,
                            const cl_queue_properties* properties, cl_int* error) {
  const Guard guard(lock());
  Object* parent = living(context, Kind::context, "clCreateCommandQueue");
  if (parent == nullptr) return made<cl_command_queue>(nullptr, CL_INVALID_CONTEXT, error);
  auto queue = std::make_shared<Queue>();
  queue->device = device;
  // The real queue is always in order: that of commands is the layer's business.
  std::vector<cl_queue_properties> in_order;
  for (; properties != nullptr && properties[0] != 0; properties += 2) {
    cl_queue_properties value = properties[1];
    if (properties[0] == CL_QUEUE_PROPERTIES) {
      queue->in_order = (value & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
      value &= ~cl_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE};
    }
    in_order.insert(in_order.end(), {properties[0], value});
  }
  in_order.push_back(0);
  cl_int status = CL_SUCCESS;
  cl_command_queue own = REAL(clCreateCommandQueueWithProperties)(real<cl_context>(parent), device,
                                                                  in_order.data(), &status);
  if (own == nullptr) return made<cl_command_queue>(nullptr, status, error);
  return made<cl_command_queue>(added(std::move(queue), own, parent), status, error);
}

cl_mem add_memory(cl_mem own, std::size_t bytes, Object* context, Memory* whole, std::size_t origin,
                  cl_int status, cl_int* error) {
  if (own == nullptr) return made<cl_mem>(nullptr, status, error);
  auto memory = std::make_shared<Memory>();
  memory->bytes = bytes;
  memory->whole = whole;
  memory->origin = origin;
  return made<cl_mem>(added(std::move(memory), own, whole != nullptr ? whole : context), status,
                      error);
}

cl_program add_program(cl_program own, Object* context, cl_int status, cl_int* error) {
  if (own == nullptr) return made<cl_program>(nullptr, status, error);
  return made<cl_program>(added(std::make_shared<Object>(Kind::program), own, context), status,
                          error);
}

}  // namespace

extern "C" {

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id* platforms, cl_uint* count) {
  if (const cl_int error = planned_error("clGetPlatformIDs")) return error;
  return REAL(clGetPlatformIDs)(room, platforms, count);
}
cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void* place,
                         size_t* needed) {
  if (const cl_int error = planned_error("clGetPlatformInfo")) return error;
  return REAL(clGetPlatformInfo)(platform, what, room, place, needed);
}
cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room,
                      cl_device_id* devices, cl_uint* count) {
  if (const cl_int error = planned_error("clGetDeviceIDs")) return error;
  return REAL(clGetDeviceIDs)(platform, type, room, devices, count);
}
cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void* place,
                       size_t* needed) {
  if (const cl_int error = planned_error("clGetDeviceInfo")) return error;
  const cl_uint bits = 8 * kSubBufferAlignment;
  if (what == CL_DEVICE_MEM_BASE_ADDR_ALIGN) return answer(&bits, sizeof bits, room, place, needed);
  return REAL(clGetDeviceInfo)(device, what, room, place, needed);
}
void* clGetExtensionFunctionAddressForPlatform(cl_platform_id, const char* name) {
  if (planned_error("clGetExtensionFunctionAddressForPlatform") != CL_SUCCESS) return nullptr;
  const bool known_one = std::strcmp(name, "clCreateCommandQueueWithPropertiesKHR") == 0;
  return known_one ? reinterpret_cast<void*>(&clCreateCommandQueueWithProperties) : nullptr;
}

cl_context clCreateContext(const cl_context_properties* properties, cl_uint count,
                           const cl_device_id* devices,
                           void(CL_CALLBACK* told)(const char*, const void*, size_t, void*),
                           void* data, cl_int* error) {
  if (const cl_int planned = planned_error("clCreateContext"))
    return made<cl_context>(nullptr, planned, error);
  cl_int status = CL_SUCCESS;
  cl_context own = REAL(clCreateContext)(properties, count, devices, told, data, &status);
  const Guard guard(lock());
  if (own == nullptr) return made<cl_context>(nullptr, status, error);
  return made<cl_context>(added(std::make_shared<Object>(Kind::context), own, nullptr), status,
                          error);
}
cl_int clGetContextInfo(cl_context context, cl_context_info what, size_t room, void* place,
                        size_t* needed) {
  if (const cl_int error = planned_error("clGetContextInfo")) return error;
  const Guard guard(lock());
  Object* object = living(context, Kind::context, "clGetContextInfo");
  if (object == nullptr) return CL_INVALID_CONTEXT;
  if (what == CL_CONTEXT_REFERENCE_COUNT) return answer_references(*object, room, place, needed);
  return REAL(clGetContextInfo)(real<cl_context>(object), what, room, place, needed);
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties flags, cl_int* error) {
  if (const cl_int planned = planned_error("clCreateCommandQueue"))
    return made<cl_command_queue>(nullptr, planned, error);
  const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, flags, 0};
  return make_queue(context, device, properties, error);
}
cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_queue_properties* properties,
                                                    cl_int* error) {
  if (const cl_int planned = planned_error("clCreateCommandQueueWithProperties"))
    return made<cl_command_queue>(nullptr, planned, error);
  return make_queue(context, device, properties, error);
}
cl_int clGetCommandQueueInfo(cl_command_queue handle, cl_command_queue_info what, size_t room,
                             void* place, size_t* needed) {
  if (const cl_int error = planned_error("clGetCommandQueueInfo")) return error;
  const Guard guard(lock());
  auto* queue = static_cast<Queue*>(living(handle, Kind::queue, "clGetCommandQueueInfo"));
  if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
  if (what == CL_QUEUE_CONTEXT) {
    return answer(&queue->parent, sizeof queue->parent, room, place, needed);
  }
  if (what == CL_QUEUE_REFERENCE_COUNT) return answer_references(*queue, room, place, needed);
  const cl_int error =
      REAL(clGetCommandQueueInfo)(real<cl_command_queue>(queue), what, room, place, needed);
  if (error == CL_SUCCESS && what == CL_QUEUE_PROPERTIES && place != nullptr && !queue->in_order) {
    cl_command_queue_properties flags = 0;
    std::memcpy(&flags, place, sizeof flags);
    flags |= CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    std::memcpy(place, &flags, sizeof flags);
  }
  return error;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host,
                      cl_int* error) {
  if (const cl_int planned = planned_error("clCreateBuffer"))
    return made<cl_mem>(nullptr, planned, error);
  constexpr std::size_t kMostFilled = std::size_t{4} << 20;
  const Guard guard(lock());
  Object* parent = living(context, Kind::context, "clCreateBuffer");
  if (parent == nullptr) return made<cl_mem>(nullptr, CL_INVALID_CONTEXT, error);
  // Every float of it is NaN, every index negative.
  std::vector<unsigned char> rubbish;
  if (host == nullptr && bytes <= kMostFilled) {
    rubbish.assign(bytes, 0xff);
    flags |= CL_MEM_COPY_HOST_PTR;
    host = rubbish.data();
  }
  cl_int status = CL_SUCCESS;
  cl_mem own = REAL(clCreateBuffer)(real<cl_context>(parent), flags, bytes, host, &status);
  return add_memory(own, bytes, parent, nullptr, 0, status, error);
}
// Only to be given where a buffer is expected.
cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                     const cl_image_desc* description, void* host, cl_int* error) {
  if (const cl_int planned = planned_error("clCreateImage"))
    return made<cl_mem>(nullptr, planned, error);
  const Guard guard(lock());
  Object* parent = living(context, Kind::context, "clCreateImage");
  if (parent == nullptr) return made<cl_mem>(nullptr, CL_INVALID_CONTEXT, error);
  cl_int status = CL_SUCCESS;
  cl_mem own =
      REAL(clCreateImage)(real<cl_context>(parent), flags, format, description, host, &status);
  return add_memory(own, 0, parent, nullptr, 0, status, error);
}
cl_mem clCreateSubBuffer(cl_mem handle, cl_mem_flags flags, cl_buffer_create_type type,
                         const void* region, cl_int* error) {
  if (const cl_int planned = planned_error("clCreateSubBuffer"))
    return made<cl_mem>(nullptr, planned, error);
  constexpr const char* kCall = "clCreateSubBuffer";
  const Guard guard(lock());
  auto* whole = static_cast<Memory*>(living(handle, Kind::memory, kCall));
  if (whole == nullptr) return made<cl_mem>(nullptr, CL_INVALID_MEM_OBJECT, error);
  cl_buffer_region part = {};
  std::memcpy(&part, region, sizeof part);
  cl_int status = CL_SUCCESS;
  if (whole->whole != nullptr) {
    status = refuse(CL_INVALID_MEM_OBJECT, kCall, "a sub-buffer of a sub-buffer");
  } else if (part.size == 0) {
    status = refuse(CL_INVALID_BUFFER_SIZE, kCall, "no bytes");
  } else if (part.origin > whole->bytes || part.size > whole->bytes - part.origin) {
    status = refuse(CL_INVALID_VALUE, kCall, "reaches beyond the buffer");
  } else if (part.origin % kSubBufferAlignment != 0) {
    status = refuse(CL_MISALIGNED_SUB_BUFFER_OFFSET, kCall, "is not aligned");
  }
  if (status != CL_SUCCESS) return made<cl_mem>(nullptr, status, error);
  cl_mem own = REAL(clCreateSubBuffer)(real<cl_mem>(whole), flags, type, region, &status);
  return add_memory(own, part.size, nullptr, whole, part.origin, status, error);
}
cl_int clGetMemObjectInfo(cl_mem handle, cl_mem_info what, size_t room, void* place,
                          size_t* needed) {
  if (const cl_int error = planned_error("clGetMemObjectInfo")) return error;
  const Guard guard(lock());
  Object* memory = living(handle, Kind::memory, "clGetMemObjectInfo");
  if (memory == nullptr) return CL_INVALID_MEM_OBJECT;
  const void* context = &context_of(*memory);
  if (what == CL_MEM_CONTEXT) return answer(&context, sizeof context, room, place, needed);
  if (what == CL_MEM_REFERENCE_COUNT) return answer_references(*memory, room, place, needed);
  return REAL(clGetMemObjectInfo)(real<cl_mem>(memory), what, room, place, needed);
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** texts,
                                     const size_t* lengths, cl_int* error) {
  if (const cl_int planned = planned_error("clCreateProgramWithSource"))
    return made<cl_program>(nullptr, planned, error);
  const Guard guard(lock());
  Object* parent = living(context, Kind::context, "clCreateProgramWithSource");
  if (parent == nullptr) return made<cl_program>(nullptr, CL_INVALID_CONTEXT, error);
  cl_int status = CL_SUCCESS;
  cl_program own =
      REAL(clCreateProgramWithSource)(real<cl_context>(parent), count, texts, lengths, &status);
  return add_program(own, parent, status, error);
}
cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id* devices,
                                     const size_t* lengths, const unsigned char** binaries,
                                     cl_int* fits, cl_int* error) {
  if (const cl_int planned = planned_error("clCreateProgramWithBinary"))
    return made<cl_program>(nullptr, planned, error);
  const Guard guard(lock());
  Object* parent = living(context, Kind::context, "clCreateProgramWithBinary");
  if (parent == nullptr) return made<cl_program>(nullptr, CL_INVALID_CONTEXT, error);
  cl_int status = CL_SUCCESS;
  cl_program own = REAL(clCreateProgramWithBinary)(real<cl_context>(parent), count, devices,
                                                   lengths, binaries, fits, &status);
  return add_program(own, parent, status, error);
}
cl_int clBuildProgram(cl_program handle, cl_uint count, const cl_device_id* devices,
                      const char* options, void(CL_CALLBACK* told)(cl_program, void*), void* data) {
  if (const cl_int error = planned_error("clBuildProgram")) return error;
  Object* program = nullptr;
  {
    const Guard guard(lock());
    program = living(handle, Kind::program, "clBuildProgram");
  }
  if (program == nullptr) return CL_INVALID_PROGRAM;
  return REAL(clBuildProgram)(real<cl_program>(program), count, devices, options, told, data);
}
cl_int clGetProgramInfo(cl_program handle, cl_program_info what, size_t room, void* place,
                        size_t* needed) {
  if (const cl_int error = planned_error("clGetProgramInfo")) return error;
  const Guard guard(lock());
  Object* program = living(handle, Kind::program, "clGetProgramInfo");
  if (program == nullptr) return CL_INVALID_PROGRAM;
  return REAL(clGetProgramInfo)(real<cl_program>(program), what, room, place, needed);
}
cl_int clGetProgramBuildInfo(cl_program handle, cl_device_id device, cl_program_build_info what,
                             size_t room, void* place, size_t* needed) {
  if (const cl_int error = planned_error("clGetProgramBuildInfo")) return error;
  const Guard guard(lock());
  Object* program = living(handle, Kind::program, "clGetProgramBuildInfo");
  if (program == nullptr) return CL_INVALID_PROGRAM;
  return REAL(clGetProgramBuildInfo)(real<cl_program>(program), device, what, room, place, needed);
}

cl_kernel clCreateKernel(cl_program handle, const char* name, cl_int* error) {
  if (const cl_int planned = planned_error("clCreateKernel"))
    return made<cl_kernel>(nullptr, planned, error);
  const Guard guard(lock());
  Object* program = living(handle, Kind::program, "clCreateKernel");
  if (program == nullptr) return made<cl_kernel>(nullptr, CL_INVALID_PROGRAM, error);
  cl_int status = CL_SUCCESS;
  cl_kernel own = REAL(clCreateKernel)(real<cl_program>(program), name, &status);
  if (own == nullptr) return made<cl_kernel>(nullptr, status, error);
  cl_uint count = 0;
  status = REAL(clGetKernelInfo)(own, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr);
  auto kernel = std::make_shared<Kernel>();
  kernel->arguments.resize(count);
  return made<cl_kernel>(added(std::move(kernel), own, program), status, error);
}
cl_int clGetKernelInfo(cl_kernel handle, cl_kernel_info what, size_t room, void* place,
                       size_t* needed) {
  if (const cl_int error = planned_error("clGetKernelInfo")) return error;
  const Guard guard(lock());
  Object* kernel = living(handle, Kind::kernel, "clGetKernelInfo");
  if (kernel == nullptr) return CL_INVALID_KERNEL;
  return REAL(clGetKernelInfo)(real<cl_kernel>(kernel), what, room, place, needed);
}
cl_int clGetKernelWorkGroupInfo(cl_kernel handle, cl_device_id device,
                                cl_kernel_work_group_info what, size_t room, void* place,
                                size_t* needed) {
  if (const cl_int error = planned_error("clGetKernelWorkGroupInfo")) return error;
  const Guard guard(lock());
  Object* kernel = living(handle, Kind::kernel, "clGetKernelWorkGroupInfo");
  if (kernel == nullptr) return CL_INVALID_KERNEL;
  return REAL(clGetKernelWorkGroupInfo)(real<cl_kernel>(kernel), device, what, room, place, needed);
}
cl_int clSetKernelArg(cl_kernel handle, cl_uint index, size_t size, const void* value) {
  if (const cl_int error = planned_error("clSetKernelArg")) return error;
  const Guard guard(lock());
  auto* kernel = static_cast<Kernel*>(living(handle, Kind::kernel, "clSetKernelArg"));
  if (kernel == nullptr) return CL_INVALID_KERNEL;
  const std::thread::id self = std::this_thread::get_id();
  if (kernel->setter == std::thread::id()) kernel->setter = self;
  if (kernel->setter != self) {
    return refuse(CL_INVALID_KERNEL, "clSetKernelArg", "two threads set arguments of a launch");
  }
  KernelArgument argument;
  argument.set = true;
  argument.size = size;
  void* own = nullptr;
  if (value != nullptr && size == sizeof own) std::memcpy(&own, value, sizeof own);
  Object* object = own != nullptr ? known(own) : nullptr;
  if (object != nullptr) {
    argument.memory = static_cast<Memory*>(living(own, Kind::memory, "clSetKernelArg"));
    if (argument.memory == nullptr) return CL_INVALID_MEM_OBJECT;
    value = &object->real;
  }
  const cl_int error = REAL(clSetKernelArg)(real<cl_kernel>(kernel), index, size, value);
  if (error != CL_SUCCESS) return error;
  if (value != nullptr) {
    const auto* bytes = static_cast<const unsigned char*>(value);
    argument.value.assign(bytes, bytes + size);
  }
  kernel->arguments[index] = std::move(argument);
  return CL_SUCCESS;
}

#define STRICT_REFERENCES(suffix, handle, kind, error)             \
  cl_int clRetain##suffix(handle object) {                         \
    return retain(object, Kind::kind, error, "clRetain" #suffix);  \
  }                                                                \
  cl_int clRelease##suffix(handle object) {                        \
    return let_go(object, Kind::kind, error, "clRelease" #suffix); \
  }
STRICT_REFERENCES(Context, cl_context, context, CL_INVALID_CONTEXT)
STRICT_REFERENCES(CommandQueue, cl_command_queue, queue, CL_INVALID_COMMAND_QUEUE)
STRICT_REFERENCES(MemObject, cl_mem, memory, CL_INVALID_MEM_OBJECT)
STRICT_REFERENCES(Program, cl_program, program, CL_INVALID_PROGRAM)
STRICT_REFERENCES(Kernel, cl_kernel, kernel, CL_INVALID_KERNEL)
STRICT_REFERENCES(Event, cl_event, event, CL_INVALID_EVENT)
#undef STRICT_REFERENCES

}  // extern "C"
