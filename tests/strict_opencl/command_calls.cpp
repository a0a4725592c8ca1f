// Calls that enqueue, flush and wait.
#include <algorithm>
#include <utility>

#include "tests/strict_opencl/objects.hpp"

using namespace strict_opencl;

namespace {

using Guard = std::lock_guard<std::recursive_mutex>;

// What all enqueueing calls get.
struct Ordered {
  const char* call;
  cl_command_queue queue;
  cl_uint count;
  const cl_event* waits;
  cl_event* event;
};

cl_int check_events(const Ordered& given, const Queue& queue, Command& command) {
  if ((given.count == 0) != (given.waits == nullptr)) {
    return refuse(CL_INVALID_EVENT_WAIT_LIST, given.call, "a number of events without a list");
  }
  for (cl_uint i = 0; i < given.count; ++i) {
    auto* event = static_cast<Event*>(living(given.waits[i], Kind::event, given.call));
    if (event == nullptr) return CL_INVALID_EVENT_WAIT_LIST;
    if (&context_of(*event) != queue.parent) {
      return refuse(CL_INVALID_CONTEXT, given.call, "waits for an event of another context");
    }
    command.waits.push_back(event);
  }
  return CL_SUCCESS;
}

Event* new_event(Queue& queue) { return added(std::make_shared<Event>(), nullptr, &queue); }

// Waits for `event`, whose queue was flushed, without holding the lock; ends its use.
cl_int wait_for(Event& event) {
  cl_event real = static_cast<cl_event>(event.real);
  const cl_int error = real != nullptr ? REAL(clWaitForEvents)(1, &real) : event.error;
  const Guard guard(lock());
  leave(event);
  return error;
}

cl_int enqueued(const Ordered& given, Command command, bool blocking = false) {
  Event* awaited = nullptr;
  {
    const Guard guard(lock());
    auto* queue = static_cast<Queue*>(living(given.queue, Kind::queue, given.call));
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    if (const cl_int error = check_events(given, *queue, command); error != CL_SUCCESS)
      return error;
    for (Object* object : command.used) {
      if (&context_of(*object) != queue->parent) {
        return refuse(CL_INVALID_CONTEXT, given.call, "an object of another context");
      }
    }
    command.after_all = command.after_all && given.count == 0;
    if (given.event != nullptr || blocking || !queue->in_order) {
      command.event = new_event(*queue);
      if (given.event != nullptr) *given.event = reinterpret_cast<cl_event>(command.event);
    }
    Event* event = command.event;
    if (event != nullptr) use(*event);
    enqueue(*queue, std::move(command));
    if (event != nullptr && given.event == nullptr) release(*event);
    if (!blocking) {
      if (event != nullptr) leave(*event);
      return CL_SUCCESS;
    }
    flush(*queue);
    awaited = event;
  }
  return wait_for(*awaited);
}

Memory* buffer_for(const char* call, cl_mem handle, std::size_t offset, std::size_t bytes,
                   cl_int& error) {
  auto* memory = static_cast<Memory*>(living(handle, Kind::memory, call));
  error = CL_INVALID_MEM_OBJECT;
  if (memory == nullptr) return nullptr;
  error = CL_SUCCESS;
  if (bytes == 0) error = refuse(CL_INVALID_VALUE, call, "no bytes");
  if (offset > memory->bytes || bytes > memory->bytes - offset) {
    error = refuse(CL_INVALID_VALUE, call, "reaches beyond the buffer");
  }
  return error == CL_SUCCESS ? memory : nullptr;
}

template <class T>
T kernel_value(const Kernel& kernel, const Queue& queue, cl_kernel_work_group_info what) {
  T value{};
  REAL(clGetKernelWorkGroupInfo)
  (static_cast<cl_kernel>(kernel.real), queue.device, what, sizeof value, &value, nullptr);
  return value;
}

cl_int check_arguments(const Kernel& kernel, std::vector<Object*>& used) {
  constexpr const char* kCall = "clEnqueueNDRangeKernel";
  for (const KernelArgument& argument : kernel.arguments) {
    if (!argument.set) return refuse(CL_INVALID_KERNEL_ARGS, kCall, "an argument was never set");
    if (argument.memory == nullptr) continue;
    if (argument.memory->references <= 0) {
      return refuse(CL_INVALID_MEM_OBJECT, kCall, "a buffer was released");
    }
    used.push_back(argument.memory);
  }
  return CL_SUCCESS;
}

// As the driver would answer at once.
cl_int check_range(const Kernel& kernel, const Queue& queue, cl_uint dimensions,
                   const size_t* global, const size_t* local) {
  if (dimensions < 1 || dimensions > 3) return CL_INVALID_WORK_DIMENSION;
  if (global == nullptr) return CL_INVALID_GLOBAL_WORK_SIZE;
  using Sizes = std::array<size_t, 3>;
  const auto demanded = kernel_value<Sizes>(kernel, queue, CL_KERNEL_COMPILE_WORK_GROUP_SIZE);
  if (local == nullptr && demanded[0] != 0) return CL_INVALID_WORK_GROUP_SIZE;
  Sizes most{};
  REAL(clGetDeviceInfo)
  (queue.device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof most, &most, nullptr);
  size_t items = 1;
  for (cl_uint i = 0; i < 3; ++i) {
    if (i < dimensions && global[i] == 0) return CL_INVALID_GLOBAL_WORK_SIZE;
    if (local == nullptr) continue;
    const size_t size = i < dimensions ? local[i] : 1;
    if (size == 0 || (i < dimensions && global[i] % size != 0)) return CL_INVALID_WORK_GROUP_SIZE;
    if (demanded[0] != 0 && size != demanded[i]) return CL_INVALID_WORK_GROUP_SIZE;
    if (size > most[i]) return CL_INVALID_WORK_ITEM_SIZE;
    items *= size;
  }
  const auto largest = kernel_value<size_t>(kernel, queue, CL_KERNEL_WORK_GROUP_SIZE);
  return items <= largest ? CL_SUCCESS : CL_INVALID_WORK_GROUP_SIZE;
}

cl_mem real_memory(const Memory* memory) { return static_cast<cl_mem>(memory->real); }

// Between a buffer and the caller's memory, by the driver's function.
template <class Real, class Host>
cl_int transfer(const Ordered& given, Real* real, cl_mem buffer, cl_bool blocking, size_t offset,
                size_t bytes, Host* host) {
  if (const cl_int error = planned_error(given.call)) return error;
  Command command;
  {
    const Guard guard(lock());
    auto* queue = living(given.queue, Kind::queue, given.call);
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    cl_int error = CL_SUCCESS;
    Memory* memory = buffer_for(given.call, buffer, offset, bytes, error);
    if (memory == nullptr) return error;
    command.used.push_back(memory);
    command.run = [=](cl_uint number, const cl_event* list, cl_event* done) {
      return real(static_cast<cl_command_queue>(queue->real), real_memory(memory), CL_FALSE, offset,
                  bytes, host, number, list, done);
    };
  }
  return enqueued(given, std::move(command), blocking != CL_FALSE);
}

}  // namespace

extern "C" {

cl_int clEnqueueNDRangeKernel(cl_command_queue handle, cl_kernel given, cl_uint dimensions,
                              const size_t* offset, const size_t* global, const size_t* local,
                              cl_uint count, const cl_event* waits, cl_event* event) {
  if (const cl_int error = planned_error("clEnqueueNDRangeKernel")) return error;
  constexpr const char* kCall = "clEnqueueNDRangeKernel";
  const Guard guard(lock());
  auto* kernel = static_cast<Kernel*>(living(given, Kind::kernel, kCall));
  auto* queue = static_cast<Queue*>(living(handle, Kind::queue, kCall));
  if (kernel == nullptr) return CL_INVALID_KERNEL;
  if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
  kernel->setter = {};
  Command command;
  command.used.push_back(kernel);
  cl_int error = check_arguments(*kernel, command.used);
  if (error == CL_SUCCESS) error = check_range(*kernel, *queue, dimensions, global, local);
  if (error != CL_SUCCESS) return error;
  using Sizes = std::vector<size_t>;
  const auto sizes = [&](const size_t* from) {
    return from == nullptr ? Sizes() : Sizes(from, from + dimensions);
  };
  const auto place = [](const Sizes& values) { return values.empty() ? nullptr : values.data(); };
  auto* own_queue = static_cast<cl_command_queue>(queue->real);
  auto* own = static_cast<cl_kernel>(kernel->real);
  command.run = [=, arguments = kernel->arguments, begin = sizes(offset), all = sizes(global),
                 group = sizes(local)](cl_uint number, const cl_event* list, cl_event* done) {
    for (cl_uint i = 0; i < arguments.size(); ++i) {
      const KernelArgument& argument = arguments[i];
      const void* value = argument.value.empty() ? nullptr : argument.value.data();
      const cl_int set = REAL(clSetKernelArg)(own, i, argument.size, value);
      if (set != CL_SUCCESS) return set;
    }
    return REAL(clEnqueueNDRangeKernel)(own_queue, own, dimensions, place(begin), place(all),
                                        place(group), number, list, done);
  };
  return enqueued({kCall, handle, count, waits, event}, std::move(command));
}

cl_int clEnqueueReadBuffer(cl_command_queue handle, cl_mem from, cl_bool blocking, size_t offset,
                           size_t bytes, void* to, cl_uint count, const cl_event* waits,
                           cl_event* event) {
  return transfer({"clEnqueueReadBuffer", handle, count, waits, event}, &REAL(clEnqueueReadBuffer),
                  from, blocking, offset, bytes, to);
}

cl_int clEnqueueWriteBuffer(cl_command_queue handle, cl_mem to, cl_bool blocking, size_t offset,
                            size_t bytes, const void* from, cl_uint count, const cl_event* waits,
                            cl_event* event) {
  return transfer({"clEnqueueWriteBuffer", handle, count, waits, event},
                  &REAL(clEnqueueWriteBuffer), to, blocking, offset, bytes, from);
}

cl_int clEnqueueCopyBuffer(cl_command_queue handle, cl_mem from, cl_mem to, size_t from_offset,
                           size_t to_offset, size_t bytes, cl_uint count, const cl_event* waits,
                           cl_event* event) {
  if (const cl_int error = planned_error("clEnqueueCopyBuffer")) return error;
  const Ordered given = {"clEnqueueCopyBuffer", handle, count, waits, event};
  const Guard guard(lock());
  auto* queue = living(handle, Kind::queue, given.call);
  if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
  cl_int error = CL_SUCCESS;
  Memory* source = buffer_for(given.call, from, from_offset, bytes, error);
  if (source == nullptr) return error;
  Memory* target = buffer_for(given.call, to, to_offset, bytes, error);
  if (target == nullptr) return error;
  const auto whole_of = [](Memory* part) { return part->whole != nullptr ? part->whole : part; };
  const size_t begin = source->origin + from_offset, end = target->origin + to_offset;
  const size_t apart = std::max(begin, end) - std::min(begin, end);
  if (whole_of(source) == whole_of(target) && apart < bytes) {
    return refuse(CL_MEM_COPY_OVERLAP, given.call, "copies onto itself");
  }
  Command command;
  command.used = {source, target};
  command.run = [=](cl_uint number, const cl_event* list, cl_event* done) {
    return REAL(clEnqueueCopyBuffer)(static_cast<cl_command_queue>(queue->real),
                                     real_memory(source), real_memory(target), from_offset,
                                     to_offset, bytes, number, list, done);
  };
  return enqueued(given, std::move(command));
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue handle, cl_uint count, const cl_event* waits,
                                   cl_event* event) {
  if (const cl_int error = planned_error("clEnqueueMarkerWithWaitList")) return error;
  const Guard guard(lock());
  auto* queue = living(handle, Kind::queue, "clEnqueueMarkerWithWaitList");
  if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
  Command command;
  command.after_all = true;
  command.run = [=](cl_uint number, const cl_event* list, cl_event* done) {
    return REAL(clEnqueueMarkerWithWaitList)(static_cast<cl_command_queue>(queue->real), number,
                                             list, done);
  };
  return enqueued({"clEnqueueMarkerWithWaitList", handle, count, waits, event}, std::move(command));
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue handle, cl_uint count, const cl_event* waits,
                                    cl_event* event) {
  if (const cl_int error = planned_error("clEnqueueBarrierWithWaitList")) return error;
  const Guard guard(lock());
  auto* queue = living(handle, Kind::queue, "clEnqueueBarrierWithWaitList");
  if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
  Command command;
  command.after_all = true;
  command.before_later = true;
  command.run = [=](cl_uint number, const cl_event* list, cl_event* done) {
    return REAL(clEnqueueBarrierWithWaitList)(static_cast<cl_command_queue>(queue->real), number,
                                              list, done);
  };
  return enqueued({"clEnqueueBarrierWithWaitList", handle, count, waits, event},
                  std::move(command));
}

cl_int clFlush(cl_command_queue handle) {
  if (const cl_int error = planned_error("clFlush")) return error;
  const Guard guard(lock());
  auto* queue = static_cast<Queue*>(living(handle, Kind::queue, "clFlush"));
  if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
  submit(*queue);
  return CL_SUCCESS;
}

cl_int clFinish(cl_command_queue handle) {
  Queue* queue = nullptr;
  {
    const Guard guard(lock());
    queue = static_cast<Queue*>(living(handle, Kind::queue, "clFinish"));
    if (queue == nullptr) return CL_INVALID_COMMAND_QUEUE;
    flush(*queue);
    use(*queue);
  }
  const cl_int error = REAL(clFinish)(static_cast<cl_command_queue>(queue->real));
  // What fails here is something that was enqueued; nothing is under way any more.
  const cl_int planned = planned_error("clFinish");
  const Guard guard(lock());
  leave(*queue);
  return planned != CL_SUCCESS ? planned : error;
}

cl_int clWaitForEvents(cl_uint count, const cl_event* handles) {
  if (const cl_int error = planned_error("clWaitForEvents")) return error;
  std::vector<Event*> events;
  {
    const Guard guard(lock());
    for (cl_uint i = 0; i < count; ++i) {
      auto* event = static_cast<Event*>(living(handles[i], Kind::event, "clWaitForEvents"));
      if (event == nullptr) return CL_INVALID_EVENT;
      events.push_back(event);
    }
    for (Event* event : events) {
      use(*event);
      if (event->real == nullptr) flush(static_cast<Queue&>(*event->parent));
    }
  }
  cl_int error = CL_SUCCESS;
  for (Event* event : events) {
    const cl_int of_this = wait_for(*event);
    if (error == CL_SUCCESS) error = of_this;
  }
  return error;
}

cl_int clGetEventInfo(cl_event handle, cl_event_info what, size_t room, void* place,
                      size_t* needed) {
  if (const cl_int error = planned_error("clGetEventInfo")) return error;
  const Guard guard(lock());
  auto* event = static_cast<Event*>(living(handle, Kind::event, "clGetEventInfo"));
  if (event == nullptr) return CL_INVALID_EVENT;
  if (event->real == nullptr && event->submitted) flush(static_cast<Queue&>(*event->parent));
  if (event->real != nullptr) {
    return REAL(clGetEventInfo)(static_cast<cl_event>(event->real), what, room, place, needed);
  }
  if (what != CL_EVENT_COMMAND_EXECUTION_STATUS || room < sizeof(cl_int)) return CL_INVALID_VALUE;
  *static_cast<cl_int*>(place) = event->error != CL_SUCCESS ? event->error : CL_QUEUED;
  return CL_SUCCESS;
}

cl_int clGetEventProfilingInfo(cl_event handle, cl_profiling_info what, size_t room, void* place,
                               size_t* needed) {
  if (const cl_int error = planned_error("clGetEventProfilingInfo")) return error;
  const Guard guard(lock());
  auto* event = static_cast<Event*>(living(handle, Kind::event, "clGetEventProfilingInfo"));
  if (event == nullptr) return CL_INVALID_EVENT;
  if (event->real == nullptr && event->submitted) flush(static_cast<Queue&>(*event->parent));
  if (event->real == nullptr) return CL_PROFILING_INFO_NOT_AVAILABLE;
  return REAL(clGetEventProfilingInfo)(static_cast<cl_event>(event->real), what, room, place,
                                       needed);
}

}  // extern "C"
