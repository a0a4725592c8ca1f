// y = a x + b y; with b = 1 the axpy of BLAS.
// Tuning parameters:
//   WG      work items of a group
//   VECTOR  numbers of a work item

KERNEL WORK_GROUP(WG, 1, 1)
void axpby(const int n, const REAL a, const GLOBAL REAL* RESTRICT x, const REAL b,
           GLOBAL REAL* RESTRICT y) {
  int at = GLOBAL_ID(0) * VECTOR;
  if (at + VECTOR <= n) {
    const REAL_VECTOR(VECTOR) sum = REAL_SPLAT(VECTOR, a) * REAL_LOAD(VECTOR, x + at) +
                                    REAL_SPLAT(VECTOR, b) * REAL_LOAD(VECTOR, y + at);
    REAL_STORE(VECTOR, sum, y + at);
    return;
  }
  for (; at < n; ++at) y[at] = a * x[at] + b * y[at];
}

KERNEL void axpby_reference(const int n, const REAL a, const GLOBAL REAL* RESTRICT x, const REAL b,
                            GLOBAL REAL* RESTRICT y) {
  const int at = GLOBAL_ID(0);
  if (at < n) y[at] = a * x[at] + b * y[at];
}
