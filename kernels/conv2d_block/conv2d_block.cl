// Two-dimensional convolution with a 3 x 3 filter: out (rows x columns), in with a border of one
// element, (rows + 2) x (columns + 2), row-major. One work item per element.
// Tuning parameters: BLOCK_X columns and BLOCK_Y rows of work items in a group.
KERNEL WORK_GROUP(BLOCK_X, BLOCK_Y, 1)
void conv2d_block(const int rows, const int columns, const GLOBAL float* RESTRICT in,
                  CONSTANT_POINTER float* RESTRICT filter, GLOBAL float* RESTRICT out) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
#pragma unroll
  for (int y = 0; y < 3; ++y) {
#pragma unroll
    for (int x = 0; x < 3; ++x) {
      const float value = in[(size_t)(row + y) * (columns + 2) + column + x];
      sum = MULTIPLY_ADD(filter[3 * y + x], value, sum);
    }
  }
  out[(size_t)row * columns + column] = sum;
}

// With compensated summation (Kahan 1965).
KERNEL void conv2d_block_reference(const int rows, const int columns,
                                   const GLOBAL float* RESTRICT in,
                                   CONSTANT_POINTER float* RESTRICT filter,
                                   GLOBAL float* RESTRICT out) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  float lost = 0.0f;
  for (int i = 0; i < 9; ++i) {
    const float value = in[(size_t)(row + i / 3) * (columns + 2) + column + i % 3];
    const float term = FUSED(filter[i], value, -lost);
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  out[(size_t)row * columns + column] = sum;
}
