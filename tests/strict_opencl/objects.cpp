#include "tests/strict_opencl/objects.hpp"

#include "tests/strict_opencl/control.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>

namespace strict_opencl {
namespace {

constexpr const char* kNames[] = {"context", "queue", "buffer", "program", "kernel", "event"};

// Left alone at the end of the process, when threads of the driver may still come by.
struct Layer {
  std::recursive_mutex mutex;
  std::unordered_map<const void*, std::shared_ptr<Object>> objects;
  std::unordered_map<std::string, void*> functions;
  long live = 0;  // of which the application has references
  long refused = 0;
  unsigned long chosen = 0;  // as strict_fail_call says; 0: none, and nothing is counted
  unsigned long counted = 0;
  cl_int error_of_chosen = CL_SUCCESS;
  const char* failed = "";
};
Layer& layer() {
  static auto* const one = new Layer;
  return *one;
}

bool nothing_may_be_left() { return std::getenv("IDLETUNE_STRICT_LEFT") != nullptr; }

// What the application still holds when it ends.
struct AtEnd {
  ~AtEnd() {
    const std::lock_guard<std::recursive_mutex> guard(lock());
    long left[6] = {};
    for (const auto& entry : layer().objects) {
      if (entry.second->references > 0) ++left[static_cast<int>(entry.second->kind)];
    }
    if (nothing_may_be_left()) {
      if (layer().functions.empty() && ::dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_NOLOAD)) {
        std::fprintf(stderr, "strict OpenCL: the library was asked, and not the layer\n");
        ++layer().refused;
      }
      for (int kind = 0; kind < 6; ++kind) {
        if (left[kind] == 0) continue;
        std::fprintf(stderr, "strict OpenCL: %ld x %s never released\n", left[kind], kNames[kind]);
        ++layer().refused;
      }
    }
    if (layer().refused > 0) {
      std::fflush(nullptr);
      ::_exit(86);
    }
  }
} at_end;

void release_real(const Object& object) {
  switch (object.kind) {
    case Kind::context: REAL(clReleaseContext)(static_cast<cl_context>(object.real)); break;
    case Kind::queue:
      REAL(clReleaseCommandQueue)(static_cast<cl_command_queue>(object.real));
      break;
    case Kind::memory: REAL(clReleaseMemObject)(static_cast<cl_mem>(object.real)); break;
    case Kind::program: REAL(clReleaseProgram)(static_cast<cl_program>(object.real)); break;
    case Kind::kernel: REAL(clReleaseKernel)(static_cast<cl_kernel>(object.real)); break;
    case Kind::event:
      if (object.real != nullptr) REAL(clReleaseEvent)(static_cast<cl_event>(object.real));
      break;
  }
}

void die_if_unused(Object& object) {
  if (object.references > 0 || object.uses > 0) return;
  release_real(object);
  if (object.parent != nullptr) leave(*object.parent);
}

}  // namespace

std::recursive_mutex& lock() { return layer().mutex; }

void* real_function(const char* name) {
  const std::lock_guard<std::recursive_mutex> guard(lock());
  static void* const library = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  void*& function = layer().functions[name];
  if (function == nullptr && library != nullptr) function = ::dlsym(library, name);
  if (function == nullptr) {
    std::fprintf(stderr, "strict OpenCL: no %s in libOpenCL.so.1\n", name);
    std::abort();
  }
  return function;
}

cl_int planned_error(const char* call) {
  const std::lock_guard<std::recursive_mutex> guard(lock());
  if (layer().chosen == 0 || ++layer().counted != layer().chosen) return CL_SUCCESS;
  layer().failed = call;
  return layer().error_of_chosen;
}

cl_int refuse(cl_int error, const char* call, const char* why) {
  std::fprintf(stderr, "strict OpenCL: %s: %s (%d)\n", call, why, error);
  ++layer().refused;
  if (nothing_may_be_left()) std::abort();  // nobody hears a helper's stderr, or asks how it ends
  return error;
}

static_assert(offsetof(Object, functions) == 0);

void add(std::shared_ptr<Object> object, const void* real, Object* parent) {
  object->real = const_cast<void*>(real);
  object->parent = parent;
  if (real != nullptr) {
    std::memcpy(&object->functions, real, sizeof object->functions);
  } else if (parent != nullptr) {
    object->functions = parent->functions;
  }
  if (parent != nullptr) use(*parent);
  ++layer().live;
  const void* handle = object.get();
  layer().objects[handle] = std::move(object);
}

Object* known(const void* handle) {
  const auto place = layer().objects.find(handle);
  return place == layer().objects.end() ? nullptr : place->second.get();
}

Object* living(const void* handle, Kind kind, const char* call) {
  Object* object = known(handle);
  const std::string name = kNames[static_cast<int>(kind)];
  if (object == nullptr || object->kind != kind) {
    refuse(CL_INVALID_VALUE, call, ("what was given is no " + name).c_str());
    return nullptr;
  }
  if (object->references <= 0) {
    refuse(CL_INVALID_VALUE, call, ("the " + name + " was released").c_str());
    return nullptr;
  }
  return object;
}

void use(Object& object) { ++object.uses; }
void leave(Object& object) {
  --object.uses;
  die_if_unused(object);
}
void release(Object& object) {
  if (--object.references == 0) --layer().live;
  die_if_unused(object);
}

Object& context_of(Object& object) {
  Object* at = &object;
  while (at->kind != Kind::context) at = at->parent;
  return *at;
}

}  // namespace strict_opencl

using namespace strict_opencl;

extern "C" {

void strict_fail_call(unsigned long n, int error) {
  const std::lock_guard<std::recursive_mutex> guard(lock());
  layer().chosen = n;
  layer().counted = 0;
  layer().error_of_chosen = error;
  layer().failed = "";
}

unsigned long strict_counted_calls(void) {
  const std::lock_guard<std::recursive_mutex> guard(lock());
  return layer().counted;
}

const char* strict_failed_call(void) {
  const std::lock_guard<std::recursive_mutex> guard(lock());
  return layer().failed;
}

long strict_live_objects(void) {
  const std::lock_guard<std::recursive_mutex> guard(lock());
  return layer().live;
}

}  // extern "C"
