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
  IDLETUNE_KRYLOV_F64,
  IDLETUNE_KRYLOV_MIXED /* f32, refined by residuals in double on the host */
} idletune_krylov_precision;

typedef enum idletune_krylov_choosing {
  IDLETUNE_KRYLOV_CHOOSE_NONE = 0,
  IDLETUNE_KRYLOV_CHOOSE_WHEN_PAYS,
  IDLETUNE_KRYLOV_CHOOSE_ALWAYS
} idletune_krylov_choosing;

typedef enum idletune_krylov_steps { /* of CG between two products */
                                     IDLETUNE_KRYLOV_STEPS_FASTER = 0,
                                     IDLETUNE_KRYLOV_STEPS_APART,
                                     IDLETUNE_KRYLOV_STEPS_FUSED
} idletune_krylov_steps;

/* How a matrix is kept and what is tried with it; SolverOptions of C++. */
typedef struct idletune_krylov_setup {
  idletune_krylov_precision precision;
  idletune_krylov_choosing choosing;
  idletune_krylov_steps steps;
  int format;                  /* the number of a format from the start on; -1: as it pays */
  uint64_t format_limit_bytes; /* of the matrix in a format other than CSR */
  const void* model;           /* of `idletune learn`, read by opening alone; NULL: none */
  size_t model_bytes;
  idletune_agent* agent;     /* whose notes keep what processes found out; NULL: nothing is kept */
  const char* memory_folder; /* where version 0.2.0 left it in files; NULL: nowhere */
  int no_thread;             /* not 0: the calling thread converts, between two iterations */
} idletune_krylov_setup;
/* Double precision; what pays is tried, without a model. */
idletune_krylov_setup idletune_krylov_usual_setup(void);

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
  double solves_to_come; /* with this structure, behind this one; less than 0: nobody knows */
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
 * column within a row. Device and agent must outlive the handle; no agent may tune on the device
 * meanwhile. */
idletune_status idletune_krylov_open(idletune_device* device, idletune_krylov_precision precision,
                                     int32_t rows, int32_t columns, const int32_t* row_start,
                                     const int32_t* column, const double* values,
                                     idletune_krylov** krylov);
/* The same with all options. */
idletune_status idletune_krylov_open_with(idletune_device* device,
                                          const idletune_krylov_setup* setup, int32_t rows,
                                          int32_t columns, const int32_t* row_start,
                                          const int32_t* column, const double* values,
                                          idletune_krylov** krylov);
/* NULL is fine. */
void idletune_krylov_close(idletune_krylov* krylov);
/* New numbers in the same structure, as many as there are entries. */
idletune_status idletune_krylov_set_values(idletune_krylov* krylov, const double* values);
/* Solves A x = b from the x given, which a nearer one takes the place of. What ends the
 * iterations is no error. `report` may be NULL. */
idletune_status idletune_krylov_solve(idletune_krylov* krylov,
                                      const idletune_krylov_options* options, const double* b,
                                      double* x, idletune_krylov_report* report);
/* y = A x; y may be x. */
idletune_status idletune_krylov_multiply(idletune_krylov* krylov, const double* x, double* y);

/* What products run with as of now, and why. */
typedef struct idletune_krylov_choice {
  const char* format; /* "CSR", ... */
  int group_per_row;
  uint32_t work_group;
  double predicted_us; /* of a product; 0: not predicted, not measured */
  double measured_us;
  double csr_us;
  const char* verdict; /* about a conversion: "keep", "converted", "reverted" or "fixed" */
  double cost_ms;
  double break_even_iterations; /* 0: never */
  double iterations_left_low;   /* products, when it was thought of */
  double iterations_left_expected;
  const char* reason; /* valid until the next call with this handle */
} idletune_krylov_choice;
idletune_status idletune_krylov_chosen(const idletune_krylov* krylov,
                                       idletune_krylov_choice* choice);

#ifdef __cplusplus
}
#endif
#endif /* IDLETUNE_KRYLOV_H */
