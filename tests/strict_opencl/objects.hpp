// A layer before the real OpenCL library, preloaded: as strict as the specification allows a driver
// to be. Handles are the layer's own and never used twice; what is wrong is refused, told on stderr
// and makes the process fail at its end, or at once where IDLETUNE_STRICT_LEFT is set. Commands
// wait until something flushes their queue, or where IDLETUNE_STRICT_SEED is odd (1 where it is not
// set) until somebody asks for them; those of an out-of-order queue then run in an order drawn from
// that seed. Arguments of one launch are set by one thread. New buffers are full of NaN, sub-buffers are aligned to a kilobyte.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace strict_opencl {

constexpr std::size_t kSubBufferAlignment = 1024;

enum class Kind { context, queue, memory, program, kernel, event };

// What a handle points to. It stays when it has died, so that its use can be told.
struct Object {
  explicit Object(Kind what) : kind(what) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  const void* functions =
      nullptr;  // first, as behind the ICD loader: a driver's objects begin alike
  const Kind kind;
  long references = 1;  // the application's
  long uses = 0;        // by commands and by other objects
  void* real = nullptr;
  Object* parent = nullptr;  // context; of a kernel its program, of an event its queue
};

struct Memory : Object {
  Memory() : Object(Kind::memory) {}
  std::size_t bytes = 0;    // none of an image
  Memory* whole = nullptr;  // of a sub-buffer
  std::size_t origin = 0;   // there
};

struct KernelArgument {
  bool set = false;
  std::size_t size = 0;
  std::vector<unsigned char> value;  // empty: local memory
  Memory* memory = nullptr;
};

struct Kernel : Object {
  Kernel() : Object(Kind::kernel) {}
  std::vector<KernelArgument> arguments;
  std::thread::id setter;  // of arguments since the last launch; none: nobody
};

struct Event : Object {
  Event() : Object(Kind::event) {}
  cl_int error = CL_SUCCESS;  // where the command could not run
  bool submitted = false;     // runs sooner or later
};

struct Command {
  std::function<cl_int(cl_uint, const cl_event*, cl_event*)> run;
  std::vector<Event*> waits;
  std::vector<Object*> used;
  Event* event = nullptr;
  bool after_all = false;     // a marker or a barrier without events
  bool before_later = false;  // a barrier
};

struct Queue : Object {
  Queue() : Object(Kind::queue) {}
  bool in_order = true;
  cl_device_id device = nullptr;
  std::deque<Command> waiting;
};

// Held in each call, but never while the real library waits or compiles.
std::recursive_mutex& lock();

// A function of the real library.
void* real_function(const char* name);
#define REAL(name) (*reinterpret_cast<decltype(&::name)>(strict_opencl::real_function(#name)))

// Counts a call of the application; the error with which it shall fail (control.h), or CL_SUCCESS.
cl_int planned_error(const char* call);

// Tells that the application did something wrong; gives `error` back.
cl_int refuse(cl_int error, const char* call, const char* why);

// Takes over `real`, which `parent` is used by.
template <class T>
T* added(std::shared_ptr<T> object, const void* real, Object* parent);
void add(std::shared_ptr<Object> object, const void* real, Object* parent);
template <class T>
T* added(std::shared_ptr<T> object, const void* real, Object* parent) {
  T* plain = object.get();
  add(std::move(object), real, parent);
  return plain;
}

// The living object of a handle; null, and told, if it is none or dead.
Object* living(const void* handle, Kind kind, const char* call);
// The same, whether it lives or not, and nothing is told; null: no handle of ours.
Object* known(const void* handle);

void use(Object& object);
void leave(Object& object);          // ends a use
void release(Object& object);        // ends a reference of the application
Object& context_of(Object& object);  // its own for a context

// Enqueues; flushes where as much waits as drivers let wait.
void enqueue(Queue& queue, Command command);
// Gives everything that waits to the real queue.
void flush(Queue& queue);
// The same, or where the driver is slow only promises it.
void submit(Queue& queue);

}  // namespace strict_opencl
