// y = A x, the matrix as row and column of each entry, sorted by rows: each row looks for its own.
// Tuning parameters:
//   WG             work items of a group
//   GROUP_PER_ROW  0: one work item per row; 1: one group per row, which adds up in local memory

KERNEL WORK_GROUP(WG, 1, 1)
void spmv_coo(const int rows, const int entries, const GLOBAL int* RESTRICT row_of,
              const GLOBAL int* RESTRICT column, const GLOBAL REAL* RESTRICT values,
              const GLOBAL REAL* RESTRICT x, GLOBAL REAL* RESTRICT y CG_ARGUMENTS) {
  BEGIN_ROW(rows);
  for (int k = first_of_row(row_of, entries, row) + first; k < entries && row_of[k] == row;
       k += step) {
    sum += values[k] * x[column[k]];
  }
  END_ROW(rows);
}

KERNEL void spmv_coo_reference(const int rows, const int entries,
                               const GLOBAL int* RESTRICT row_of,
                               const GLOBAL int* RESTRICT column,
                               const GLOBAL REAL* RESTRICT values, const GLOBAL REAL* RESTRICT x,
                               GLOBAL REAL* RESTRICT y) {
  const int row = GLOBAL_ID(0);
  if (row >= rows) return;
  REAL sum = 0;
  for (int k = first_of_row(row_of, entries, row); k < entries && row_of[k] == row; ++k) {
    sum += values[k] * x[column[k]];
  }
  y[row] = sum;
}
