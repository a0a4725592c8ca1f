/* The same in C, by pkg-config; shorter, and with background tuning.
   usage: frames_in_c PACKAGE STATE_FOLDER SECONDS */
#define _POSIX_C_SOURCE 199309L
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <idletune/idletune.h>

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int failed(const char* what) {
  fprintf(stderr, "frames_in_c: %s: %s\n", what, idletune_last_message());
  return 1;
}

static idletune_argument buffer(cl_mem memory) {
  idletune_argument argument = {0};
  argument.kind = IDLETUNE_BUFFER;
  argument.value.buffer = memory;
  return argument;
}

int main(int count, char** words) {
  const int64_t shape[2] = {360, 480};
  const struct timespec rest = {0, 25000000};
  idletune_device* device = NULL;
  idletune_agent* agent = NULL;
  idletune_kernel* blur = NULL;
  void *context = NULL, *id = NULL, *queue = NULL;
  double frame_ms = 0;
  if (count < 4) return 2;
  if (idletune_opencl_open(0, &device) != IDLETUNE_OK) return failed("device");
  idletune_opencl_handles(device, &context, &id, &queue);
  const cl_mem in = clCreateBuffer(context, CL_MEM_READ_ONLY, 364 * 484 * 4, NULL, NULL);
  const cl_mem out = clCreateBuffer(context, CL_MEM_WRITE_ONLY, 360 * 480 * 4, NULL, NULL);
  const idletune_argument arguments[2] = {buffer(in), buffer(out)};
  if (idletune_open(NULL, words[2], &agent) != IDLETUNE_OK) return failed("agent");
  if (idletune_load_kernel(agent, device, words[1], &blur) != IDLETUNE_OK) return failed("kernel");
  if (idletune_start_background(agent, 0.5, 0.0) != IDLETUNE_OK) return failed("background");
  const double begin = now_ms();
  for (int frame = 0; now_ms() - begin < 1000 * atof(words[3]); ++frame) {
    const double start = now_ms();
    if (idletune_launch(blur, shape, 2, arguments, 2, NULL, NULL, 0, NULL) != IDLETUNE_OK) {
      return failed("launch");
    };
    clFinish(queue);
    frame_ms = now_ms() - start;
    if (frame == 0) printf("first frame %.2f ms\n", frame_ms);
    nanosleep(&rest, NULL);
  }
  printf("last frame %.2f ms\n", frame_ms);
  idletune_close(agent);
  idletune_device_close(device);
  return 0;
}
