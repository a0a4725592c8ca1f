// Transposition of a matrix: out (columns x rows) = in^T, in (rows x columns), both row-major.
// Tuning parameters:
//   WGX WGY        work items of a group along the columns and the rows of `in`
//   COLUMNS ROWS   elements of a work item along columns and rows
//   VECTOR         columns that are loaded at once
//   LOCAL_TILE     1: through local memory, so that reads and writes are both contiguous
//   PADDING        floats between the rows of the tile in local memory
//   ALONG          without local memory: neighbours run along 0: columns (contiguous reads),
//                  1: rows (contiguous writes)
//   DIAGONAL       1: groups are numbered along diagonals, against partition camping
//   UNROLL         of the loop over a work item's rows

#define TILE_COLUMNS (WGX * COLUMNS)
#define TILE_ROWS (WGY * ROWS)
#define PITCH (TILE_COLUMNS + PADDING)

KERNEL WORK_GROUP(WGX, WGY, 1)
void transpose(const int rows, const int columns, const GLOBAL float* RESTRICT in,
               GLOBAL float* RESTRICT out) {
#if LOCAL_TILE == 1
  LOCAL_ARRAY float tile[TILE_ROWS * PITCH];
#endif
  const int item = LOCAL_ID(1) * WGX + LOCAL_ID(0);
#if ALONG == 1
  const int item_column = item / WGY;
  const int item_row = item % WGY;
#else
  const int item_column = LOCAL_ID(0);
  const int item_row = LOCAL_ID(1);
#endif
#if DIAGONAL == 1
  // Ruetsch and Micikevicius 2009; also for grids that are not square.
  const int group = GROUP_ID(1) * GROUP_COUNT(0) + GROUP_ID(0);
  const int group_row = group % GROUP_COUNT(1);
  const int group_column = (group / GROUP_COUNT(1) + group_row) % GROUP_COUNT(0);
#else
  const int group_column = GROUP_ID(0);
  const int group_row = GROUP_ID(1);
#endif
  const int first_column = group_column * TILE_COLUMNS;
  const int first_row = group_row * TILE_ROWS;

#pragma unroll UNROLL
  for (int i = 0; i < ROWS; ++i) {
    const int tile_row = i * WGY + item_row;
    const int row = first_row + tile_row;
#pragma unroll
    for (int v = 0; v < COLUMNS / VECTOR; ++v) {
      const int tile_column = (v * WGX + item_column) * VECTOR;
      const int column = first_column + tile_column;
      float lanes[VECTOR];
      if (row < rows && column + VECTOR <= columns) {
        LANES_OF(VECTOR, LOAD_VECTOR(VECTOR, in + (size_t)row * columns + column), lanes);
      } else {
#pragma unroll
        for (int lane = 0; lane < VECTOR; ++lane) {
          const int inside = row < rows && column + lane < columns;
          lanes[lane] = inside ? in[(size_t)row * columns + column + lane] : 0.0f;
        }
      }
#pragma unroll
      for (int lane = 0; lane < VECTOR; ++lane) {
#if LOCAL_TILE == 1
        tile[tile_row * PITCH + tile_column + lane] = lanes[lane];
#else
        if (row < rows && column + lane < columns) {
          out[(size_t)(column + lane) * rows + row] = lanes[lane];
        }
#endif
      }
    }
  }

#if LOCAL_TILE == 1
  LOCAL_BARRIER();
  for (int at = item; at < TILE_COLUMNS * TILE_ROWS; at += WGX * WGY) {
    const int tile_row = at % TILE_ROWS;
    const int tile_column = at / TILE_ROWS;
    const int row = first_row + tile_row;
    const int column = first_column + tile_column;
    if (row < rows && column < columns) {
      out[(size_t)column * rows + row] = tile[tile_row * PITCH + tile_column];
    }
  }
#endif
}

KERNEL void transpose_reference(const int rows, const int columns, const GLOBAL float* RESTRICT in,
                                GLOBAL float* RESTRICT out) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (row >= rows || column >= columns) return;
  out[(size_t)column * rows + row] = in[(size_t)row * columns + column];
}
