/* Matrix multiplication as in BLAS, C = alpha op(A) op(B) + beta C in single precision, of
 * matrices of floats or halves, by kernels that the agent tunes on the device that runs them. Rules
 * and errors are those of <idletune/gemm.hpp>. Link libidletune_gemm.a before what
 * idletune/idletune.h names. */
#ifndef IDLETUNE_GEMM_H
#define IDLETUNE_GEMM_H

#include <stddef.h>
#include <stdint.h>

#include <idletune/idletune.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idletune_gemm idletune_gemm;

typedef enum idletune_layout { IDLETUNE_ROW_MAJOR = 0, IDLETUNE_COLUMN_MAJOR } idletune_layout;
typedef enum idletune_transpose { IDLETUNE_PLAIN = 0, IDLETUNE_TRANSPOSED } idletune_transpose;

/* Loads the kernels; blocks. Agent and device must outlive the handle. */
idletune_status idletune_gemm_open(idletune_agent* agent, idletune_device* device,
                                   idletune_gemm** gemm);
/* The same for matrices of halves: a handle for the calls named hgemm instead of sgemm. alpha, beta
 * and all sums are in single precision. */
idletune_status idletune_gemm_open_half(idletune_agent* agent, idletune_device* device,
                                        idletune_gemm** gemm);
/* What was enqueued must be done. NULL is fine. */
void idletune_gemm_close(idletune_gemm* gemm);

/* a, b, c are cl_mem handles or device pointers; offsets and leading dimensions count elements.
 * `queue` NULL: the adopted one. `event` is a cl_event* (CUevent*) that receives an event which the
 * caller releases, or NULL; it stays as it was where nothing is enqueued (m, n or count is 0). */
idletune_status idletune_sgemm(idletune_gemm* gemm, idletune_layout layout, idletune_transpose ta,
                               idletune_transpose tb, int64_t m, int64_t n, int64_t k, float alpha,
                               void* a, int64_t a_offset, int64_t lda, void* b, int64_t b_offset,
                               int64_t ldb, float beta, void* c, int64_t c_offset, int64_t ldc,
                               void* queue, void* event);
/* `count` products; the arrays have as many offsets, and are read before this returns. */
idletune_status idletune_sgemm_batched(idletune_gemm* gemm, idletune_layout layout,
                                       idletune_transpose ta, idletune_transpose tb, int64_t m,
                                       int64_t n, int64_t k, float alpha, void* a,
                                       const size_t* a_offsets, int64_t lda, void* b,
                                       const size_t* b_offsets, int64_t ldb, float beta, void* c,
                                       const size_t* c_offsets, int64_t ldc, int64_t count,
                                       void* queue, void* event);
/* `count` products, the matrices of each a stride behind those of the one before. */
idletune_status idletune_sgemm_strided_batched(
    idletune_gemm* gemm, idletune_layout layout, idletune_transpose ta, idletune_transpose tb,
    int64_t m, int64_t n, int64_t k, float alpha, void* a, int64_t a_offset, int64_t lda,
    int64_t a_stride, void* b, int64_t b_offset, int64_t ldb, int64_t b_stride, float beta, void* c,
    int64_t c_offset, int64_t ldc, int64_t c_stride, int64_t count, void* queue, void* event);

/* --- an operand that many products share, such as a layer's weights --- */
typedef struct idletune_packed idletune_packed;
typedef enum idletune_operand { IDLETUNE_OPERAND_A = 0, IDLETUNE_OPERAND_B } idletune_operand;

/* Copies op(X), `rows` x `columns`, in the order in which the kernels read it: as A or B of
 * products in either layout. Enqueued as a product is. */
idletune_status idletune_gemm_pack(idletune_gemm* gemm, idletune_operand operand,
                                   idletune_layout layout, idletune_transpose tx, int64_t rows,
                                   int64_t columns, void* x, int64_t x_offset, int64_t ldx,
                                   void* queue, void* event, idletune_packed** packed);
/* The same again, where the values have changed. */
idletune_status idletune_gemm_pack_again(idletune_gemm* gemm, idletune_packed* packed,
                                         idletune_layout layout, idletune_transpose tx, void* x,
                                         int64_t x_offset, int64_t ldx, void* queue, void* event);
/* What was enqueued with it must be done. NULL is fine. */
void idletune_packed_free(idletune_packed* packed);
/* idletune_sgemm with `packed` for its operand; x is the other one. */
idletune_status idletune_sgemm_packed(idletune_gemm* gemm, const idletune_packed* packed,
                                      idletune_layout layout, idletune_transpose tx, int64_t m,
                                      int64_t n, int64_t k, float alpha, void* x, int64_t x_offset,
                                      int64_t ldx, float beta, void* c, int64_t c_offset,
                                      int64_t ldc, void* queue, void* event);

/* --- the same of halves --- */
idletune_status idletune_hgemm(idletune_gemm* gemm, idletune_layout layout, idletune_transpose ta,
                               idletune_transpose tb, int64_t m, int64_t n, int64_t k, float alpha,
                               void* a, int64_t a_offset, int64_t lda, void* b, int64_t b_offset,
                               int64_t ldb, float beta, void* c, int64_t c_offset, int64_t ldc,
                               void* queue, void* event);
idletune_status idletune_hgemm_batched(idletune_gemm* gemm, idletune_layout layout,
                                       idletune_transpose ta, idletune_transpose tb, int64_t m,
                                       int64_t n, int64_t k, float alpha, void* a,
                                       const size_t* a_offsets, int64_t lda, void* b,
                                       const size_t* b_offsets, int64_t ldb, float beta, void* c,
                                       const size_t* c_offsets, int64_t ldc, int64_t count,
                                       void* queue, void* event);
idletune_status idletune_hgemm_strided_batched(
    idletune_gemm* gemm, idletune_layout layout, idletune_transpose ta, idletune_transpose tb,
    int64_t m, int64_t n, int64_t k, float alpha, void* a, int64_t a_offset, int64_t lda,
    int64_t a_stride, void* b, int64_t b_offset, int64_t ldb, int64_t b_stride, float beta, void* c,
    int64_t c_offset, int64_t ldc, int64_t c_stride, int64_t count, void* queue, void* event);
idletune_status idletune_hgemm_packed(idletune_gemm* gemm, const idletune_packed* packed,
                                      idletune_layout layout, idletune_transpose tx, int64_t m,
                                      int64_t n, int64_t k, float alpha, void* x, int64_t x_offset,
                                      int64_t ldx, float beta, void* c, int64_t c_offset,
                                      int64_t ldc, void* queue, void* event);

/* Makes products of this shape, `count` at once, ready before their first call; blocks. */
idletune_status idletune_gemm_prepare(idletune_gemm* gemm, idletune_layout layout,
                                      idletune_transpose ta, idletune_transpose tb, int64_t m,
                                      int64_t n, int64_t k, int64_t count);
/* What runs for such a product and why, as one JSON object. Free it with idletune_free. NULL where
 * the product is refused or memory is short. */
char* idletune_gemm_explain(idletune_gemm* gemm, idletune_layout layout, idletune_transpose ta,
                            idletune_transpose tb, int64_t m, int64_t n, int64_t k, int64_t count);

#ifdef __cplusplus
}
#endif
#endif /* IDLETUNE_GEMM_H */
