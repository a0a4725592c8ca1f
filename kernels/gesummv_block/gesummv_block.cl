// Sum of two matrix-vector products, y = alpha a x + beta b x, with a, b (n x n) row-major. One
// work item per row; the items of a group have neighbouring rows, x running first. Tuning
// parameters: BLOCK_X by BLOCK_Y work items in a group.
KERNEL WORK_GROUP(BLOCK_X, BLOCK_Y, 1)
void gesummv_block(const int n, const GLOBAL float* RESTRICT a, const GLOBAL float* RESTRICT b,
                   const GLOBAL float* RESTRICT x, GLOBAL float* RESTRICT y, const float alpha,
                   const float beta) {
  const int row = (GROUP_ID(0) * BLOCK_Y + LOCAL_ID(1)) * BLOCK_X + LOCAL_ID(0);
  if (row >= n) return;
  float sum_a = 0.0f;
  float sum_b = 0.0f;
  for (int i = 0; i < n; ++i) {
    sum_a = MULTIPLY_ADD(a[(size_t)row * n + i], x[i], sum_a);
    sum_b = MULTIPLY_ADD(b[(size_t)row * n + i], x[i], sum_b);
  }
  y[row] = alpha * sum_a + beta * sum_b;
}

// With compensated summation (Kahan 1965).
KERNEL void gesummv_block_reference(const int n, const GLOBAL float* RESTRICT a,
                                    const GLOBAL float* RESTRICT b, const GLOBAL float* RESTRICT x,
                                    GLOBAL float* RESTRICT y, const float alpha,
                                    const float beta) {
  const int row = GLOBAL_ID(0);
  if (row >= n) return;
  float sums[2];
  for (int which = 0; which < 2; ++which) {
    const GLOBAL float* matrix = which == 0 ? a : b;
    float sum = 0.0f;
    float lost = 0.0f;
    for (int i = 0; i < n; ++i) {
      const float term = FUSED(matrix[(size_t)row * n + i], x[i], -lost);
      const float next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
    sums[which] = sum;
  }
  y[row] = FUSED(alpha, sums[0], beta * sums[1]);
}
