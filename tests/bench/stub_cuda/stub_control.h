/* What tests and benchmarks may ask of the stub CUDA driver: GPUs whose memory is the host's, and
   which run kernels at once, on the CPU, where they know them; and of the stub NVRTC, whose machine
   code is the source. Open a library by its path and resolve its functions with dlsym. Any thread.

   Kernels compute nothing, except where CUDA_STUB_GEMM lets those of kernels/gemm do it, and one
   that is called `scale`:
     scale(float* out, const float* in, float factor, int n): out[i] = factor * in[i]
   and compile options decide how it behaves and how long it takes, also in other processes:
     -DRUN_US=n        microseconds between the events around it; CUDA_STUB_RUN_NS without it
     -DBEHAVIOUR=n     see CudaStubBehaviour */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum CudaStubBehaviour {
  CUDA_STUB_RIGHT = 0,
  CUDA_STUB_ILLEGAL_ADDRESS = 1, /* the context is of no use any more */
  CUDA_STUB_WRONG = 2,           /* the last element is off by one */
  CUDA_STUB_ENDLESS = 3,
  CUDA_STUB_ABORT = 4,           /* the driver ends the process */
  CUDA_STUB_OUT_OF_RESOURCES = 5 /* the launch is refused */
};

enum CudaStubSetting {
  CUDA_STUB_RUN_STATUS,      /* 0 complete, 1 never ends, else the error that runs end with */
  CUDA_STUB_EVENT_POLLS,     /* how often an event is not ready before it is; 0 */
  CUDA_STUB_RUN_NS,          /* between events around a run; 1000 */
  CUDA_STUB_DEVICES,         /* 1, at most 4; all alike */
  CUDA_STUB_DRIVER_VERSION,  /* 12020 */
  CUDA_STUB_ARCHITECTURE,    /* 87 */
  CUDA_STUB_PRIORITIES,      /* 1: streams have priorities 0 to -5; 0: none */
  CUDA_STUB_PARAMETER_INFO,  /* 1: cuFuncGetParamInfo answers */
  CUDA_STUB_CAPTURING,       /* 0; 1: every stream is being captured */
  CUDA_STUB_RECORD_LAUNCHES, /* 1; benchmarks set 0, since recording takes a lock */
  CUDA_STUB_GEMM, /* 0; 1: gemm is said to take a time that its options decide; 2: and is computed.
                     STUB_CUDA_GEMM in the environment presets it, for other processes */
  CUDA_STUB_SEGMENT_BYTES, /* 0; else memory is told in segments of so many, as mapped memory is */
  CUDA_STUB_SETTING_COUNT
};

/* Everything as it was when the library was loaded, all counters at zero, contexts healthy. Live
   objects stay. */
void cuda_stub_reset(void);
void cuda_stub_set(enum CudaStubSetting setting, long value);
/* The next call of the function ("cuMemAlloc") succeeds `after` times and then fails with `error`
   for good; 0 heals it. Unknown names are ignored. */
void cuda_stub_fail(const char* function, int error, unsigned after);
/* From now on the n-th call, of whatever function, fails once with `error`; n 0: none does. Which
   one that was, or null; how many there were since then. */
void cuda_stub_fail_call(unsigned long n, int error);
const char* cuda_stub_failed_call(void);
unsigned long cuda_stub_counted_calls(void);
/* Calls of one function since the last reset, failed ones too; of all for a null name. */
unsigned long cuda_stub_calls(const char* function);
/* Objects made and not yet gone: streams, events, modules, buffers, references to primary contexts.
 */
long cuda_stub_live_objects(void);
/* A context other than the primary ones, and its end. */
void* cuda_stub_create_context(int device);
void cuda_stub_destroy_context(void* context);
/* Modules and buffers that were unloaded or freed although a launch into a graph has taken them. */
long cuda_stub_broken_graphs(void);
/* The calling thread's capture mode (CUstreamCaptureMode); 0 global. */
int cuda_stub_capture_mode(void);

struct CudaStubLaunch {
  void* stream;
  int priority; /* of the stream; 0 for default streams */
  void* context;
  int capture_mode;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  unsigned argument_count;
  size_t argument_size[16];
  unsigned char argument[16][8];
};
/* The last cuLaunchKernel that succeeded. */
void cuda_stub_last_launch(struct CudaStubLaunch* launch);
/* The image of the last cuModuleLoadDataEx, as text; valid until the next. */
const char* cuda_stub_last_image(void);

/* --- the stub NVRTC's --- */
enum NvrtcStubSetting {
  NVRTC_STUB_VERSION,              /* 12020 */
  NVRTC_STUB_LOWEST_ARCHITECTURE,  /* 53 */
  NVRTC_STUB_HIGHEST_ARCHITECTURE, /* 90 */
  NVRTC_STUB_SETTING_COUNT
};
void nvrtc_stub_reset(void);
void nvrtc_stub_set(enum NvrtcStubSetting setting, long value);
/* From now on the function fails with `error`; 0 heals it. A source with `#error` outside of all
   conditions never compiles. */
void nvrtc_stub_fail(const char* function, int error);
/* As cuda_stub_fail_call; returns how many calls there were since the last time. */
unsigned long nvrtc_stub_fail_call(unsigned long n, int error);
unsigned long nvrtc_stub_calls(const char* function);
long nvrtc_stub_live_programs(void);
/* Options of the last nvrtcCompileProgram, each followed by a blank; valid until the next. */
const char* nvrtc_stub_last_options(void);

#ifdef __cplusplus
}
#endif
