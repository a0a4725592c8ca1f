// The product c[m, n] = a[m, k] * b[k, n], an element or several per work item.
//   WG  columns of a group
//   T   neighbouring columns of a work item

KERNEL void multiply(const int m, const int n, const int k, const GLOBAL float* RESTRICT a,
                     const GLOBAL float* RESTRICT b, GLOBAL float* RESTRICT c) {
  const int first = GLOBAL_ID(0) * T;
  const int row = GLOBAL_ID(1);
  if (row >= m) return;
  for (int i = 0; i < T && first + i < n; ++i) {
    float sum = 0.0f;
    for (int j = 0; j < k; ++j) sum += a[row * k + j] * b[j * n + first + i];
    c[row * n + first + i] = sum;
  }
}
