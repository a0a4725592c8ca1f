// The layer refuses what it is there for, and lets right use pass. Each case is a process of its
// own: one in which something was refused ends with 86.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/strict_opencl/objects.hpp"

namespace {

constexpr const char* kSource =
    "__kernel void twice(__global int* x) { x[get_global_id(0)] *= 2; }\n"
    "__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void in_eights(__global int* x) {"
    "  x[get_global_id(0)] *= 2; }";
constexpr size_t kBytes = 4096;
constexpr size_t kItems = kBytes / sizeof(int);

struct Setup {
  Setup() {
    clGetPlatformIDs(1, &platform, nullptr);
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
      std::_Exit(77);
    }
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    queue = clCreateCommandQueue(context, device, 0, nullptr);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, kBytes, nullptr, nullptr);
    program =
        clCreateProgramWithSource(context, 1, const_cast<const char**>(&kSource), nullptr, nullptr);
    clBuildProgram(program, 1, &device, "", nullptr, nullptr);
    kernel = clCreateKernel(program, "twice", nullptr);
  }
  void give_back() {
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }
  cl_int launch(size_t items, size_t group) {
    return clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &group, 0, nullptr, nullptr);
  }
  cl_int write(const int& value, cl_event* event = nullptr) {
    return clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof value, &value, 0, nullptr,
                                event);
  }
  int first() {
    int value = 0;
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr);
    return value;
  }
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_mem buffer = nullptr;
  cl_program program = nullptr;
  cl_kernel kernel = nullptr;
};

bool right_use(Setup& s) {
  const int three = 3;
  cl_event written = nullptr;
  const bool done = s.write(three, &written) == CL_SUCCESS &&
                    clSetKernelArg(s.kernel, 0, sizeof s.buffer, &s.buffer) == CL_SUCCESS &&
                    s.launch(kItems, 8) == CL_SUCCESS && s.first() == 6 &&
                    clWaitForEvents(1, &written) == CL_SUCCESS;
  clReleaseEvent(written);
  s.give_back();
  return done;
}
bool left(Setup&) { return true; }
bool rubbish(Setup& s) { return s.first() == -1; }
bool read_late(Setup& s) {
  int value = 1;
  s.write(value);
  value = 2;
  return s.first() == 2;
}
bool released_queue(Setup& s) {
  clReleaseCommandQueue(s.queue);
  return clFlush(s.queue) == CL_INVALID_COMMAND_QUEUE;
}
bool released_event(Setup& s) {
  const int one = 1;
  cl_event event = nullptr;
  s.write(one, &event);
  clFinish(s.queue);
  clReleaseEvent(event);
  return clRetainEvent(event) == CL_INVALID_EVENT;
}
bool released_buffer(Setup& s) {
  clSetKernelArg(s.kernel, 0, sizeof s.buffer, &s.buffer);
  clReleaseMemObject(s.buffer);
  return s.launch(kItems, 8) == CL_INVALID_MEM_OBJECT;
}
bool released_twice(Setup& s) {
  clReleaseMemObject(s.buffer);
  return clReleaseMemObject(s.buffer) == CL_INVALID_MEM_OBJECT;
}
bool beyond(Setup& s) {
  const int value = 0;
  return clEnqueueWriteBuffer(s.queue, s.buffer, CL_TRUE, kBytes - 2, sizeof value, &value, 0,
                              nullptr, nullptr) == CL_INVALID_VALUE;
}
bool nothing(Setup& s) {
  int value = 0;
  return clEnqueueReadBuffer(s.queue, s.buffer, CL_TRUE, 0, 0, &value, 0, nullptr, nullptr) ==
         CL_INVALID_VALUE;
}
bool onto_itself(Setup& s) {
  return clEnqueueCopyBuffer(s.queue, s.buffer, s.buffer, 0, 8, 16, 0, nullptr, nullptr) ==
         CL_MEM_COPY_OVERLAP;
}
bool onto_its_part(Setup& s) {
  const cl_buffer_region region = {1024, 64};
  const cl_mem part = clCreateSubBuffer(s.buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                        &region, nullptr);
  return clEnqueueCopyBuffer(s.queue, part, s.buffer, 0, 1032, 16, 0, nullptr, nullptr) ==
         CL_MEM_COPY_OVERLAP;
}
bool misaligned(Setup& s) {
  const cl_buffer_region region = {512, 64};
  cl_int error = CL_SUCCESS;
  const cl_mem part =
      clCreateSubBuffer(s.buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  return part == nullptr && error == CL_MISALIGNED_SUB_BUFFER_OFFSET;
}
bool unset(Setup& s) { return s.launch(kItems, 8) == CL_INVALID_KERNEL_ARGS; }
bool uneven(Setup& s) {
  clSetKernelArg(s.kernel, 0, sizeof s.buffer, &s.buffer);
  const bool refused = s.launch(kItems - 1, 8) == CL_INVALID_WORK_GROUP_SIZE;
  s.give_back();
  return refused;
}
bool no_group(Setup& s) {
  cl_kernel kernel = clCreateKernel(s.program, "in_eights", nullptr);
  clSetKernelArg(kernel, 0, sizeof s.buffer, &s.buffer);
  const auto launch = [&](const size_t* group) {
    return clEnqueueNDRangeKernel(s.queue, kernel, 1, nullptr, &kItems, group, 0, nullptr, nullptr);
  };
  const size_t eight = 8;
  const bool refused = launch(nullptr) == CL_INVALID_WORK_GROUP_SIZE &&
                       launch(&eight) == CL_SUCCESS && clFinish(s.queue) == CL_SUCCESS;
  clReleaseKernel(kernel);
  s.give_back();
  return refused;
}
cl_int set_on_another_thread(Setup& s) {
  cl_int error = CL_SUCCESS;
  std::thread other([&] { error = clSetKernelArg(s.kernel, 0, sizeof s.buffer, &s.buffer); });
  other.join();
  return error;
}
bool two_setters(Setup& s) {
  clSetKernelArg(s.kernel, 0, sizeof s.buffer, &s.buffer);
  return set_on_another_thread(s) == CL_INVALID_KERNEL;
}
bool one_setter_each(Setup& s) {
  clSetKernelArg(s.kernel, 0, sizeof s.buffer, &s.buffer);
  const bool done = s.launch(kItems, 8) == CL_SUCCESS && set_on_another_thread(s) == CL_SUCCESS &&
                    s.launch(kItems, 8) == CL_SUCCESS && clFinish(s.queue) == CL_SUCCESS;
  s.give_back();
  return done;
}
bool never_flushed(Setup& s) {
  const int one = 1;
  cl_event event = nullptr;
  s.write(one, &event);
  cl_command_queue other = clCreateCommandQueue(s.context, s.device, 0, nullptr);
  clEnqueueBarrierWithWaitList(other, 1, &event, nullptr);
  return clFinish(other) == CL_SUCCESS;
}

// How often of 64 times the first of two writes comes last.
int overtaken(Setup& s, bool in_order) {
  cl_command_queue own = s.queue;
  s.queue =
      clCreateCommandQueue(s.context, s.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, nullptr);
  int times = 0;
  for (int i = 0; i < 64; ++i) {
    const int one = 1, two = 2;
    s.write(one);
    if (in_order) clEnqueueBarrierWithWaitList(s.queue, 0, nullptr, nullptr);
    s.write(two);
    clFinish(s.queue);
    times += s.first() == 1 ? 1 : 0;
  }
  clReleaseCommandQueue(s.queue);
  s.queue = own;
  s.give_back();
  return times;
}
bool overtakes(Setup& s) {
  const int times = overtaken(s, false);
  return times > 8 && times < 64;
}
bool barrier(Setup& s) { return overtaken(s, true) == 0; }

struct Case {
  const char* name;
  bool (*holds)(Setup&);
  int ends_with;
  bool gives_back = false;
};
constexpr Case kCases[] = {
    {"right use", right_use, 0, true},
    {"objects that are never released", left, 86, true},
    {"a new buffer is rubbish", rubbish, 0},
    {"what is written is read late", read_late, 0},
    {"a released queue", released_queue, 86},
    {"a released queue, where nothing may be left", released_queue, -1, true},
    {"a released event", released_event, 86},
    {"a released buffer in a launch", released_buffer, 86},
    {"a release too many", released_twice, 86},
    {"a write beyond the buffer", beyond, 86},
    {"a read of nothing", nothing, 86},
    {"a copy onto itself", onto_itself, 86},
    {"a copy of a part onto its whole", onto_its_part, 86},
    {"a misaligned sub-buffer", misaligned, 86},
    {"an argument that was never set", unset, 86},
    {"a group that does not divide", uneven, 0, true},
    {"no group where one is demanded", no_group, 0, true},
    {"two threads that set arguments of one launch", two_setters, 86},
    {"two threads that set arguments of a launch each", one_setter_each, 0, true},
    {"an event of a queue that nobody flushed", never_flushed, 86},
    {"commands overtake each other", overtakes, 0, true},
    {"none overtakes a barrier", barrier, 0, true},
};

int outcome(const Case& tried) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (tried.gives_back) ::setenv("IDLETUNE_STRICT_LEFT", "1", 1);
    Setup setup;
    if (!tried.holds(setup)) ::_exit(1);
    std::exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

int main() {
  int wrong = 0;
  for (const Case& tried : kCases) {
    const int ended = outcome(tried);
    if (ended == 77) return 77;
    if (ended == tried.ends_with) continue;
    std::printf("%s: ended with %d, expected %d\n", tried.name, ended, tried.ends_with);
    ++wrong;
  }
  return wrong == 0 ? 0 : 1;
}
