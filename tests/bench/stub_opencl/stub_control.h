/* What tests and benchmarks may ask of the stub OpenCL library, which does nothing, at once: one
   platform, GPU devices that take no time, kernels that compute nothing, except where STUB_GEMM
   lets those of kernels/gemm compute on the CPU, and one that is called stub_scale and has the
   arguments (out, in, factor, n): out = factor * in, wrong in its last element where BEHAVIOUR is
   not 0, and said to take RUN_US microseconds, as its options define them. Open the library by its
   path and resolve these functions with dlsym. Any thread. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum StubSetting {
  STUB_EVENT_STATUS,    /* what events end as: 0 complete (default), < 0 failed, > 0 never ends */
  STUB_EVENT_POLLS,     /* how often an event is still running before it has ended; 0 */
  STUB_RUN_NS,          /* END - START of every run; 1000. Negative: an END before the START */
  STUB_DEVICES,         /* 1, at most 4; all alike */
  STUB_PLATFORMS,       /* 1, or 0 */
  STUB_OPENCL_MAJOR,    /* 3: what platform and device say they are */
  STUB_PRIORITY_HINTS,  /* 1: announces cl_khr_priority_hints */
  STUB_QUEUE_EXTENSION, /* 0: announces cl_khr_create_command_queue */
  STUB_PROFILING,       /* 1: queues can record profiles */
  STUB_KERNEL_WORK_GROUP_SIZE, /* 256 */
  STUB_RECORD_LAUNCHES,        /* 1; benchmarks set 0, since recording takes a lock */
  STUB_COMPILER,               /* 1: CL_DEVICE_COMPILER_AVAILABLE */
  STUB_GEMM, /* 0; 1: gemm is said to take a time that its options decide; 2: and is computed */
  STUB_MEMORY_TYPE, /* CL_MEM_OBJECT_BUFFER: of every memory object */
  STUB_SETTING_COUNT
};

/* Everything as it was when the library was loaded, all counters at zero. Live objects stay. */
void stub_reset(void);
void stub_set(enum StubSetting setting, long value);
/* The next call of the function ("clBuildProgram") succeeds `after` times and then fails with
   `error` for good; 0 heals it. Unknown names are ignored. */
void stub_fail(const char* function, int error, unsigned after);
/* From now on the n-th call, of any function, fails with `error`; 0: none does, and none is
 * counted. */
void stub_fail_call(unsigned long n, int error);
/* How many there were since then, and the name of the one that failed; null: none did. */
unsigned long stub_counted_calls(void);
const char* stub_failed_call(void);

/* Calls of one function since the last reset, failed ones too; of all for a null name. */
unsigned long stub_calls(const char* function);
/* Objects created and not yet released: contexts, queues, programs, kernels, events, buffers. */
long stub_live_objects(void);
/* How many binaries clCreateProgramWithBinary was given since the last reset, and the last of them
   (valid until the next). */
unsigned long stub_binaries_given(void);
const unsigned char* stub_last_binary(size_t* size);

struct StubLaunch {
  void* queue;
  void* kernel;
  unsigned dimensions;
  size_t global[3];
  size_t local[3];
  unsigned wait_count;
  unsigned argument_count;
  size_t argument_size[32];
  unsigned char argument[32][16];
};
/* The last clEnqueueNDRangeKernel that succeeded. */
void stub_last_launch(struct StubLaunch* launch);
/* Whether the queue was made with the low priority. */
int stub_is_low_priority(void* queue);
/* The options of the last clBuildProgram; valid until the next. */
const char* stub_last_options(void);

#ifdef __cplusplus
}
#endif
