// The product by way of whole tiles: A and B are copied into scratch memory, panel by panel (what a
// group reads at one depth lies side by side), padded with zeros, and multiplied without a look at
// edges; these come back when C is stored. An operand that is stored like that already, or in
// panels of PANEL rows or columns, is not copied. What the copies cost grows like the matrices,
// what they save like the products.
// Tuning parameters:
//   DIMM DIMN  work items of a group along the rows and the columns of C
//   WPM        rows of C per work item
//   WPN        neighbouring columns per work item, loaded at once (by 16 where there are more)
//   KWI        products between two tests of the loop
//   TILE       depth of the tiles in local memory; 0: none
//   PACK       1: copies an operand also where that could be left out
//   LINE       work items of a group that copies

#if WPN > 16
#define WIDTH 16
#else
#define WIDTH WPN
#endif
#define VECTORS (WPN / WIDTH)
#define TILE_ROWS (DIMM * WPM)
#define TILE_COLUMNS (DIMN * WPN)
#if TILE > 0
#define STRIDE TILE
#else
#define STRIDE KWI
#endif
#define WHOLE(k) (((k) + STRIDE - 1) / STRIDE * STRIDE)
#define GROUPS(x, tile) (((x) + (tile)-1) / (tile))
// Where row (or column) i of the tile that begins at `first` lies at the tile's first depth. In
// panels, those of the last one stand for what lies behind it.
FUNCTION size_t in_tile(const int panels, const int first, const int i, const int count,
                        const int depth) {
  if (!panels) return i;
  const int last = (count - 1) / PANEL * PANEL;
  return begin_of(1, min(first + i, last + (first + i) % PANEL), PANEL_DEPTH(depth));
}
#if TILE > 0
#define FACTOR(from, i) (from)[i]
#else
#define FACTOR(from, i) READ(from, i)
#endif

// One element of the panel of `width` rows (columns) that the group's second index names: row (or
// column) i of op(A) (or op(B)) at depth k is from[i * step + k * depth_step].
FUNCTION void pack_element(const GLOBAL STORED* RESTRICT from, GLOBAL STORED* RESTRICT to,
                           const int count, const int depth, const size_t step,
                           const size_t depth_step, const int width) {
  const int item = GLOBAL_ID(0);
  if (item >= WHOLE(depth) * width) return;
  const int k = item / width;
  const int own = GROUP_ID(1) * width + item % width;
  const size_t panel = (size_t)GROUP_ID(2) * GROUP_COUNT(1) + GROUP_ID(1);
  const float value = own < count && k < depth ? READ(from, own * step + k * depth_step) : 0.0f;
  WRITE(to, panel * WHOLE(depth) * width + item, value);
}

KERNEL WORK_GROUP(LINE, 1, 1)
void pack_a(const int M, const int K, const int form, const GLOBAL STORED* RESTRICT a,
            const GLOBAL long* RESTRICT table, const long a_offset, const int a_pad,
            const long a_step, GLOBAL STORED* RESTRICT packed_a) {
  const size_t lda = (TURNED_A(form) ? M : K) + a_pad;
  pack_element(a + place(0, form, (long)M * K, a_offset, a_step, table, GROUP_ID(2)), packed_a, M,
               K, TURNED_A(form) ? 1 : lda, TURNED_A(form) ? lda : 1, TILE_ROWS);
}

KERNEL WORK_GROUP(LINE, 1, 1)
void pack_b(const int N, const int K, const int form, const GLOBAL STORED* RESTRICT b,
            const GLOBAL long* RESTRICT table, const long b_offset, const int b_pad,
            const long b_step, GLOBAL STORED* RESTRICT packed_b) {
  const size_t ldb = (TURNED_B(form) ? K : N) + b_pad;
  pack_element(b + place(1, form, (long)N * K, b_offset, b_step, table, GROUP_ID(2)), packed_b, N,
               K, TURNED_B(form) ? ldb : 1, TURNED_B(form) ? 1 : ldb, TILE_COLUMNS);
}

// An element of C, or a vector of them.
FUNCTION void store(GLOBAL STORED* c, const float alpha, const float beta, const float sum) {
  const float old = beta == 0.0f ? 0.0f : beta * READ(c, 0);
  WRITE(c, 0, alpha == 0.0f ? old : MULTIPLY_ADD(alpha, sum, old));
}

// `left` more columns of C begin here.
FUNCTION void store_vector(GLOBAL STORED* c, const float alpha, const float beta,
                           const FLOAT_VECTOR(WIDTH) sums, const int left) {
  if (WIDTH <= left && alpha != 0.0f) {
    FLOAT_VECTOR(WIDTH) result = SPLAT(WIDTH, alpha) * sums;
    if (beta != 0.0f) result = MULTIPLY_ADD(SPLAT(WIDTH, beta), LOAD_STORED(WIDTH, c), result);
    STORE_STORED(WIDTH, result, c);
    return;
  }
  float lanes[WIDTH];
  LANES_OF(WIDTH, sums, lanes);
  for (int lane = 0; lane < min(WIDTH, left); ++lane) store(c + lane, alpha, beta, lanes[lane]);
}

KERNEL WORK_GROUP(DIMN, DIMM, 1)
void multiply(const int M, const int N, const int K, const int form,
              const GLOBAL STORED* RESTRICT a, const GLOBAL STORED* RESTRICT b,
              GLOBAL STORED* RESTRICT c, const GLOBAL long* RESTRICT table, const float alpha,
              const float beta, const long a_offset, const long b_offset, const long c_offset,
              const int a_pad, const int b_pad, const int c_pad, const long a_step,
              const long b_step, const long c_step, const GLOBAL STORED* RESTRICT packed_a,
              const GLOBAL STORED* RESTRICT packed_b) {
  const int whole_depth = K % STRIDE == 0;
  const int panels_a = PANELS_A(form);
  const int panels_b = PANELS_B(form);
  const int keep_a = PACK == 0 && TURNED_A(form) && M % TILE_ROWS == 0 && whole_depth;
  const int keep_b = PACK == 0 && !TURNED_B(form) && N % TILE_COLUMNS == 0 && whole_depth;
  const int product = GROUP_ID(2);
  const size_t left_step = panels_a ? PANEL : keep_a ? M + a_pad : TILE_ROWS;
  const size_t right_step = panels_b ? PANEL : keep_b ? N + b_pad : TILE_COLUMNS;
  const size_t panel_a = (size_t)product * GROUPS(M, TILE_ROWS) + GROUP_ID(1);
  const size_t panel_b = (size_t)product * GROUPS(N, TILE_COLUMNS) + GROUP_ID(0);
  const int group_row = GROUP_ID(1) * TILE_ROWS;
  const int group_column = GROUP_ID(0) * TILE_COLUMNS;
  const GLOBAL STORED* placed_a = a + place(0, form, (long)M * K, a_offset, a_step, table, product);
  const GLOBAL STORED* placed_b = b + place(1, form, (long)N * K, b_offset, b_step, table, product);
  const GLOBAL STORED* left = panels_a ? placed_a
                              : keep_a ? placed_a + group_row
                                       : packed_a + panel_a * WHOLE(K) * TILE_ROWS;
  const GLOBAL STORED* right = panels_b ? placed_b
                               : keep_b ? placed_b + group_column
                                        : packed_b + panel_b * WHOLE(K) * TILE_COLUMNS;
  const int own_row = LOCAL_ID(1) * WPM;
  const int own_column = LOCAL_ID(0) * WPN;
#if TILE > 0
  LOCAL_ARRAY float rows[TILE * TILE_ROWS];
  LOCAL_ARRAY float columns[TILE * TILE_COLUMNS];
  const int item = LOCAL_ID(1) * DIMN + LOCAL_ID(0);
#else
  left += in_tile(panels_a, group_row, own_row, M, K);
  size_t right_at[VECTORS];
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) {
    right_at[v] = in_tile(panels_b, group_column, own_column + v * WIDTH, N, K);
  }
#endif
  FLOAT_VECTOR(WIDTH) sums[WPM][VECTORS];
#pragma unroll
  for (int i = 0; i < WPM; ++i) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) sums[i][v] = SPLAT(WIDTH, 0.0f);
  }
  for (int k = 0; k < WHOLE(K); k += STRIDE) {
#if TILE > 0
    for (int i = item; i < TILE * TILE_ROWS; i += DIMM * DIMN) {
      const size_t at = in_tile(panels_a, group_row, i % TILE_ROWS, M, K);
      rows[i] = READ(left, (k + i / TILE_ROWS) * left_step + at);
    }
    for (int i = item; i < TILE * TILE_COLUMNS; i += DIMM * DIMN) {
      const size_t at = in_tile(panels_b, group_column, i % TILE_COLUMNS, N, K);
      columns[i] = READ(right, (k + i / TILE_COLUMNS) * right_step + at);
    }
    LOCAL_BARRIER();
#endif
    for (int unrolled = 0; unrolled < STRIDE; unrolled += KWI) {
#pragma unroll
      for (int step = 0; step < KWI; ++step) {
        const int d = unrolled + step;
        FLOAT_VECTOR(WIDTH) factor[VECTORS];
#if TILE > 0
        factor[0] = LOAD_VECTOR(WIDTH, columns + d * TILE_COLUMNS + own_column);
        LOCAL_POINTER const float* from = rows + d * TILE_ROWS + own_row;
#else
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
          factor[v] = LOAD_STORED(WIDTH, right + (k + d) * right_step + right_at[v]);
        }
        const GLOBAL STORED* from = left + (k + d) * left_step;
#endif
#pragma unroll
        for (int i = 0; i < WPM; ++i) {
          const FLOAT_VECTOR(WIDTH) row = SPLAT(WIDTH, FACTOR(from, i));
#pragma unroll
          for (int v = 0; v < VECTORS; ++v) {
            sums[i][v] = MULTIPLY_ADD(row, factor[v], sums[i][v]);
          }
        }
      }
    }
#if TILE > 0
    LOCAL_BARRIER();
#endif
  }
  const int row = group_row + own_row;
  const int column = group_column + own_column;
  GLOBAL STORED* own = c + place(2, form, (long)M * N, c_offset, c_step, table, product);
#pragma unroll
  for (int i = 0; i < WPM; ++i) {
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      const int first = column + v * WIDTH;
      if (row + i < M && first < N) {
        store_vector(own + (size_t)(row + i) * (N + c_pad) + first, alpha, beta, sums[i][v],
                     N - first);
      }
    }
  }
}
