/* A program written for CLBlast: a matrix multiplication, one of a batch at any offsets and one of
 * a batch by strides, checked on the host. Skipped (77) without an OpenCL device. */
#include <clblast_c.h>
#include <stdio.h>
#include <stdlib.h>

enum { kM = 33, kN = 20, kK = 17, kBatch = 3, kSkipped = 77 };

typedef struct Opencl {
  cl_context context;
  cl_command_queue queue;
} Opencl;

static int open_device(Opencl* opencl) {
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) return 0;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) return 0;
  opencl->context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  opencl->queue = clCreateCommandQueue(opencl->context, device, 0, NULL);
  return opencl->queue != NULL;
}

static cl_mem upload(const Opencl* opencl, const float* values, size_t count) {
  cl_mem buffer =
      clCreateBuffer(opencl->context, CL_MEM_READ_WRITE, count * sizeof(float), NULL, NULL);
  clEnqueueWriteBuffer(opencl->queue, buffer, CL_TRUE, 0, count * sizeof(float), values, 0, NULL,
                       NULL);
  return buffer;
}

/* Small whole numbers, so that every sum is exact. */
static void fill(float* values, size_t count, int seed) {
  for (size_t i = 0; i < count; ++i) values[i] = (float)((int)((i * 7 + (size_t)seed) % 11) - 5);
}

/* How many elements of C = 2 A^T B + 3 C, column-major, are wrong in `products` dense products. */
static int wrong_elements(const float* a, const float* b, const float* before, const float* after,
                          int products) {
  int wrong = 0;
  for (int p = 0; p < products; ++p) {
    for (int row = 0; row < kM; ++row) {
      for (int column = 0; column < kN; ++column) {
        const int at = p * kM * kN + column * kM + row;
        float sum = 3.0f * before[at];
        for (int k = 0; k < kK; ++k) {
          sum += 2.0f * a[p * kM * kK + row * kK + k] * b[p * kK * kN + column * kK + k];
        }
        wrong += after[at] == sum ? 0 : 1;
      }
    }
  }
  return wrong;
}

int main(void) {
  static float a[kBatch * kM * kK], b[kBatch * kK * kN], c[kBatch * kM * kN],
      result[kBatch * kM * kN];
  Opencl opencl;
  if (!open_device(&opencl)) {
    printf("skipped: no OpenCL device\n");
    return kSkipped;
  }
  fill(a, kBatch * kM * kK, 1);
  fill(b, kBatch * kK * kN, 2);
  fill(c, kBatch * kM * kN, 3);
  cl_mem on_a = upload(&opencl, a, kBatch * kM * kK);
  cl_mem on_b = upload(&opencl, b, kBatch * kK * kN);
  const size_t a_offsets[kBatch] = {0, kM * kK, 2 * kM * kK};
  const size_t b_offsets[kBatch] = {0, kK * kN, 2 * kK * kN};
  const size_t c_offsets[kBatch] = {0, kM * kN, 2 * kM * kN};
  const float alphas[kBatch] = {2.0f, 2.0f, 2.0f};
  const float betas[kBatch] = {3.0f, 3.0f, 3.0f};
  int wrong = 0;
  for (int way = 0; way < 3; ++way) {
    cl_mem on_c = upload(&opencl, c, kBatch * kM * kN);
    cl_event event = NULL;
    CLBlastStatusCode status;
    if (way == 0) {
      status =
          CLBlastSgemm(CLBlastLayoutColMajor, CLBlastTransposeYes, CLBlastTransposeNo, kM, kN, kK,
                       2.0f, on_a, 0, kK, on_b, 0, kK, 3.0f, on_c, 0, kM, &opencl.queue, &event);
    } else if (way == 1) {
      status = CLBlastSgemmBatched(CLBlastLayoutColMajor, CLBlastTransposeYes, CLBlastTransposeNo,
                                   kM, kN, kK, alphas, on_a, a_offsets, kK, on_b, b_offsets, kK,
                                   betas, on_c, c_offsets, kM, kBatch, &opencl.queue, &event);
    } else {
      status =
          CLBlastSgemmStridedBatched(CLBlastLayoutColMajor, CLBlastTransposeYes, CLBlastTransposeNo,
                                     kM, kN, kK, 2.0f, on_a, 0, kK, kM * kK, on_b, 0, kK, kK * kN,
                                     3.0f, on_c, 0, kM, kM * kN, kBatch, &opencl.queue, &event);
    }
    if (status != CLBlastSuccess) {
      printf("way %d: status %d\n", way, (int)status);
      return EXIT_FAILURE;
    }
    clWaitForEvents(1, &event);
    clReleaseEvent(event);
    clEnqueueReadBuffer(opencl.queue, on_c, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL);
    clReleaseMemObject(on_c);
    wrong += wrong_elements(a, b, c, result, way == 0 ? 1 : kBatch);
  }
  /* What CLBlast says of a leading dimension that is too small. */
  const int refused = CLBlastSgemm(CLBlastLayoutColMajor, CLBlastTransposeNo, CLBlastTransposeNo, 4,
                                   4, 4, 1.0f, on_a, 0, 3, on_b, 0, 4, 0.0f, on_b, 0, 4,
                                   &opencl.queue, NULL) == CLBlastInvalidLeadDimA;
  printf("%d elements are wrong\n", wrong);
  CLBlastClearCache();
  return wrong == 0 && refused ? EXIT_SUCCESS : EXIT_FAILURE;
}
