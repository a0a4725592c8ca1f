// The two products of a BiCG iteration, added to what is there: q += A p and s += A^T r, with A
// (m x n) row-major.
// Tuning parameters:
//   WGX WGY            work items of a group along columns and rows
//   ROWS COLUMNS       rows and columns of a tile that a work item has
//   VECTOR             columns that are loaded at once
//   ONE_PASS           1: A is read once for both products; 0: half of the groups compute q, half s
//   SPLIT              groups that share the long direction of a strip of tiles
//   REDUCE_Q REDUCE_S  1: a group adds up its part of q, of s in local memory; 0: every work item
//                      adds its own atomically
//   STAGE_P STAGE_R    1: the tile's part of p, of r is copied to local memory first
// Nothing is added atomically if ONE_PASS is 0, SPLIT is 1 and REDUCE_Q and REDUCE_S are 1.

#define TILE_ROWS (WGY * ROWS)
#define TILE_COLUMNS (WGX * COLUMNS)
#define VECTORS (COLUMNS / VECTOR)
#define ITEMS (WGX * WGY)
typedef FLOAT_VECTOR(VECTOR) Columns;

// Elements [column, column + VECTOR) of a line of n; zeros past its end.
FUNCTION Columns load_inside(const GLOBAL float* line, int column, int n) {
  if (column + VECTOR <= n) return LOAD_VECTOR(VECTOR, line + column);
  float lanes[VECTOR];
#pragma unroll
  for (int lane = 0; lane < VECTOR; ++lane) {
    lanes[lane] = column + lane < n ? line[column + lane] : 0.0f;
  }
  return VECTOR_OF(VECTOR, lanes);
}

FUNCTION float sum_of(Columns values) {
  float lanes[VECTOR];
  LANES_OF(VECTOR, values, lanes);
  float sum = lanes[0];
#pragma unroll
  for (int lane = 1; lane < VECTOR; ++lane) sum += lanes[lane];
  return sum;
}

// Adds the sum of what the work items of a group hold for each of TILE_ROWS rows.
FUNCTION void add_to_q(GLOBAL float* q, const Columns* sums, int first_row, int m, int item_column,
                       int item_row, LOCAL_POINTER float* scratch) {
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const int tile_row = i * WGY + item_row;
#if REDUCE_Q == 1
    scratch[tile_row * WGX + item_column] = sum_of(sums[i]);
#else
    if (first_row + tile_row < m) ATOMIC_ADD_FLOAT(q + first_row + tile_row, sum_of(sums[i]));
#endif
  }
#if REDUCE_Q == 1
  LOCAL_BARRIER();
  for (int at = item_row * WGX + item_column; at < TILE_ROWS; at += ITEMS) {
    float sum = 0.0f;
    for (int i = 0; i < WGX; ++i) sum += scratch[at * WGX + i];
    if (first_row + at < m) {
#if SPLIT == 1
      q[first_row + at] += sum;
#else
      ATOMIC_ADD_FLOAT(q + first_row + at, sum);
#endif
    }
  }
  LOCAL_BARRIER();
#endif
}

// Adds the sum of what the work items of a group hold for each of TILE_COLUMNS columns.
FUNCTION void add_to_s(GLOBAL float* s, const Columns* sums, int first_column, int n,
                       int item_column, int item_row, LOCAL_POINTER float* scratch) {
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) {
    const int tile_column = (v * WGX + item_column) * VECTOR;
    float lanes[VECTOR];
    LANES_OF(VECTOR, sums[v], lanes);
#pragma unroll
    for (int lane = 0; lane < VECTOR; ++lane) {
#if REDUCE_S == 1
      scratch[item_row * TILE_COLUMNS + tile_column + lane] = lanes[lane];
#else
      const int column = first_column + tile_column + lane;
      if (column < n) ATOMIC_ADD_FLOAT(s + column, lanes[lane]);
#endif
    }
  }
#if REDUCE_S == 1
  LOCAL_BARRIER();
  for (int at = item_row * WGX + item_column; at < TILE_COLUMNS; at += ITEMS) {
    float sum = 0.0f;
    for (int i = 0; i < WGY; ++i) sum += scratch[i * TILE_COLUMNS + at];
    if (first_column + at < n) {
#if ONE_PASS == 0 && SPLIT == 1
      s[first_column + at] += sum;
#else
      ATOMIC_ADD_FLOAT(s + first_column + at, sum);
#endif
    }
  }
  LOCAL_BARRIER();
#endif
}

#define SCRATCH_Q (REDUCE_Q * TILE_ROWS * WGX)
#define SCRATCH_S (REDUCE_S * TILE_COLUMNS * WGY)
#define SCRATCH (SCRATCH_Q > SCRATCH_S ? SCRATCH_Q : SCRATCH_S)

KERNEL WORK_GROUP(WGX, WGY, 1)
void bicg(const int m, const int n, const GLOBAL float* RESTRICT a, const GLOBAL float* RESTRICT p,
          const GLOBAL float* RESTRICT r, GLOBAL float* RESTRICT q, GLOBAL float* RESTRICT s) {
#if REDUCE_Q == 1 || REDUCE_S == 1
  LOCAL_ARRAY float scratch_array[SCRATCH];
  LOCAL_POINTER float* scratch = scratch_array;
#else
  LOCAL_POINTER float* scratch = 0;
#endif
#if STAGE_P == 1
  LOCAL_ARRAY float staged_p[TILE_COLUMNS];
#endif
#if STAGE_R == 1
  LOCAL_ARRAY float staged_r[TILE_ROWS];
#endif
  const int item_column = LOCAL_ID(0);
  const int item_row = LOCAL_ID(1);
  const int item = item_row * WGX + item_column;
#if ONE_PASS == 1
  const int for_q = 1, for_s = 1, walks_columns = 1;
#else
  const int for_q = GROUP_ID(2) == 0, for_s = !for_q, walks_columns = for_q;
#endif
  // A group has a strip of tiles: along the columns, or, for s alone, along the rows.
  const int strip = GROUP_ID(1);
  const int tiles = walks_columns ? (n + TILE_COLUMNS - 1) / TILE_COLUMNS
                                  : (m + TILE_ROWS - 1) / TILE_ROWS;

  Columns sum_q[ROWS], sum_s[VECTORS];
#pragma unroll
  for (int i = 0; i < ROWS; ++i) sum_q[i] = SPLAT(VECTOR, 0.0f);
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) sum_s[v] = SPLAT(VECTOR, 0.0f);

  for (int tile = GROUP_ID(0); tile < tiles; tile += SPLIT) {
    const int first_row = (walks_columns ? strip : tile) * TILE_ROWS;
    const int first_column = (walks_columns ? tile : strip) * TILE_COLUMNS;
#if STAGE_P == 1
    for (int at = item; at < TILE_COLUMNS; at += ITEMS) {
      staged_p[at] = first_column + at < n ? p[first_column + at] : 0.0f;
    }
#endif
#if STAGE_R == 1
    for (int at = item; at < TILE_ROWS; at += ITEMS) {
      staged_r[at] = first_row + at < m ? r[first_row + at] : 0.0f;
    }
#endif
#if STAGE_P == 1 || STAGE_R == 1
    LOCAL_BARRIER();
#endif
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      const int row = first_row + i * WGY + item_row;
      if (row < m) {
#if STAGE_R == 1
        const float factor = staged_r[i * WGY + item_row];
#else
        const float factor = r[row];
#endif
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
          const int tile_column = (v * WGX + item_column) * VECTOR;
          const Columns values = load_inside(a + (size_t)row * n, first_column + tile_column, n);
#if STAGE_P == 1
          const Columns factors = LOAD_VECTOR(VECTOR, staged_p + tile_column);
#else
          const Columns factors = load_inside(p, first_column + tile_column, n);
#endif
          sum_q[i] = MULTIPLY_ADD(values, factors, sum_q[i]);
          sum_s[v] = MULTIPLY_ADD(SPLAT(VECTOR, factor), values, sum_s[v]);
        }
      }
    }
#if STAGE_P == 1 || STAGE_R == 1
    LOCAL_BARRIER();
#endif
#if ONE_PASS == 1
    add_to_s(s, sum_s, first_column, n, item_column, item_row, scratch);
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) sum_s[v] = SPLAT(VECTOR, 0.0f);
#endif
  }

  if (for_q) add_to_q(q, sum_q, strip * TILE_ROWS, m, item_column, item_row, scratch);
#if ONE_PASS == 0
  if (for_s) add_to_s(s, sum_s, strip * TILE_COLUMNS, n, item_column, item_row, scratch);
#endif
}

// One work item per row and per column, with compensated summation (Kahan 1965).
KERNEL void bicg_reference(const int m, const int n, const GLOBAL float* RESTRICT a,
                           const GLOBAL float* RESTRICT p, const GLOBAL float* RESTRICT r,
                           GLOBAL float* RESTRICT q, GLOBAL float* RESTRICT s) {
  const int item = GLOBAL_ID(0);
  const int of_s = GLOBAL_ID(1);
  if (item >= (of_s ? n : m)) return;
  const int terms = of_s ? m : n;
  float sum = 0.0f;
  float lost = 0.0f;
  for (int i = 0; i < terms; ++i) {
    const float value = of_s ? a[(size_t)i * n + item] : a[(size_t)item * n + i];
    const float term = FUSED(value, of_s ? r[i] : p[i], -lost);
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  if (of_s) {
    s[item] += sum;
  } else {
    q[item] += sum;
  }
}
