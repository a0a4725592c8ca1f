// y = A x, the matrix in compressed rows. Row starts beyond the entries count as their end.
// Tuning parameters:
//   WG             work items of a group
//   GROUP_PER_ROW  0: LANES per row; 1: one group per row, which adds up in local memory
//   LANES          work items of a row, which add up in local memory where there are several

KERNEL WORK_GROUP(WG, 1, 1)
void spmv_csr(const int rows, const int entries, const GLOBAL int* RESTRICT row_start,
              const GLOBAL int* RESTRICT column, const GLOBAL REAL* RESTRICT values,
              const GLOBAL REAL* RESTRICT x, GLOBAL REAL* RESTRICT y CG_ARGUMENTS) {
  BEGIN_ROW(rows);
  const int end = min(row_start[row + 1], entries);
  for (int k = row_start[row] + first; k < end; k += step) sum += values[k] * x[column[k]];
  END_ROW(rows);
}

KERNEL void spmv_csr_reference(const int rows, const int entries,
                               const GLOBAL int* RESTRICT row_start,
                               const GLOBAL int* RESTRICT column,
                               const GLOBAL REAL* RESTRICT values, const GLOBAL REAL* RESTRICT x,
                               GLOBAL REAL* RESTRICT y) {
  const int row = GLOBAL_ID(0);
  if (row >= rows) return;
  REAL sum = 0;
  for (int k = row_start[row]; k < min(row_start[row + 1], entries); ++k) {
    sum += values[k] * x[column[k]];
  }
  y[row] = sum;
}
