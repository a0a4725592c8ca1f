// The product c[m, n] = a[m, k] * b[k, n] in tiles of T rows without edges: matrices whose rows are
// no multiple of T are padded first, and cut afterwards.
//   T   rows that a work item computes
//   WG  columns of a group

KERNEL void pad_rows(const int m, const int k, const GLOBAL float* RESTRICT a,
                     GLOBAL float* RESTRICT padded) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (column < k) padded[row * k + column] = row < m ? a[row * k + column] : 0.0f;
}

KERNEL void multiply(const int n, const int k, const GLOBAL float* RESTRICT a,
                     const GLOBAL float* RESTRICT b, GLOBAL float* RESTRICT c) {
  const int column = GLOBAL_ID(0);
  const int first = GLOBAL_ID(1) * T;
  if (column >= n) return;
  float sums[T];
  for (int i = 0; i < T; ++i) sums[i] = 0.0f;
  for (int j = 0; j < k; ++j) {
    const float right = b[j * n + column];
    for (int i = 0; i < T; ++i) sums[i] += a[(first + i) * k + j] * right;
  }
  for (int i = 0; i < T; ++i) c[(first + i) * n + column] = sums[i];
}

KERNEL void cut_rows(const int m, const int n, const GLOBAL float* RESTRICT padded,
                     GLOBAL float* RESTRICT c) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (column < n && row < m) c[row * n + column] = padded[row * n + column];
}

KERNEL void product_reference(const int m, const int n, const int k,
                              const GLOBAL float* RESTRICT a, const GLOBAL float* RESTRICT b,
                              GLOBAL float* RESTRICT c) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (column >= n || row >= m) return;
  float sum = 0.0f;
  for (int j = 0; j < k; ++j) sum += a[row * k + j] * b[j * n + column];
  c[row * n + column] = sum;
}
