// Single-precision matrix multiplication, row-major: C = alpha * A * B + beta * C with A (M x K),
// B (K x N), C (M x N), for any M, N >= 1 and K >= 0. As in BLAS, C is not read when beta is 0, and
// A and B are not read when alpha is 0.
//
// The tuning parameters have the names and the meaning of CLBlast's Xgemm, which is column-major.
// A row-major C is a column-major C^T, so "M" in a parameter's name means the *columns* of C (the
// contiguous direction) and "A" means our B; "N" means the rows of C and "B" means our A.
// README.md has the table. They arrive as preprocessor definitions:
//   MWG NWG KWG   tile of a work-group: columns of C, rows of C, depth
//   MDIMC NDIMC   work items of a group along columns and rows
//   MDIMA NDIMB   the same work items rearranged for copying a tile of our B, of our A
//   KWI           unrolling of the loop over the depth of a tile
//   VWM VWN       vector width along columns, along rows
//   STRM STRN     1: a work item's vectors are spread over the tile; 0: they lie side by side
//   SA SB         1: the tile of our B, of our A goes through local memory

typedef FLOAT_VECTOR(VWM) ColumnVector;
typedef FLOAT_VECTOR(VWN) RowVector;

#define GROUP_SIZE (MDIMC * NDIMC)
#define COLUMN_VECTORS (MWG / (MDIMC * VWM))  // of one work item
#define COLUMNS (COLUMN_VECTORS * VWM)
#define ROW_VECTORS (NWG / (NDIMC * VWN))
#define ROWS (ROW_VECTORS * VWN)

// Where in its tile the vector `i` of work item `t` begins, `items` work items having `count` each.
#if STRM == 1
#define COLUMN_IN_TILE(t, i, items, count) (((i) * (items) + (t)) * VWM)
#else
#define COLUMN_IN_TILE(t, i, items, count) (((t) * (count) + (i)) * VWM)
#endif
#if STRN == 1
#define ROW_IN_TILE(t, i, items, count) (((i) * (items) + (t)) * VWN)
#else
#define ROW_IN_TILE(t, i, items, count) (((t) * (count) + (i)) * VWN)
#endif

// Edges need no second code path: a vector that would reach past the last column is moved back to
// end there, and a row past the last one repeats it. What is then computed twice is stored once.
FUNCTION int first_column_of(int column, int N) { return max(min(column, N - VWM), 0); }

#if SA == 1
#define DEPTH_ITEMS_A (GROUP_SIZE / MDIMA)
#define COPIED_VECTORS_A (MWG / (MDIMA * VWM))

// Copies `depth` rows of our B, the group's columns, to tile[depth][column].
FUNCTION void copy_column_tile(LOCAL_POINTER ColumnVector* tile, const GLOBAL float* b, int depth,
                               int N, int group_column, int item) {
  const int along = item % MDIMA;
  for (int d = item / MDIMA; d < depth; d += DEPTH_ITEMS_A) {
    const GLOBAL float* row = b + (size_t)d * N;
    for (int i = 0; i < COPIED_VECTORS_A; ++i) {
      const int column = COLUMN_IN_TILE(along, i, MDIMA, COPIED_VECTORS_A);
      tile[(d * MWG + column) / VWM] =
          LOAD_VECTOR(VWM, row + first_column_of(group_column + column, N));
    }
  }
}
#endif

#if SB == 1
#define DEPTH_ITEMS_B (GROUP_SIZE / NDIMB)
#define COPIED_VECTORS_B (NWG / (NDIMB * VWN))

// Copies `depth` columns of our A, the group's rows, to tile[depth][row]: transposed, neighbouring
// work items reading along the depth, which is what lies side by side in A.
FUNCTION void copy_row_tile(LOCAL_POINTER RowVector* tile, const GLOBAL float* a, int depth, int M,
                            int K, int group_row, int item) {
  const int along = item / DEPTH_ITEMS_B;
  for (int d = item % DEPTH_ITEMS_B; d < depth; d += DEPTH_ITEMS_B) {
    for (int i = 0; i < COPIED_VECTORS_B; ++i) {
      const int row = ROW_IN_TILE(along, i, NDIMB, COPIED_VECTORS_B);
      float lanes[VWN];
#pragma unroll
      for (int lane = 0; lane < VWN; ++lane) {
        lanes[lane] = a[(size_t)min(group_row + row + lane, M - 1) * K + d];
      }
      tile[(d * NWG + row) / VWN] = VECTOR_OF(VWN, lanes);
    }
  }
}
#endif

// Columns [column, column + VWM) of a row of our B; zeros past N where a row is shorter than that.
FUNCTION ColumnVector load_short_row(const GLOBAL float* row, int column, int N) {
  if (N >= VWM) return LOAD_VECTOR(VWM, row + column);
  float lanes[VWM];
#pragma unroll
  for (int lane = 0; lane < VWM; ++lane) lanes[lane] = lane < N ? row[lane] : 0.0f;
  return VECTOR_OF(VWM, lanes);
}

KERNEL WORK_GROUP(MDIMC, NDIMC, 1)
void gemm(const int M, const int N, const int K, const GLOBAL float* RESTRICT a,
          const GLOBAL float* RESTRICT b, GLOBAL float* RESTRICT c, const float alpha,
          const float beta) {
#if SA == 1
  LOCAL_ARRAY ColumnVector column_tile[KWG * MWG / VWM];
#endif
#if SB == 1
  LOCAL_ARRAY RowVector row_tile[KWG * NWG / VWN];
#endif
  const int item_column = LOCAL_ID(0);
  const int item_row = LOCAL_ID(1);
  const int group_column = GROUP_ID(0) * MWG;
  const int group_row = GROUP_ID(1) * NWG;

  int column[COLUMN_VECTORS];
#pragma unroll
  for (int i = 0; i < COLUMN_VECTORS; ++i) {
    column[i] = first_column_of(
        group_column + COLUMN_IN_TILE(item_column, i, MDIMC, COLUMN_VECTORS), N);
  }
  const GLOBAL float* row_start[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int row = group_row + ROW_IN_TILE(item_row, r / VWN, NDIMC, ROW_VECTORS) + r % VWN;
    row_start[r] = a + (size_t)min(row, M - 1) * K;
  }

  ColumnVector sum[ROWS][COLUMN_VECTORS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int i = 0; i < COLUMN_VECTORS; ++i) sum[r][i] = SPLAT(VWM, 0.0f);
  }

  const int depth = alpha == 0.0f ? 0 : K;
  // What KWI does not divide, and rows shorter than a vector, are left to the last part below.
  const int fast_depth = N < VWM ? 0 : depth - depth % KWI;
  for (int k = 0; k < fast_depth; k += KWG) {
    const int tile_depth = min(KWG, fast_depth - k);
#if SA == 1
    copy_column_tile(column_tile, b + (size_t)k * N, tile_depth, N, group_column,
                     item_row * MDIMC + item_column);
#endif
#if SB == 1
    copy_row_tile(row_tile, a + k, tile_depth, M, K, group_row, item_row * MDIMC + item_column);
#endif
#if SA == 1 || SB == 1
    LOCAL_BARRIER();
#endif
    for (int unrolled = 0; unrolled < tile_depth; unrolled += KWI) {
#pragma unroll
      for (int step = 0; step < KWI; ++step) {
        const int d = unrolled + step;
        ColumnVector from_b[COLUMN_VECTORS];
#if SA == 0
        const GLOBAL float* b_row = b + (size_t)(k + d) * N;
#endif
#pragma unroll
        for (int i = 0; i < COLUMN_VECTORS; ++i) {
#if SA == 1
          from_b[i] = column_tile[(d * MWG + COLUMN_IN_TILE(item_column, i, MDIMC,
                                                            COLUMN_VECTORS)) / VWM];
#else
          from_b[i] = LOAD_VECTOR(VWM, b_row + column[i]);
#endif
        }
#pragma unroll
        for (int v = 0; v < ROW_VECTORS; ++v) {
          float from_a[VWN];
#if SB == 1
          LANES_OF(VWN, row_tile[(d * NWG + ROW_IN_TILE(item_row, v, NDIMC, ROW_VECTORS)) / VWN],
                   from_a);
#else
#pragma unroll
          for (int lane = 0; lane < VWN; ++lane) from_a[lane] = row_start[v * VWN + lane][k + d];
#endif
#pragma unroll
          for (int lane = 0; lane < VWN; ++lane) {
#pragma unroll
            for (int i = 0; i < COLUMN_VECTORS; ++i) {
              sum[v * VWN + lane][i] = MULTIPLY_ADD(SPLAT(VWM, from_a[lane]), from_b[i],
                                                    sum[v * VWN + lane][i]);
            }
          }
        }
      }
    }
#if SA == 1 || SB == 1
    LOCAL_BARRIER();
#endif
  }

  if (group_column + MWG <= N && fast_depth == depth) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int row = group_row + ROW_IN_TILE(item_row, r / VWN, NDIMC, ROW_VECTORS) + r % VWN;
      if (row < M) {
        GLOBAL float* c_row = c + (size_t)row * N;
#pragma unroll
        for (int i = 0; i < COLUMN_VECTORS; ++i) {
          ColumnVector result = SPLAT(VWM, alpha) * sum[r][i];
          if (beta != 0.0f) {
            result = MULTIPLY_ADD(SPLAT(VWM, beta), LOAD_VECTOR(VWM, c_row + column[i]), result);
          }
          STORE_VECTOR(VWM, result, c_row + column[i]);
        }
      }
    }
    return;
  }

  // The right edge and what is left of the depth: rolled loops over a copy, because indexing `sum`
  // by variables would move it out of the registers everywhere, and unrolling costs compile time.
  ColumnVector kept[ROWS * COLUMN_VECTORS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int i = 0; i < COLUMN_VECTORS; ++i) kept[r * COLUMN_VECTORS + i] = sum[r][i];
  }
#pragma unroll 1
  for (int at = 0; at < ROWS * COLUMN_VECTORS; ++at) {
    const int r = at / COLUMN_VECTORS;
    const int row = group_row + ROW_IN_TILE(item_row, r / VWN, NDIMC, ROW_VECTORS) + r % VWN;
    const int own = group_column +
                    COLUMN_IN_TILE(item_column, at % COLUMN_VECTORS, MDIMC, COLUMN_VECTORS);
    if (row < M && own < N) {
      const int first = first_column_of(own, N);
      ColumnVector total = kept[at];
#pragma unroll 1
      for (int k = fast_depth; k < depth; ++k) {
        total = MULTIPLY_ADD(SPLAT(VWM, a[(size_t)row * K + k]),
                             load_short_row(b + (size_t)k * N, first, N), total);
      }
      float lanes[VWM];
      LANES_OF(VWM, SPLAT(VWM, alpha) * total, lanes);
      GLOBAL float* c_row = c + (size_t)row * N;
#pragma unroll 1
      for (int here = own; here < min(own + VWM, N); ++here) {
        const float result = lanes[here - first];
        c_row[here] = beta == 0.0f ? result : MULTIPLY_ADD(beta, c_row[here], result);
      }
    }
  }
}

// The same result, independent of all tuning parameters. Compensated summation (Kahan 1965) in
// single precision, since boards may lack double; the product enters through a fused multiply-add,
// so no contraction by a compiler can change it. What remains are the roundings of the single
// products. Must not be built with unsafe math options. Each work item has some elements of a row,
// whose chains of sums go on beside one another.
#define CHAINS 8
KERNEL void gemm_reference(const int M, const int N, const int K, const GLOBAL float* RESTRICT a,
                           const GLOBAL float* RESTRICT b, GLOBAL float* RESTRICT c,
                           const float alpha, const float beta) {
  const int apart = (N + CHAINS - 1) / CHAINS;
  const int row = GLOBAL_ID(1);
  if (row >= M || GLOBAL_ID(0) >= apart) return;
  float sum[CHAINS], lost[CHAINS];
  int column[CHAINS];
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) {
    sum[i] = lost[i] = 0.0f;
    column[i] = min(GLOBAL_ID(0) + i * apart, N - 1);
  }
  const int depth = alpha == 0.0f ? 0 : K;
  for (int k = 0; k < depth; ++k) {
    const float left = a[(size_t)row * K + k];
#pragma unroll
    for (int i = 0; i < CHAINS; ++i) {
      const float term = FUSED(left, b[(size_t)k * N + column[i]], -lost[i]);
      const float next = sum[i] + term;
      lost[i] = (next - sum[i]) - term;
      sum[i] = next;
    }
  }
#pragma unroll
  for (int i = 0; i < CHAINS; ++i) {
    if (GLOBAL_ID(0) + i * apart >= N) break;
    const size_t at = (size_t)row * N + column[i];
    c[at] = beta == 0.0f ? alpha * sum[i] : FUSED(beta, c[at], alpha * sum[i]);
  }
}
