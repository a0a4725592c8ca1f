// y = A x, the matrix in two parts: `width` slots in each row as in spmv_ell.cl and, behind them,
// the `rest` of the entries as in spmv_coo.cl.
// Tuning parameters:
//   WG             work items of a group
//   GROUP_PER_ROW  0: one work item per row; 1: one group per row, which adds up in local memory

KERNEL WORK_GROUP(WG, 1, 1)
void spmv_hyb(const int rows, const int width, const int rest, const GLOBAL int* RESTRICT row_of,
              const GLOBAL int* RESTRICT column, const GLOBAL REAL* RESTRICT values,
              const GLOBAL REAL* RESTRICT x, GLOBAL REAL* RESTRICT y CG_ARGUMENTS) {
  const size_t regular = (size_t)rows * width;
  BEGIN_ROW(rows);
  for (int i = first; i < width; i += step) {
    const size_t slot = (size_t)i * rows + row;
    sum += values[slot] * x[column[slot]];
  }
  for (int k = first_of_row(row_of, rest, row) + first; k < rest && row_of[k] == row; k += step) {
    sum += values[regular + k] * x[column[regular + k]];
  }
  END_ROW(rows);
}

KERNEL void spmv_hyb_reference(const int rows, const int width, const int rest,
                               const GLOBAL int* RESTRICT row_of,
                               const GLOBAL int* RESTRICT column,
                               const GLOBAL REAL* RESTRICT values, const GLOBAL REAL* RESTRICT x,
                               GLOBAL REAL* RESTRICT y) {
  const size_t regular = (size_t)rows * width;
  const int row = GLOBAL_ID(0);
  if (row >= rows) return;
  REAL sum = 0;
  for (int i = 0; i < width; ++i) {
    sum += values[(size_t)i * rows + row] * x[column[(size_t)i * rows + row]];
  }
  for (int k = first_of_row(row_of, rest, row); k < rest && row_of[k] == row; ++k) {
    sum += values[regular + k] * x[column[regular + k]];
  }
  y[row] = sum;
}
