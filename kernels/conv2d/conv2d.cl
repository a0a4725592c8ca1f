// Two-dimensional convolution with a 7 x 7 filter: out (height x width), in with a border of three
// elements on every side, (height + 6) x (width + 6), row-major.
// Tuning parameters:
//   TBX TBY            work items of a group along x and y
//   WPTX WPTY          elements of a work item along x and y
//   VECTOR             elements along x that are computed at once
//   LOCAL_TILE         1: the group's part of `in` goes through local memory
//   PADDING            floats between the rows of that tile
//   UNROLL_X UNROLL_Y  of the loops over the filter
//   COEFFICIENTS       read from 0: constant memory, 1: an array in private memory

#define FILTER 7
#define TILE_COLUMNS (TBX * WPTX)
#define TILE_ROWS (TBY * WPTY)
#define COPIED_COLUMNS (TILE_COLUMNS + FILTER - 1)
#define COPIED_ROWS (TILE_ROWS + FILTER - 1)
#define PITCH (COPIED_COLUMNS + PADDING)
#define VECTORS (WPTX / VECTOR)

KERNEL WORK_GROUP(TBX, TBY, 1)
void conv2d(const int height, const int width, const GLOBAL float* RESTRICT in,
            CONSTANT_POINTER float* RESTRICT filter, GLOBAL float* RESTRICT out) {
#if LOCAL_TILE == 1
  LOCAL_ARRAY float tile[COPIED_ROWS * PITCH];
#endif
  const int item_column = LOCAL_ID(0);
  const int item_row = LOCAL_ID(1);
  const int group_column = GROUP_ID(0) * TILE_COLUMNS;
  const int group_row = GROUP_ID(1) * TILE_ROWS;
  const int in_pitch = width + FILTER - 1;

#if LOCAL_TILE == 1
  for (int at = item_row * TBX + item_column; at < COPIED_ROWS * COPIED_COLUMNS; at += TBX * TBY) {
    const int row = min(group_row + at / COPIED_COLUMNS, height + FILTER - 2);
    const int column = min(group_column + at % COPIED_COLUMNS, width + FILTER - 2);
    tile[at / COPIED_COLUMNS * PITCH + at % COPIED_COLUMNS] = in[(size_t)row * in_pitch + column];
  }
  LOCAL_BARRIER();
#endif

#if COEFFICIENTS == 1
  float weights[FILTER * FILTER];
#pragma unroll
  for (int i = 0; i < FILTER * FILTER; ++i) weights[i] = filter[i];
#define WEIGHT(i) weights[i]
#else
#define WEIGHT(i) filter[i]
#endif

  FLOAT_VECTOR(VECTOR) sum[WPTY][VECTORS];
#pragma unroll
  for (int y = 0; y < WPTY; ++y) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) sum[y][v] = SPLAT(VECTOR, 0.0f);
  }

#pragma unroll UNROLL_Y
  for (int fy = 0; fy < FILTER; ++fy) {
#pragma unroll UNROLL_X
    for (int fx = 0; fx < FILTER; ++fx) {
      const FLOAT_VECTOR(VECTOR) weight = SPLAT(VECTOR, WEIGHT(fy * FILTER + fx));
#pragma unroll
      for (int y = 0; y < WPTY; ++y) {
        const int tile_row = y * TBY + item_row;
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
          const int tile_column = (v * TBX + item_column) * VECTOR;
#if LOCAL_TILE == 1
          LOCAL_POINTER float* from = tile + (tile_row + fy) * PITCH + tile_column + fx;
#else
          // Past the edge the last row and the last whole vector are computed again, not stored.
          const int row = min(group_row + tile_row, height - 1);
          const int column = min(group_column + tile_column, width - VECTOR);
          const GLOBAL float* from = in + (size_t)(row + fy) * in_pitch + column + fx;
#endif
          sum[y][v] = MULTIPLY_ADD(weight, LOAD_VECTOR(VECTOR, from), sum[y][v]);
        }
      }
    }
  }

#pragma unroll
  for (int y = 0; y < WPTY; ++y) {
    const int row = group_row + y * TBY + item_row;
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      const int column = group_column + (v * TBX + item_column) * VECTOR;
      if (row < height && column + VECTOR <= width) {
        STORE_VECTOR(VECTOR, sum[y][v], out + (size_t)row * width + column);
      } else if (row < height) {
#if LOCAL_TILE == 1
        const int first = column;
#else
        const int first = min(column, width - VECTOR);
#endif
        float lanes[VECTOR];
        LANES_OF(VECTOR, sum[y][v], lanes);
        for (int at = column; at < width; ++at) out[(size_t)row * width + at] = lanes[at - first];
      }
    }
  }
}

// One work item per element, with compensated summation (Kahan 1965).
KERNEL void conv2d_reference(const int height, const int width, const GLOBAL float* RESTRICT in,
                             CONSTANT_POINTER float* RESTRICT filter, GLOBAL float* RESTRICT out) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (row >= height || column >= width) return;
  float sum = 0.0f;
  float lost = 0.0f;
  for (int fy = 0; fy < FILTER; ++fy) {
    for (int fx = 0; fx < FILTER; ++fx) {
      const float value = in[(size_t)(row + fy) * (width + FILTER - 1) + column + fx];
      const float term = FUSED(filter[fy * FILTER + fx], value, -lost);
      const float next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
  }
  out[(size_t)row * width + column] = sum;
}
