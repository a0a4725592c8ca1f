// Products of many small matrices: c[i] = a[i] * b[i], a[i] (m x k), b[i] (k x n), c[i] (m x n),
// all row-major, the matrices of a batch one behind the other. Tuning parameters:
//   GX GY GZ         work items of a group along columns, rows and the batch
//   ROWS             rows that a work item computes
//   DEPTH            depth of the tiles
//   LOCAL_A LOCAL_B  1: the tile of a, of b goes through local memory
//   PADDING          floats between the rows of these tiles

#define TILE_ROWS (GY * ROWS)
#define PITCH_A (DEPTH + PADDING)
#define PITCH_B (GX + PADDING)

KERNEL WORK_GROUP(GX, GY, GZ)
void gemm_batched(const int batch, const int m, const int n, const int k,
                  const GLOBAL float* RESTRICT a, const GLOBAL float* RESTRICT b,
                  GLOBAL float* RESTRICT c) {
#if LOCAL_A == 1
  LOCAL_ARRAY float tiles_a[GZ * TILE_ROWS * PITCH_A];
  LOCAL_POINTER float* tile_a = tiles_a + LOCAL_ID(2) * TILE_ROWS * PITCH_A;
#endif
#if LOCAL_B == 1
  LOCAL_ARRAY float tiles_b[GZ * DEPTH * PITCH_B];
  LOCAL_POINTER float* tile_b = tiles_b + LOCAL_ID(2) * DEPTH * PITCH_B;
#endif
  const int own_matrix = GROUP_ID(2) * GZ + LOCAL_ID(2);
  const int matrix = min(own_matrix, batch - 1);
  const int column = GROUP_ID(0) * GX + LOCAL_ID(0);
  const int group_row = GROUP_ID(1) * TILE_ROWS;
  const GLOBAL float* from_a = a + (size_t)matrix * m * k;
  const GLOBAL float* from_b = b + (size_t)matrix * k * n;

  float sum[ROWS];
#pragma unroll
  for (int i = 0; i < ROWS; ++i) sum[i] = 0.0f;

  for (int first = 0; first < k; first += DEPTH) {
    const int depth = min(DEPTH, k - first);
#if LOCAL_A == 1
    for (int at = LOCAL_ID(1) * GX + LOCAL_ID(0); at < TILE_ROWS * depth; at += GX * GY) {
      const int row = min(group_row + at / depth, m - 1);
      tile_a[at / depth * PITCH_A + at % depth] = from_a[(size_t)row * k + first + at % depth];
    }
#endif
#if LOCAL_B == 1
    for (int d = LOCAL_ID(1); d < depth; d += GY) {
      tile_b[d * PITCH_B + LOCAL_ID(0)] = from_b[(size_t)(first + d) * n + min(column, n - 1)];
    }
#endif
#if LOCAL_A == 1 || LOCAL_B == 1
    LOCAL_BARRIER();
#endif
    for (int d = 0; d < depth; ++d) {
#if LOCAL_B == 1
      const float value_b = tile_b[d * PITCH_B + LOCAL_ID(0)];
#else
      const float value_b = from_b[(size_t)(first + d) * n + min(column, n - 1)];
#endif
#pragma unroll
      for (int i = 0; i < ROWS; ++i) {
        const int tile_row = i * GY + LOCAL_ID(1);
#if LOCAL_A == 1
        const float value_a = tile_a[tile_row * PITCH_A + d];
#else
        const float value_a = from_a[(size_t)min(group_row + tile_row, m - 1) * k + first + d];
#endif
        sum[i] = MULTIPLY_ADD(value_a, value_b, sum[i]);
      }
    }
#if LOCAL_A == 1 || LOCAL_B == 1
    LOCAL_BARRIER();
#endif
  }

#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const int row = group_row + i * GY + LOCAL_ID(1);
    if (own_matrix < batch && row < m && column < n) {
      c[((size_t)own_matrix * m + row) * n + column] = sum[i];
    }
  }
}

// One work item per element, with compensated summation (Kahan 1965).
KERNEL void gemm_batched_reference(const int batch, const int m, const int n, const int k,
                                   const GLOBAL float* RESTRICT a, const GLOBAL float* RESTRICT b,
                                   GLOBAL float* RESTRICT c) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  const int matrix = GLOBAL_ID(2);
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  float lost = 0.0f;
  for (int d = 0; d < k; ++d) {
    const float term = FUSED(a[((size_t)matrix * m + row) * k + d],
                             b[((size_t)matrix * k + d) * n + column], -lost);
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  c[((size_t)matrix * m + row) * n + column] = sum;
}
