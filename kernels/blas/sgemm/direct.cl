// The product at once, for any M, N, K >= 1. As in BLAS, C is not read when beta is 0, and A and B
// are not read when alpha is 0. Tuning parameters (kernels/gemm has most of them, by other names):
//   COLS ROWS DEEP  tile of a work-group: columns and rows of C, depth
//   DIMX DIMY       work items of a group along columns and rows
//   KWI             unrolling of the loop over the depth of a tile
//   VX VY           vector width along columns, along rows
//   SPREAD          1: a work item's column vectors are spread over the tile; 0: side by side
//   LOCAL_B LOCAL_A 1: the tile of B, of A goes through local memory

typedef FLOAT_VECTOR(VX) ColumnVector;
typedef FLOAT_VECTOR(VY) RowVector;

#define GROUP_SIZE (DIMX * DIMY)
#define COLUMN_VECTORS (COLS / (DIMX * VX))  // of one work item
#define ROW_VECTORS (ROWS / (DIMY * VY))
#define OWN_ROWS (ROW_VECTORS * VY)

// Where in its tile the vector i of work item t begins.
#if SPREAD == 1
#define COLUMN_IN_TILE(t, i) (((i) * DIMX + (t)) * VX)
#else
#define COLUMN_IN_TILE(t, i) (((t) * COLUMN_VECTORS + (i)) * VX)
#endif
#define ROW_IN_TILE(t, i) (((t) * ROW_VECTORS + (i)) * VY)

// Edges need no second code path: a vector that would reach past the last column is moved back to
// end there, and a row past the last one repeats it. What is then computed twice is stored once.
FUNCTION int first_column_of(int column, int N) { return max(min(column, N - VX), 0); }

// VX columns of B from `column` on, at one depth: `b` is where that depth begins. Where N is below
// VX, the last column stands for those that are missing.
FUNCTION ColumnVector load_columns(const int turned, const GLOBAL STORED* b, const int column,
                                   const int N, const int ldb) {
  if (!turned && N >= VX) return LOAD_STORED(VX, b + column);
  const size_t apart = turned ? ldb : 1;
  float lanes[VX];
#pragma unroll
  for (int lane = 0; lane < VX; ++lane) lanes[lane] = READ(b, min(column + lane, N - 1) * apart);
  return VECTOR_OF(VX, lanes);
}

// Copies `depth` rows of op(B), the group's columns, to tile[depth][column]; neighbouring work
// items read what lies side by side.
#if LOCAL_B == 1
FUNCTION void copy_columns(const int turned, LOCAL_POINTER ColumnVector* tile,
                           const GLOBAL STORED* b, const int depth, const int N, const int ldb,
                           const int group_column, const int item) {
  const int along = turned ? item / DIMY : item % DIMX;
  for (int d = turned ? item % DIMY : item / DIMX; d < depth; d += DIMY) {
    const GLOBAL STORED* from = b + (turned ? (size_t)d : (size_t)d * ldb);
    for (int i = along; i < COLS / VX; i += DIMX) {
      tile[d * (COLS / VX) + i] =
          load_columns(turned, from, first_column_of(group_column + i * VX, N), N, ldb);
    }
  }
}
#endif

// Likewise `depth` columns of op(A), the group's rows, to tile[depth][row].
#if LOCAL_A == 1
FUNCTION void copy_rows(LOCAL_POINTER RowVector* tile, const GLOBAL STORED* a, const int depth,
                        const int M, const size_t row_step, const size_t depth_step,
                        const int group_row, const int item) {
  const int along = depth_step == 1 ? item / DIMX : item % DIMY;
  for (int d = depth_step == 1 ? item % DIMX : item / DIMY; d < depth; d += DIMX) {
    for (int i = along; i < ROWS / VY; i += DIMY) {
      float lanes[VY];
#pragma unroll
      for (int lane = 0; lane < VY; ++lane) {
        const int row = min(group_row + i * VY + lane, M - 1);
        lanes[lane] = READ(a, row * row_step + d * depth_step);
      }
      tile[d * (ROWS / VY) + i] = VECTOR_OF(VY, lanes);
    }
  }
}
#endif

#if LOCAL_B == 1
#define COLUMN_TILE , LOCAL_POINTER ColumnVector *column_tile
#define DECLARE_COLUMN_TILE LOCAL_ARRAY ColumnVector column_tile[DEEP * COLS / VX];
#define PASS_COLUMN_TILE , column_tile
#else
#define COLUMN_TILE
#define DECLARE_COLUMN_TILE
#define PASS_COLUMN_TILE
#endif
#if LOCAL_A == 1
#define ROW_TILE , LOCAL_POINTER RowVector *row_tile
#define DECLARE_ROW_TILE LOCAL_ARRAY RowVector row_tile[DEEP * ROWS / VY];
#define PASS_ROW_TILE , row_tile
#else
#define ROW_TILE
#define DECLARE_ROW_TILE
#define PASS_ROW_TILE
#endif

FUNCTION void store_columns(GLOBAL STORED* c, ColumnVector result, const float beta) {
  if (beta != 0.0f) result = MULTIPLY_ADD(SPLAT(VX, beta), LOAD_STORED(VX, c), result);
  STORE_STORED(VX, result, c);
}

// One step of the depth, the d-th of the tile: `a` further than where each row begins, from `b` on.
FUNCTION void add_step(const int turned, ColumnVector sum[OWN_ROWS][COLUMN_VECTORS],
                       const GLOBAL STORED* const row_start[OWN_ROWS], const size_t a,
                       const GLOBAL STORED* b, const int column[COLUMN_VECTORS], const int N,
                       const int ldb, const int d, const int item_column,
                       const int item_row COLUMN_TILE ROW_TILE) {
  ColumnVector from_b[COLUMN_VECTORS];
#pragma unroll
  for (int i = 0; i < COLUMN_VECTORS; ++i) {
#if LOCAL_B == 1
    from_b[i] = column_tile[(d * COLS + COLUMN_IN_TILE(item_column, i)) / VX];
#else
    from_b[i] = load_columns(turned, b, column[i], N, ldb);
#endif
  }
#pragma unroll
  for (int v = 0; v < ROW_VECTORS; ++v) {
    float from_a[VY];
#if LOCAL_A == 1
    LANES_OF(VY, row_tile[(d * ROWS + ROW_IN_TILE(item_row, v)) / VY], from_a);
#else
#pragma unroll
    for (int lane = 0; lane < VY; ++lane) from_a[lane] = READ(row_start[v * VY + lane], a);
#endif
#pragma unroll
    for (int lane = 0; lane < VY; ++lane) {
#pragma unroll
      for (int i = 0; i < COLUMN_VECTORS; ++i) {
        sum[v * VY + lane][i] =
            MULTIPLY_ADD(SPLAT(VX, from_a[lane]), from_b[i], sum[v * VY + lane][i]);
      }
    }
  }
}
#define ADD_STEP(d)                                                                             \
  add_step(turned, sum, row_start, (k + (d)) * depth_step, b + (k + (d)) * b_step, column, N,   \
           ldb, d, item_column, item_row PASS_COLUMN_TILE PASS_ROW_TILE)

// The group's tile of C. The pointers are where the operands begin.
FUNCTION void multiply_tile(const int turned, const int M, const int N, const int K,
                            const GLOBAL STORED* RESTRICT a, const GLOBAL STORED* RESTRICT b,
                            GLOBAL STORED* RESTRICT c, const float alpha, const float beta,
                            const size_t row_step, const size_t depth_step, const int ldb,
                            const int ldc COLUMN_TILE ROW_TILE) {
  const int item_column = LOCAL_ID(0);
  const int item_row = LOCAL_ID(1);
  const int group_column = GROUP_ID(0) * COLS;
  const int group_row = GROUP_ID(1) * ROWS;
  const size_t b_step = turned ? 1 : ldb;

  int column[COLUMN_VECTORS];
#pragma unroll
  for (int i = 0; i < COLUMN_VECTORS; ++i) {
    column[i] = first_column_of(group_column + COLUMN_IN_TILE(item_column, i), N);
  }
  const GLOBAL STORED* row_start[OWN_ROWS];
#pragma unroll
  for (int r = 0; r < OWN_ROWS; ++r) {
    const int row = group_row + ROW_IN_TILE(item_row, r / VY) + r % VY;
    row_start[r] = a + min(row, M - 1) * row_step;
  }
  ColumnVector sum[OWN_ROWS][COLUMN_VECTORS];
#pragma unroll
  for (int r = 0; r < OWN_ROWS; ++r) {
#pragma unroll
    for (int i = 0; i < COLUMN_VECTORS; ++i) sum[r][i] = SPLAT(VX, 0.0f);
  }

  const int depth = alpha == 0.0f ? 0 : K;
  for (int k = 0; k < depth; k += DEEP) {
    const int tile_depth = min(DEEP, depth - k);
#if LOCAL_B == 1
    copy_columns(turned, column_tile, b + k * b_step, tile_depth, N, ldb, group_column,
                 item_row * DIMX + item_column);
#endif
#if LOCAL_A == 1
    copy_rows(row_tile, a + k * depth_step, tile_depth, M, row_step, depth_step, group_row,
              item_row * DIMX + item_column);
#endif
#if LOCAL_B == 1 || LOCAL_A == 1
    LOCAL_BARRIER();
#endif
    int d = 0;
    for (; d + KWI <= tile_depth; d += KWI) {
#pragma unroll
      for (int step = 0; step < KWI; ++step) ADD_STEP(d + step);
    }
#if KWI > 1
    for (; d < tile_depth; ++d) ADD_STEP(d);
#endif
#if LOCAL_B == 1 || LOCAL_A == 1
    LOCAL_BARRIER();
#endif
  }

  if (group_column + COLS <= N) {
#pragma unroll
    for (int r = 0; r < OWN_ROWS; ++r) {
      const int row = group_row + ROW_IN_TILE(item_row, r / VY) + r % VY;
      if (row >= M) continue;
#pragma unroll
      for (int i = 0; i < COLUMN_VECTORS; ++i) {
        store_columns(c + (size_t)row * ldc + column[i], SPLAT(VX, alpha) * sum[r][i], beta);
      }
    }
    return;
  }

  // The right edge: a rolled loop over a copy, because indexing `sum` by variables would move it
  // out of the registers everywhere, and unrolling costs compile time.
  ColumnVector kept[OWN_ROWS * COLUMN_VECTORS];
#pragma unroll
  for (int r = 0; r < OWN_ROWS; ++r) {
#pragma unroll
    for (int i = 0; i < COLUMN_VECTORS; ++i) kept[r * COLUMN_VECTORS + i] = sum[r][i];
  }
#pragma unroll 1
  for (int at = 0; at < OWN_ROWS * COLUMN_VECTORS; ++at) {
    const int r = at / COLUMN_VECTORS;
    const int row = group_row + ROW_IN_TILE(item_row, r / VY) + r % VY;
    const int own = group_column + COLUMN_IN_TILE(item_column, at % COLUMN_VECTORS);
    if (row >= M || own >= N) continue;
    GLOBAL STORED* c_row = c + (size_t)row * ldc;
    const ColumnVector scaled = SPLAT(VX, alpha) * kept[at];
    if (own + VX <= N) {
      store_columns(c_row + own, scaled, beta);
      continue;
    }
    float lanes[VX];
    LANES_OF(VX, scaled, lanes);
    const int first = first_column_of(own, N);
#pragma unroll 1
    for (int here = own; here < N; ++here) {
      const float result = lanes[here - first];
      WRITE(c_row, here, beta == 0.0f ? result : MULTIPLY_ADD(beta, READ(c_row, here), result));
    }
  }
}

#define SIGNATURE                                                                               \
  const int M, const int N, const int K, const int form, const GLOBAL STORED *RESTRICT a,       \
      const GLOBAL STORED *RESTRICT b, GLOBAL STORED *RESTRICT c,                               \
      const GLOBAL long *RESTRICT table, const float alpha, const float beta,                   \
      const long a_offset, const long b_offset, const long c_offset, const int a_pad,           \
      const int b_pad, const int c_pad, const long a_step, const long b_step, const long c_step

#define PLACED_A a + place(0, form, (long)M * K, a_offset, a_step, table, GROUP_ID(2))
#define PLACED_B b + place(1, form, (long)N * K, b_offset, b_step, table, GROUP_ID(2))
#define PLACED_C c + place(2, form, (long)M * N, c_offset, c_step, table, GROUP_ID(2))
#define ROW_STEP (TURNED_A(form) ? (size_t)1 : (size_t)(K + a_pad))
#define DEPTH_STEP (TURNED_A(form) ? (size_t)(M + a_pad) : (size_t)1)

KERNEL WORK_GROUP(DIMX, DIMY, 1) void direct_plain(SIGNATURE) {
  DECLARE_COLUMN_TILE
  DECLARE_ROW_TILE
  multiply_tile(0, M, N, K, PLACED_A, PLACED_B, PLACED_C, alpha, beta, ROW_STEP, DEPTH_STEP,
                N + b_pad, N + c_pad PASS_COLUMN_TILE PASS_ROW_TILE);
}

// The same where B is stored transposed.
KERNEL WORK_GROUP(DIMX, DIMY, 1) void direct_turned(SIGNATURE) {
  DECLARE_COLUMN_TILE
  DECLARE_ROW_TILE
  multiply_tile(1, M, N, K, PLACED_A, PLACED_B, PLACED_C, alpha, beta, ROW_STEP, DEPTH_STEP,
                K + b_pad, N + c_pad PASS_COLUMN_TILE PASS_ROW_TILE);
}

// Operands that may be in panels, the steps from row to row (column to column) and in depth.
#define A_STEP (PANELS_A(form) ? (size_t)PANEL_DEPTH(K) : ROW_STEP)
#define A_DEPTH (PANELS_A(form) ? (size_t)PANEL : DEPTH_STEP)
#define B_STEP                                                                                  \
  (PANELS_B(form) ? (size_t)PANEL_DEPTH(K) : TURNED_B(form) ? (size_t)(K + b_pad) : (size_t)1)
#define B_DEPTH                                                                                 \
  (PANELS_B(form) ? (size_t)PANEL : TURNED_B(form) ? (size_t)1 : (size_t)(N + b_pad))

// The same where A or B is in panels, for which the other members of the family are made: column by
// column, without tiles.
KERNEL WORK_GROUP(DIMX, DIMY, 1) void direct_panels(SIGNATURE) {
  const int depth = alpha == 0.0f ? 0 : K;
  const size_t a_depth = A_DEPTH;
  const size_t b_depth = B_DEPTH;
  const int first_row = GROUP_ID(1) * ROWS + LOCAL_ID(1) * OWN_ROWS;
  const GLOBAL STORED* left[OWN_ROWS];
#pragma unroll
  for (int r = 0; r < OWN_ROWS; ++r) {
    left[r] = PLACED_A + begin_of(PANELS_A(form), min(first_row + r, M - 1), A_STEP);
  }
  for (int i = LOCAL_ID(0); i < COLS; i += DIMX) {
    const int column = GROUP_ID(0) * COLS + i;
    if (column >= N) return;
    const GLOBAL STORED* right = PLACED_B + begin_of(PANELS_B(form), column, B_STEP);
    float sum[OWN_ROWS];
#pragma unroll
    for (int r = 0; r < OWN_ROWS; ++r) sum[r] = 0.0f;
    for (int k = 0; k < depth; ++k) {
      const float from_b = READ(right, k * b_depth);
#pragma unroll
      for (int r = 0; r < OWN_ROWS; ++r) {
        sum[r] = MULTIPLY_ADD(READ(left[r], k * a_depth), from_b, sum[r]);
      }
    }
    for (int r = 0; r < min(OWN_ROWS, M - first_row); ++r) {
      GLOBAL STORED* to = PLACED_C + (size_t)(first_row + r) * (N + c_pad) + column;
      const float result = alpha * sum[r];
      WRITE(to, 0, beta == 0.0f ? result : MULTIPLY_ADD(beta, READ(to, 0), result));
    }
  }
}

// The same result, independent of all tuning parameters. Compensated summation (Kahan 1965) in
// single precision, since boards may lack double; the product enters through a fused multiply-add,
// so no contraction by a compiler can change it. What remains are the roundings of the single
// products. Must not be built with unsafe math options. Each work item has some elements of a row,
// whose chains of sums go on beside one another.
#define CHAINS 8
KERNEL void sgemm_reference(SIGNATURE) {
  const int apart = (N + CHAINS - 1) / CHAINS;
  const int row = GLOBAL_ID(1);
  if (row >= M || GLOBAL_ID(0) >= apart) return;
  const size_t a_depth = A_DEPTH;
  const size_t b_depth = B_DEPTH;
  const GLOBAL STORED* left = PLACED_A + begin_of(PANELS_A(form), row, A_STEP);
  const GLOBAL STORED* right[CHAINS];
  float sum[CHAINS], lost[CHAINS];
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) {
    sum[i] = lost[i] = 0.0f;
    const int column = min(GLOBAL_ID(0) + i * apart, N - 1);
    right[i] = PLACED_B + begin_of(PANELS_B(form), column, B_STEP);
  }
  const int depth = alpha == 0.0f ? 0 : K;
  for (int k = 0; k < depth; ++k) {
    const float of_a = READ(left, k * a_depth);
#pragma unroll
    for (int i = 0; i < CHAINS; ++i) {
      const float term = FUSED(of_a, READ(right[i], k * b_depth), -lost[i]);
      const float next = sum[i] + term;
      lost[i] = (next - sum[i]) - term;
      sum[i] = next;
    }
  }
  GLOBAL STORED* to = PLACED_C + (size_t)row * (N + c_pad);
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) {
    const int column = GLOBAL_ID(0) + i * apart;
    if (column >= N) break;
    WRITE(to, column, beta == 0.0f ? alpha * sum[i] : FUSED(beta, READ(to, column), alpha * sum[i]));
  }
}
