// A blur of an image: every pixel of out (height x width) is the mean of the 5 x 5 pixels around it.
// in has a border of two pixels on every side, (height + 4) x (width + 4), row-major.
// Tuning parameters:
//   BLOCK_X BLOCK_Y  work items of a group along x and y
//   PIXELS_X         neighbouring pixels of a work item along x
//   PIXELS_Y         pixels of a work item along y
//   TILE             1: the group's part of in goes through local memory
//   RUNNING          1: a work item's sums go down from row to row, 0: each pixel adds up 25

#define RADIUS 2
#define SIDE (2 * RADIUS + 1)
#define GROUP_COLUMNS (BLOCK_X * PIXELS_X)
#define GROUP_ROWS (BLOCK_Y * PIXELS_Y)
#define TILE_PITCH (GROUP_COLUMNS + SIDE - 1)
#define TILE_HEIGHT (GROUP_ROWS + SIDE - 1)

KERNEL WORK_GROUP(BLOCK_X, BLOCK_Y, 1)
void blur(const int height, const int width, const GLOBAL float* RESTRICT in,
          GLOBAL float* RESTRICT out) {
  const int in_pitch = width + SIDE - 1;
  int first_column = GLOBAL_ID(0) * PIXELS_X;
  int first_row = GLOBAL_ID(1) * PIXELS_Y;
#if TILE == 1
  const int group_column = GROUP_ID(0) * GROUP_COLUMNS;
  const int group_row = GROUP_ID(1) * GROUP_ROWS;
  LOCAL_ARRAY float tile[TILE_HEIGHT * TILE_PITCH];
  for (int at = LOCAL_ID(1) * BLOCK_X + LOCAL_ID(0); at < TILE_HEIGHT * TILE_PITCH;
       at += BLOCK_X * BLOCK_Y) {
    const int row = min(group_row + at / TILE_PITCH, height + SIDE - 2);
    const int column = min(group_column + at % TILE_PITCH, width + SIDE - 2);
    tile[at] = in[(size_t)row * in_pitch + column];
  }
  LOCAL_BARRIER();
  LOCAL_POINTER float* from =
      tile + (first_row - group_row) * TILE_PITCH + first_column - group_column;
#define PIXEL(row, column) from[(row) * TILE_PITCH + (column)]
#else
  // At the edge the last pixels are computed again.
  first_column = min(first_column, width - PIXELS_X);
  first_row = min(first_row, height - PIXELS_Y);
  const GLOBAL float* from = in + (size_t)first_row * in_pitch + first_column;
#define PIXEL(row, column) from[(row) * in_pitch + (column)]
#endif

#if RUNNING == 1
  float rows[PIXELS_X][PIXELS_Y + SIDE - 1];
#pragma unroll
  for (int row = 0; row < PIXELS_Y + SIDE - 1; ++row) {
#pragma unroll
    for (int x = 0; x < PIXELS_X; ++x) {
      rows[x][row] = 0.0f;
#pragma unroll
      for (int i = 0; i < SIDE; ++i) rows[x][row] += PIXEL(row, x + i);
    }
  }
#endif
#pragma unroll
  for (int y = 0; y < PIXELS_Y; ++y) {
#pragma unroll
    for (int x = 0; x < PIXELS_X; ++x) {
      float sum = 0.0f;
#if RUNNING == 1
#pragma unroll
      for (int i = 0; i < SIDE; ++i) sum += rows[x][y + i];
#else
      for (int i = 0; i < SIDE; ++i) {
#pragma unroll
        for (int j = 0; j < SIDE; ++j) sum += PIXEL(y + i, x + j);
      }
#endif
      const int row = first_row + y;
      const int column = first_column + x;
      if (row < height && column < width) {
        out[(size_t)row * width + column] = sum * (1.0f / (SIDE * SIDE));
      }
    }
  }
}

// One work item per pixel, with compensated summation (Kahan 1965).
KERNEL void blur_reference(const int height, const int width, const GLOBAL float* RESTRICT in,
                           GLOBAL float* RESTRICT out) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (row >= height || column >= width) return;
  float sum = 0.0f;
  float lost = 0.0f;
  for (int i = 0; i < SIDE * SIDE; ++i) {
    const float term = in[(size_t)(row + i / SIDE) * (width + SIDE - 1) + column + i % SIDE] - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  out[(size_t)row * width + column] = sum * (1.0f / (SIDE * SIDE));
}
