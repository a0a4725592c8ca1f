// y = A x, the rows in slices of SLICE that are stored as in spmv_ell.cl, each as wide as its
// longest row: a slice's first slots of all its rows, then the second ones. `row_of` says which row
// stands at a place. Slice starts beyond the slots count as their end.
// Tuning parameters:
//   WG             work items of a group
//   GROUP_PER_ROW  0: one work item per row; 1: one group per row, which adds up in local memory

#define SLICE 32

KERNEL WORK_GROUP(WG, 1, 1)
void spmv_sell(const int rows, const int slots, const GLOBAL int* RESTRICT slice_start,
               const GLOBAL int* RESTRICT row_of, const GLOBAL int* RESTRICT column,
               const GLOBAL REAL* RESTRICT values, const GLOBAL REAL* RESTRICT x,
               GLOBAL REAL* RESTRICT y CG_ARGUMENTS) {
  BEGIN_ROW(rows);
  const int slice = row / SLICE;
  const int end = min(slice_start[slice + 1], slots);
  for (int k = slice_start[slice] + row % SLICE + first * SLICE; k < end; k += step * SLICE) {
    sum += values[k] * x[column[k]];
  }
  END_ROW_AT(rows, row_of[row]);
}

KERNEL void spmv_sell_reference(const int rows, const int slots,
                                const GLOBAL int* RESTRICT slice_start,
                                const GLOBAL int* RESTRICT row_of,
                                const GLOBAL int* RESTRICT column,
                                const GLOBAL REAL* RESTRICT values, const GLOBAL REAL* RESTRICT x,
                                GLOBAL REAL* RESTRICT y) {
  const int row = GLOBAL_ID(0);
  if (row >= rows) return;
  REAL sum = 0;
  const int slice = row / SLICE;
  const int end = min(slice_start[slice + 1], slots);
  for (int k = slice_start[slice] + row % SLICE; k < end; k += SLICE) {
    sum += values[k] * x[column[k]];
  }
  y[row_of[row]] = sum;
}
