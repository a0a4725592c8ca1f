// y = A x, the matrix with equally many slots in each row: the first slots of all rows, then the
// second ones, and so on. Empty slots hold 0 and column 0.
// Tuning parameters:
//   WG             work items of a group
//   GROUP_PER_ROW  0: one work item per row; 1: one group per row, which adds up in local memory

KERNEL WORK_GROUP(WG, 1, 1)
void spmv_ell(const int rows, const int width, const GLOBAL int* RESTRICT column,
              const GLOBAL REAL* RESTRICT values, const GLOBAL REAL* RESTRICT x,
              GLOBAL REAL* RESTRICT y CG_ARGUMENTS) {
  BEGIN_ROW(rows);
  for (int i = first; i < width; i += step) {
    const size_t slot = (size_t)i * rows + row;
    sum += values[slot] * x[column[slot]];
  }
  END_ROW(rows);
}

KERNEL void spmv_ell_reference(const int rows, const int width, const GLOBAL int* RESTRICT column,
                               const GLOBAL REAL* RESTRICT values, const GLOBAL REAL* RESTRICT x,
                               GLOBAL REAL* RESTRICT y) {
  const int row = GLOBAL_ID(0);
  if (row >= rows) return;
  REAL sum = 0;
  for (int i = 0; i < width; ++i) {
    sum += values[(size_t)i * rows + row] * x[column[(size_t)i * rows + row]];
  }
  y[row] = sum;
}
