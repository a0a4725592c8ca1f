// Matrix multiplication without tiles, c = alpha a b + beta c, row-major: a (m x k), b (k x n), c
// (m x n). One work item per element. The benchmark's 2mm and 3mm are two and three launches of it.
// Tuning parameters: BLOCK_X columns and BLOCK_Y rows of work items in a group.
KERNEL WORK_GROUP(BLOCK_X, BLOCK_Y, 1)
void gemm_block(const int m, const int n, const int k, const GLOBAL float* RESTRICT a,
                const GLOBAL float* RESTRICT b, GLOBAL float* RESTRICT c, const float alpha,
                const float beta) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (int d = 0; d < k; ++d) {
    sum = MULTIPLY_ADD(a[(size_t)row * k + d], b[(size_t)d * n + column], sum);
  }
  const size_t at = (size_t)row * n + column;
  c[at] = beta * c[at] + alpha * sum;
}

// With compensated summation (Kahan 1965).
KERNEL void gemm_block_reference(const int m, const int n, const int k,
                                 const GLOBAL float* RESTRICT a, const GLOBAL float* RESTRICT b,
                                 GLOBAL float* RESTRICT c, const float alpha, const float beta) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  float lost = 0.0f;
  for (int d = 0; d < k; ++d) {
    const float term = FUSED(a[(size_t)row * k + d], b[(size_t)d * n + column], -lost);
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  const size_t at = (size_t)row * n + column;
  c[at] = FUSED(beta, c[at], alpha * sum);
}
