/* Linear systems with sparse matrices on a device, by kernels and formats that are chosen while
 * they iterate. Rules and errors are those of <idletune/krylov.hpp>. Link libidletune_krylov.a
 * before what idletune/idletune.h names. */
#ifndef IDLETUNE_KRYLOV_H
#define IDLETUNE_KRYLOV_H

#include <stddef.h>
#include <stdint.h>

#include <idletune/idletune.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idletune_krylov idletune_krylov;

typedef enum idletune_krylov_precision {
  IDLETUNE_KRYLOV_F32 = 0, /* of the numbers on the device */
  IDLETUNE_KRYLOV_F64
} idletune_krylov_precision;

typedef enum idletune_krylov_method {
  IDLETUNE_KRYLOV_CG = 0,
  IDLETUNE_KRYLOV_BICGSTAB,
  IDLETUNE_KRYLOV_GMRES
} idletune_krylov_method;

typedef enum idletune_krylov_ended {
  IDLETUNE_KRYLOV_CONVERGED = 0,
  IDLETUNE_KRYLOV_STAGNATED,
  IDLETUNE_KRYLOV_LIMIT_REACHED,
  IDLETUNE_KRYLOV_BREAKDOWN,
  IDLETUNE_KRYLOV_OVERFLOW
} idletune_krylov_ended;

typedef struct idletune_krylov_options {
  idletune_krylov_method method;
  int jacobi;       /* 0: no preconditioner */
  double tolerance; /* of the residual's norm, as a share of that of b */
  uint32_t max_iterations;
  uint32_t restart;      /* GMRES: 1 to 1000 */
  double solves_to_come; /* with this structure, behind this one */
} idletune_krylov_options;
/* CG to 1e-8 in at most 10000 iterations, without a preconditioner. */
idletune_krylov_options idletune_krylov_defaults(void);

typedef struct idletune_krylov_report {
  idletune_krylov_ended ended;
  uint32_t iterations;
  double residual;      /* of the recurrence, as a share of the norm of b */
  double true_residual; /* of x as it is returned */
} idletune_krylov_report;

/* A matrix of `rows` by `columns` in compressed rows, copied: row_start[rows + 1], by ascending
 * column within a row. The device must outlive the handle; no agent may tune on it meanwhile. */
idletune_status idletune_krylov_open(idletune_device* device, idletune_krylov_precision precision,
                                     int32_t rows, int32_t columns, const int32_t* row_start,
                                     const int32_t* column, const double* values,
                                     idletune_krylov** krylov);
/* NULL is fine. */
void idletune_krylov_close(idletune_krylov* krylov);
/* New numbers in the same structure, as many as there are entries. */
idletune_status idletune_krylov_set_values(idletune_krylov* krylov, const double* values);
/* Solves A x = b from the x given, which holds the last good one afterwards. What ends the
 * iterations is no error. `report` may be NULL. */
idletune_status idletune_krylov_solve(idletune_krylov* krylov,
                                      const idletune_krylov_options* options, const double* b,
                                      double* x, idletune_krylov_report* report);
/* y = A x. */
idletune_status idletune_krylov_multiply(idletune_krylov* krylov, const double* x, double* y);

#ifdef __cplusplus
}
#endif
#endif /* IDLETUNE_KRYLOV_H */
