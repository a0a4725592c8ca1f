// Mean over the 27 neighbours of every element, itself included, in three dimensions: out (planes x
// rows x columns), in with a border of one element on every side. One work item per element.
// Tuning parameters: BLOCK_X columns and BLOCK_Y rows of work items in a group.
KERNEL WORK_GROUP(BLOCK_X, BLOCK_Y, 1)
void stencil27_block(const int planes, const int rows, const int columns,
                     const GLOBAL float* RESTRICT in, GLOBAL float* RESTRICT out) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  const int plane = GLOBAL_ID(2);
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
#pragma unroll
  for (int z = 0; z < 3; ++z) {
#pragma unroll
    for (int y = 0; y < 3; ++y) {
      const GLOBAL float* line =
          in + ((size_t)(plane + z) * (rows + 2) + row + y) * (columns + 2) + column;
      sum += line[0] + line[1] + line[2];
    }
  }
  out[((size_t)plane * rows + row) * columns + column] = sum * (1.0f / 27.0f);
}

// With compensated summation (Kahan 1965).
KERNEL void stencil27_block_reference(const int planes, const int rows, const int columns,
                                      const GLOBAL float* RESTRICT in,
                                      GLOBAL float* RESTRICT out) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  const int plane = GLOBAL_ID(2);
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  float lost = 0.0f;
  for (int i = 0; i < 27; ++i) {
    const size_t line = (size_t)(plane + i / 9) * (rows + 2) + row + i / 3 % 3;
    const float term = in[line * (columns + 2) + column + i % 3] - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  out[((size_t)plane * rows + row) * columns + column] = sum / 27.0f;
}
