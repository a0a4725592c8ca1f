/* A program written for CLBlast: a matrix multiplication, one of a batch at any offsets and one of
 * a batch by strides, of floats and of halves, checked on the host. The thread that would tune does
 * not start at first. Skipped (77) without an OpenCL device. */
#define _GNU_SOURCE
#include <clblast_c.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kM = 33, kN = 20, kK = 17, kBatch = 3, kSkipped = 77 };

typedef struct Opencl {
  cl_context context;
  cl_command_queue queue;
} Opencl;

static int threads_fail = 0;
static int threads = 0; /* started, or not */

/* In the place of the system's. */
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) {
  typedef int (*Create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static Create create = NULL;
  if (create == NULL) *(void**)&create = dlsym(RTLD_NEXT, "pthread_create");
  ++threads;
  return threads_fail ? EAGAIN : create(thread, attributes, body, argument);
}

static int open_device(Opencl* opencl) {
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) return 0;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) return 0;
  opencl->context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  opencl->queue = clCreateCommandQueue(opencl->context, device, 0, NULL);
  return opencl->queue != NULL;
}

static cl_mem upload(const Opencl* opencl, const void* values, size_t bytes) {
  cl_mem buffer = clCreateBuffer(opencl->context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
  clEnqueueWriteBuffer(opencl->queue, buffer, CL_TRUE, 0, bytes, values, 0, NULL, NULL);
  return buffer;
}

/* Whole numbers of at most 2048, which halves hold exactly. */
static cl_half half_of(float value) {
  int bits = abs((int)value), exponent = 25;
  if (bits == 0) return 0;
  for (; bits < 1024; bits *= 2) --exponent;
  return (cl_half)((value < 0.0f ? 0x8000 : 0) | exponent << 10 | (bits & 1023));
}

static cl_mem upload_floats(const Opencl* opencl, const float* values, size_t count) {
  return upload(opencl, values, count * sizeof *values);
}

static cl_mem upload_halves(const Opencl* opencl, const float* values, size_t count) {
  static cl_half halves[kBatch * kM * kN + kBatch * kM * kK];
  for (size_t i = 0; i < count; ++i) halves[i] = half_of(values[i]);
  return upload(opencl, halves, count * sizeof *halves);
}

/* Small whole numbers, so that every sum is exact. */
static void fill(float* values, size_t count, int seed) {
  for (size_t i = 0; i < count; ++i) values[i] = (float)((int)((i * 7 + (size_t)seed) % 11) - 5);
}

static float a[kBatch * kM * kK], b[kBatch * kK * kN], c[kBatch * kM * kN];

/* What an element of C is after C = 2 A^T B + 3 C, column-major, of dense products. */
static float expected(int product, int row, int column) {
  float sum = 3.0f * c[product * kM * kN + column * kM + row];
  for (int k = 0; k < kK; ++k) {
    sum += 2.0f * a[product * kM * kK + row * kK + k] * b[product * kK * kN + column * kK + k];
  }
  return sum;
}

static int wrong_elements(const float* result, int products) {
  int wrong = 0;
  for (int i = 0; i < products * kM * kN; ++i) {
    wrong += result[i] == expected(i / (kM * kN), i % kM, i / kM % kN) ? 0 : 1;
  }
  return wrong;
}

static int wrong_halves(const cl_half* result, int products) {
  int wrong = 0;
  for (int i = 0; i < products * kM * kN; ++i) {
    wrong += result[i] == half_of(expected(i / (kM * kN), i % kM, i / kM % kN)) ? 0 : 1;
  }
  return wrong;
}

static const size_t a_offsets[kBatch] = {0, kM* kK, 2 * kM* kK};
static const size_t b_offsets[kBatch] = {0, kK* kN, 2 * kK* kN};
static const size_t c_offsets[kBatch] = {0, kM* kN, 2 * kM* kN};

/* C = 2 A^T B + 3 C by one of the three functions. */
static CLBlastStatusCode of_floats(int way, cl_mem on_a, cl_mem on_b, cl_mem on_c,
                                   cl_command_queue* queue, cl_event* event) {
  static const float alphas[kBatch] = {2.0f, 2.0f, 2.0f};
  static const float betas[kBatch] = {3.0f, 3.0f, 3.0f};
  const CLBlastLayout layout = CLBlastLayoutColMajor;
  const CLBlastTranspose yes = CLBlastTransposeYes, no = CLBlastTransposeNo;
  if (way == 0) {
    return CLBlastSgemm(layout, yes, no, kM, kN, kK, 2.0f, on_a, 0, kK, on_b, 0, kK, 3.0f, on_c, 0,
                        kM, queue, event);
  }
  if (way == 1) {
    return CLBlastSgemmBatched(layout, yes, no, kM, kN, kK, alphas, on_a, a_offsets, kK, on_b,
                               b_offsets, kK, betas, on_c, c_offsets, kM, kBatch, queue, event);
  }
  return CLBlastSgemmStridedBatched(layout, yes, no, kM, kN, kK, 2.0f, on_a, 0, kK, kM * kK, on_b,
                                    0, kK, kK * kN, 3.0f, on_c, 0, kM, kM * kN, kBatch, queue,
                                    event);
}

static CLBlastStatusCode of_halves(int way, cl_mem on_a, cl_mem on_b, cl_mem on_c,
                                   cl_command_queue* queue, cl_event* event) {
  const cl_half two = half_of(2.0f), three = half_of(3.0f);
  const cl_half alphas[kBatch] = {two, two, two}, betas[kBatch] = {three, three, three};
  const CLBlastLayout layout = CLBlastLayoutColMajor;
  const CLBlastTranspose yes = CLBlastTransposeYes, no = CLBlastTransposeNo;
  if (way == 0) {
    return CLBlastHgemm(layout, yes, no, kM, kN, kK, two, on_a, 0, kK, on_b, 0, kK, three, on_c, 0,
                        kM, queue, event);
  }
  if (way == 1) {
    return CLBlastHgemmBatched(layout, yes, no, kM, kN, kK, alphas, on_a, a_offsets, kK, on_b,
                               b_offsets, kK, betas, on_c, c_offsets, kM, kBatch, queue, event);
  }
  return CLBlastHgemmStridedBatched(layout, yes, no, kM, kN, kK, two, on_a, 0, kK, kM * kK, on_b, 0,
                                    kK, kK * kN, three, on_c, 0, kM, kM * kN, kBatch, queue, event);
}

/* How many elements are wrong in C, on the device as halves or not, after a way; all where it
 * failed. */
static int wrong_after(const Opencl* opencl, int halves, int way) {
  cl_mem (*const put)(const Opencl*, const float*, size_t) = halves ? upload_halves : upload_floats;
  cl_mem on_a = put(opencl, a, kBatch * kM * kK), on_b = put(opencl, b, kBatch * kK * kN);
  cl_mem on_c = put(opencl, c, kBatch * kM * kN);
  static float result[kBatch * kM * kN];
  static cl_half half_result[kBatch * kM * kN];
  cl_command_queue queue = opencl->queue;
  cl_event event = NULL;
  const CLBlastStatusCode status =
      (halves ? of_halves : of_floats)(way, on_a, on_b, on_c, &queue, &event);
  int wrong = kM * kN;
  if (status == CLBlastSuccess) {
    const int products = way == 0 ? 1 : kBatch;
    clWaitForEvents(1, &event);
    clReleaseEvent(event);
    clEnqueueReadBuffer(queue, on_c, CL_TRUE, 0, halves ? sizeof half_result : sizeof result,
                        halves ? (void*)half_result : (void*)result, 0, NULL, NULL);
    wrong = halves ? wrong_halves(half_result, products) : wrong_elements(result, products);
  }
  printf("%s, way %d: status %d, %d elements are wrong\n", halves ? "halves" : "floats", way,
         (int)status, wrong);
  clReleaseMemObject(on_a);
  clReleaseMemObject(on_b);
  clReleaseMemObject(on_c);
  return wrong;
}

int main(void) {
  Opencl opencl;
  if (!open_device(&opencl)) {
    printf("skipped: no OpenCL device\n");
    return kSkipped;
  }
  fill(a, kBatch * kM * kK, 1);
  fill(b, kBatch * kK * kN, 2);
  fill(c, kBatch * kM * kN, 3);
  threads = 0;
  threads_fail = 1;
  if (wrong_after(&opencl, 0, 0) == 0 || threads == 0) return EXIT_FAILURE;
  threads = threads_fail = 0;
  int wrong = wrong_after(&opencl, 0, 0);
  if (threads == 0) {
    printf("nothing tunes\n");
    return EXIT_FAILURE;
  }
  for (int way = 0; way < 6; ++way) wrong += wrong_after(&opencl, way / 3, way % 3);
  /* What CLBlast says of a leading dimension that is too small, and of more products than there
   * may be. */
  cl_mem any = upload_floats(&opencl, a, 64);
  const CLBlastTranspose no = CLBlastTransposeNo;
  const int refused =
      CLBlastSgemm(CLBlastLayoutColMajor, no, no, 4, 4, 4, 1.0f, any, 0, 3, any, 0, 4, 0.0f, any, 0,
                   4, &opencl.queue, NULL) == CLBlastInvalidLeadDimA &&
      CLBlastHgemm(CLBlastLayoutColMajor, no, no, 4, 4, 4, 0, any, 0, 4, any, 0, 3, 0, any, 0, 4,
                   &opencl.queue, NULL) == CLBlastInvalidLeadDimB &&
      CLBlastSgemmBatched(CLBlastLayoutColMajor, no, no, 4, 4, 4, a, any, a_offsets, 4, any,
                          b_offsets, 4, a, any, c_offsets, 4, SIZE_MAX / 2, &opencl.queue,
                          NULL) == CLBlastInvalidBatchCount;
  clReleaseMemObject(any);
  CLBlastClearCache();
  clReleaseCommandQueue(opencl.queue);
  clReleaseContext(opencl.context);
  return wrong == 0 && refused ? EXIT_SUCCESS : EXIT_FAILURE;
}
