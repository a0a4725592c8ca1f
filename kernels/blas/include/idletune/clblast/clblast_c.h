/* The matrix multiplications of CLBlast's interface in C, by their names there, done by
 * idletune::gemm: a program that was written for CLBlast and multiplies floats or halves is
 * compiled with this folder among its include folders, and linked with libidletune_gemm.a and
 * libidletune.a in place of libclblast. Written from CLBlast's documented signatures.
 *
 * The first call for a context and device loads the kernels, which takes as long as compiling one.
 * There is one agent, of default options: the IDLETUNE_* variables set its state folder and mode.
 * It tunes in the background, between the program's launches. */
#ifndef IDLETUNE_CLBLAST_C_H
#define IDLETUNE_CLBLAST_C_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Those that these functions return. */
typedef enum CLBlastStatusCode_ {
  CLBlastSuccess = 0,
  CLBlastOpenCLOutOfHostMemory = -6,
  CLBlastOpenCLBuildProgramFailure = -11,
  CLBlastInvalidValue = -30,
  CLBlastInvalidCommandQueue = -36,
  CLBlastInvalidMatrixC = -1020,
  CLBlastInvalidDimension = -1017,
  CLBlastInvalidLeadDimA = -1016,
  CLBlastInvalidLeadDimB = -1015,
  CLBlastInvalidLeadDimC = -1014,
  CLBlastInsufficientMemoryA = -1011,
  CLBlastInsufficientMemoryB = -1010,
  CLBlastInsufficientMemoryC = -1009,
  CLBlastInvalidBatchCount = -2049,
  CLBlastUnexpectedError = -2039
} CLBlastStatusCode;

typedef enum CLBlastLayout_ {
  CLBlastLayoutRowMajor = 101,
  CLBlastLayoutColMajor = 102
} CLBlastLayout;

/* Of real numbers, conjugate is transposed. */
typedef enum CLBlastTranspose_ {
  CLBlastTransposeNo = 111,
  CLBlastTransposeYes = 112,
  CLBlastTransposeConjugate = 113
} CLBlastTranspose;

CLBlastStatusCode CLBlastSgemm(CLBlastLayout layout, CLBlastTranspose a_transpose,
                               CLBlastTranspose b_transpose, size_t m, size_t n, size_t k,
                               float alpha, cl_mem a_buffer, size_t a_offset, size_t a_ld,
                               cl_mem b_buffer, size_t b_offset, size_t b_ld, float beta,
                               cl_mem c_buffer, size_t c_offset, size_t c_ld,
                               cl_command_queue* queue, cl_event* event);

/* `alphas` and `betas` are one per product; neighbours that have the same go in one launch. */
CLBlastStatusCode CLBlastSgemmBatched(CLBlastLayout layout, CLBlastTranspose a_transpose,
                                      CLBlastTranspose b_transpose, size_t m, size_t n, size_t k,
                                      const float* alphas, cl_mem a_buffer, const size_t* a_offsets,
                                      size_t a_ld, cl_mem b_buffer, const size_t* b_offsets,
                                      size_t b_ld, const float* betas, cl_mem c_buffer,
                                      const size_t* c_offsets, size_t c_ld, size_t batch_count,
                                      cl_command_queue* queue, cl_event* event);

CLBlastStatusCode CLBlastSgemmStridedBatched(
    CLBlastLayout layout, CLBlastTranspose a_transpose, CLBlastTranspose b_transpose, size_t m,
    size_t n, size_t k, float alpha, cl_mem a_buffer, size_t a_offset, size_t a_ld, size_t a_stride,
    cl_mem b_buffer, size_t b_offset, size_t b_ld, size_t b_stride, float beta, cl_mem c_buffer,
    size_t c_offset, size_t c_ld, size_t c_stride, size_t batch_count, cl_command_queue* queue,
    cl_event* event);

/* The same of halves (cl_half), added up in single precision. The first call with halves loads
 * kernels of their own. */
CLBlastStatusCode CLBlastHgemm(CLBlastLayout layout, CLBlastTranspose a_transpose,
                               CLBlastTranspose b_transpose, size_t m, size_t n, size_t k,
                               cl_half alpha, cl_mem a_buffer, size_t a_offset, size_t a_ld,
                               cl_mem b_buffer, size_t b_offset, size_t b_ld, cl_half beta,
                               cl_mem c_buffer, size_t c_offset, size_t c_ld,
                               cl_command_queue* queue, cl_event* event);

CLBlastStatusCode CLBlastHgemmBatched(CLBlastLayout layout, CLBlastTranspose a_transpose,
                                      CLBlastTranspose b_transpose, size_t m, size_t n, size_t k,
                                      const cl_half* alphas, cl_mem a_buffer,
                                      const size_t* a_offsets, size_t a_ld, cl_mem b_buffer,
                                      const size_t* b_offsets, size_t b_ld, const cl_half* betas,
                                      cl_mem c_buffer, const size_t* c_offsets, size_t c_ld,
                                      size_t batch_count, cl_command_queue* queue, cl_event* event);

CLBlastStatusCode CLBlastHgemmStridedBatched(
    CLBlastLayout layout, CLBlastTranspose a_transpose, CLBlastTranspose b_transpose, size_t m,
    size_t n, size_t k, cl_half alpha, cl_mem a_buffer, size_t a_offset, size_t a_ld,
    size_t a_stride, cl_mem b_buffer, size_t b_offset, size_t b_ld, size_t b_stride, cl_half beta,
    cl_mem c_buffer, size_t c_offset, size_t c_ld, size_t c_stride, size_t batch_count,
    cl_command_queue* queue, cl_event* event);

/* Forgets kernels and agent, and writes what was learned. Nothing may be under way; also done when
 * the program ends. */
CLBlastStatusCode CLBlastClearCache(void);

#ifdef __cplusplus
}
#endif
#endif /* IDLETUNE_CLBLAST_C_H */
