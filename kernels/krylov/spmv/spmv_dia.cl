// y = A x, the matrix by diagonals: `offset` is a diagonal's column minus its row, and its numbers
// stand one row behind the other.
// Tuning parameters:
//   WG             work items of a group
//   GROUP_PER_ROW  0: one work item per row; 1: one group per row, which adds up in local memory

KERNEL WORK_GROUP(WG, 1, 1)
void spmv_dia(const int rows, const int columns, const int diagonals,
              const GLOBAL int* RESTRICT offset, const GLOBAL REAL* RESTRICT values,
              const GLOBAL REAL* RESTRICT x, GLOBAL REAL* RESTRICT y CG_ARGUMENTS) {
  BEGIN_ROW(rows);
  for (int i = first; i < diagonals; i += step) {
    const int column = row + offset[i];
    if (column >= 0 && column < columns) sum += values[(size_t)i * rows + row] * x[column];
  }
  END_ROW(rows);
}

KERNEL void spmv_dia_reference(const int rows, const int columns, const int diagonals,
                               const GLOBAL int* RESTRICT offset,
                               const GLOBAL REAL* RESTRICT values, const GLOBAL REAL* RESTRICT x,
                               GLOBAL REAL* RESTRICT y) {
  const int row = GLOBAL_ID(0);
  if (row >= rows) return;
  REAL sum = 0;
  for (int i = 0; i < diagonals; ++i) {
    const int column = row + offset[i];
    if (column < 0 || column >= columns) continue;
    sum += values[(size_t)i * rows + row] * x[column];
  }
  y[row] = sum;
}
