// C = alpha A B + beta C by way of whole tiles: A (transposed) and B are copied into scratch memory
// and padded with zeros, multiplied without a look at edges, and the result is cut. What the
// copies cost grows like the matrices, what they save like the products.
// Tuning parameters:
//   DIMM, DIMN  work items of a group along the rows and the columns of C
//   WPM         rows of C per work item
//   WPN         neighbouring columns per work item, loaded at once
//   KWI         products between two tests of the loop
//   LINE        work items of a group that copies

KERNEL WORK_GROUP(LINE, 1, 1)
void pack_a(const int m, const int k, const GLOBAL float* RESTRICT a, GLOBAL float* RESTRICT at) {
  const int row = GLOBAL_ID(0);
  const int column = GLOBAL_ID(1);
  const int rows = (m + DIMM * WPM - 1) / (DIMM * WPM) * (DIMM * WPM);
  if (row >= rows) return;
  at[(size_t)column * rows + row] = row < m && column < k ? a[(size_t)row * k + column] : 0.0f;
}

KERNEL WORK_GROUP(LINE, 1, 1)
void pack_b(const int n, const int k, const GLOBAL float* RESTRICT b,
            GLOBAL float* RESTRICT padded) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  const int columns = (n + DIMN * WPN - 1) / (DIMN * WPN) * (DIMN * WPN);
  if (column >= columns) return;
  padded[(size_t)row * columns + column] =
      row < k && column < n ? b[(size_t)row * n + column] : 0.0f;
}

KERNEL WORK_GROUP(DIMN, DIMM, 1)
void multiply(const int k, const GLOBAL float* RESTRICT at, const GLOBAL float* RESTRICT b,
              GLOBAL float* RESTRICT c) {
  const int rows = GROUP_COUNT(1) * DIMM * WPM;
  const int columns = GROUP_COUNT(0) * DIMN * WPN;
  const int row = GLOBAL_ID(1) * WPM;
  const int column = GLOBAL_ID(0) * WPN;
  FLOAT_VECTOR(WPN) sums[WPM];
#pragma unroll
  for (int i = 0; i < WPM; ++i) sums[i] = SPLAT(WPN, 0.0f);
  for (int at_k = 0; at_k < k; at_k += KWI) {
#pragma unroll
    for (int step = 0; step < KWI; ++step) {
      const size_t j = at_k + step;
      const FLOAT_VECTOR(WPN) right = LOAD_VECTOR(WPN, b + j * columns + column);
      const GLOBAL float* left = at + j * rows + row;
#pragma unroll
      for (int i = 0; i < WPM; ++i) {
        sums[i] = MULTIPLY_ADD(SPLAT(WPN, left[i]), right, sums[i]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < WPM; ++i) {
    STORE_VECTOR(WPN, sums[i], c + (size_t)(row + i) * columns + column);
  }
}

KERNEL WORK_GROUP(LINE, 1, 1)
void cut(const int n, const GLOBAL float* RESTRICT padded, GLOBAL float* RESTRICT c,
         const float alpha, const float beta) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  const int columns = (n + DIMN * WPN - 1) / (DIMN * WPN) * (DIMN * WPN);
  if (column >= n) return;
  const size_t at = (size_t)row * n + column;
  // As in BLAS, what is multiplied by zero is not read: it may be no number.
  const float old = beta == 0.0f ? 0.0f : beta * c[at];
  c[at] = alpha == 0.0f ? old : alpha * padded[(size_t)row * columns + column] + old;
}
