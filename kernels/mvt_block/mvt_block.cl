// Products with a matrix and with its transpose, added to what is there: x1 += a y1, x2 += a^T y2,
// with a (n x n) row-major. One work item per element of x1 and of x2; the items of a group have
// neighbouring elements, x running first. Tuning parameters: BLOCK_X by BLOCK_Y work items in a
// group.
KERNEL WORK_GROUP(BLOCK_X, BLOCK_Y, 1)
void mvt_block(const int n, const GLOBAL float* RESTRICT a, const GLOBAL float* RESTRICT y1,
               const GLOBAL float* RESTRICT y2, GLOBAL float* RESTRICT x1,
               GLOBAL float* RESTRICT x2) {
  const int own = (GROUP_ID(0) * BLOCK_Y + LOCAL_ID(1)) * BLOCK_X + LOCAL_ID(0);
  if (own >= n) return;
  float sum1 = 0.0f;
  float sum2 = 0.0f;
  for (int i = 0; i < n; ++i) {
    sum1 = MULTIPLY_ADD(a[(size_t)own * n + i], y1[i], sum1);
    sum2 = MULTIPLY_ADD(a[(size_t)i * n + own], y2[i], sum2);
  }
  x1[own] += sum1;
  x2[own] += sum2;
}

// With compensated summation (Kahan 1965).
KERNEL void mvt_block_reference(const int n, const GLOBAL float* RESTRICT a,
                                const GLOBAL float* RESTRICT y1, const GLOBAL float* RESTRICT y2,
                                GLOBAL float* RESTRICT x1, GLOBAL float* RESTRICT x2) {
  const int own = GLOBAL_ID(0);
  if (own >= n) return;
  for (int transposed = 0; transposed < 2; ++transposed) {
    float sum = 0.0f;
    float lost = 0.0f;
    for (int i = 0; i < n; ++i) {
      const float value = transposed ? a[(size_t)i * n + own] : a[(size_t)own * n + i];
      const float term = FUSED(value, transposed ? y2[i] : y1[i], -lost);
      const float next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
    if (transposed) {
      x2[own] += sum;
    } else {
      x1[own] += sum;
    }
  }
}
