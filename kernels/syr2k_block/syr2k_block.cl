// Symmetric rank-2k update, c = alpha (a b^T + b a^T) + beta c, row-major: a, b (n x k), c (n x n),
// all of which is computed. One work item per element.
// Tuning parameters: BLOCK_X columns and BLOCK_Y rows of work items in a group.
KERNEL WORK_GROUP(BLOCK_X, BLOCK_Y, 1)
void syr2k_block(const int n, const int k, const GLOBAL float* RESTRICT a,
                 const GLOBAL float* RESTRICT b, GLOBAL float* RESTRICT c, const float alpha,
                 const float beta) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (row >= n || column >= n) return;
  float sum = 0.0f;
  for (int d = 0; d < k; ++d) {
    sum = MULTIPLY_ADD(a[(size_t)row * k + d], b[(size_t)column * k + d], sum);
    sum = MULTIPLY_ADD(b[(size_t)row * k + d], a[(size_t)column * k + d], sum);
  }
  const size_t at = (size_t)row * n + column;
  c[at] = beta * c[at] + alpha * sum;
}

// With compensated summation (Kahan 1965).
KERNEL void syr2k_block_reference(const int n, const int k, const GLOBAL float* RESTRICT a,
                                  const GLOBAL float* RESTRICT b, GLOBAL float* RESTRICT c,
                                  const float alpha, const float beta) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (row >= n || column >= n) return;
  float sum = 0.0f;
  float lost = 0.0f;
  for (int d = 0; d < k; ++d) {
    for (int i = 0; i < 2; ++i) {
      const GLOBAL float* left = i == 0 ? a : b;
      const GLOBAL float* right = i == 0 ? b : a;
      const float term = FUSED(left[(size_t)row * k + d], right[(size_t)column * k + d], -lost);
      const float next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
  }
  const size_t at = (size_t)row * n + column;
  c[at] = FUSED(beta, c[at], alpha * sum);
}
