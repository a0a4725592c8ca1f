// The product c[m, n] = a[m, k] * w[n, k], where w stays the same from launch to launch: neighbouring
// work items read it at a stride of k, or, once it was transposed, side by side.
//   PACK  1: w is transposed once
//   T     rows that a work item computes
//   WG    columns of a group

KERNEL void transpose(const int n, const int k, const GLOBAL float* RESTRICT w,
                      GLOBAL float* RESTRICT packed) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (column < k) packed[column * n + row] = w[row * k + column];
}

KERNEL void multiply_packed(const int m, const int n, const int k, const GLOBAL float* RESTRICT a,
                            const GLOBAL float* RESTRICT packed, GLOBAL float* RESTRICT c) {
  const int column = GLOBAL_ID(0);
  const int first = GLOBAL_ID(1) * T;
  if (column >= n) return;
  for (int i = first; i < min(first + T, m); ++i) {
    float sum = 0.0f;
    for (int j = 0; j < k; ++j) sum += a[i * k + j] * packed[j * n + column];
    c[i * n + column] = sum;
  }
}

KERNEL void multiply(const int m, const int n, const int k, const GLOBAL float* RESTRICT a,
                     const GLOBAL float* RESTRICT w, GLOBAL float* RESTRICT c) {
  const int column = GLOBAL_ID(0);
  const int first = GLOBAL_ID(1) * T;
  if (column >= n) return;
  for (int i = first; i < min(first + T, m); ++i) {
    float sum = 0.0f;
    for (int j = 0; j < k; ++j) sum += a[i * k + j] * w[column * k + j];
    c[i * n + column] = sum;
  }
}

KERNEL void product_reference(const int m, const int n, const int k,
                              const GLOBAL float* RESTRICT a, const GLOBAL float* RESTRICT w,
                              GLOBAL float* RESTRICT c) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (column >= n || row >= m) return;
  float sum = 0.0f;
  for (int j = 0; j < k; ++j) sum += a[row * k + j] * w[column * k + j];
  c[row * n + column] = sum;
}
