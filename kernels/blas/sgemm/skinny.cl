// The product where one side of C is short: every element of the larger operand is read about once,
// by as many work items as there are. Right for every shape, fast for thin ones. Of C's two sides
// one is called thin, the other wide; likewise the operands. Tuning parameters:
//   TURN   0: the rows of C are the thin side, 1: its columns
//   THIN   elements of the thin side per work item
//   VW     vector width, along what lies side by side in the wide operand
//   WG     work items of a group
//   SHARE  work items that share an element of the wide side where the depth lies side by side
//   SPLIT  parts of the depth, added up in a second launch

typedef FLOAT_VECTOR(VW) Vector;

// Operands by side: thin (t, k) is thin[begin_of(thin_panels, t, thin_step) + k * thin_depth], C (t, j)
// is c[t * c_thin + j * c_wide].
#define SIGNATURE                                                                               \
  const int M, const int N, const int K, const int form, const GLOBAL STORED *RESTRICT a,       \
      const GLOBAL STORED *RESTRICT b, GLOBAL STORED *RESTRICT c,                               \
      const GLOBAL long *RESTRICT table, const float alpha, const float beta,                   \
      const long a_offset, const long b_offset, const long c_offset, const int a_pad,           \
      const int b_pad, const int c_pad, const long a_step, const long b_step,                   \
      const long c_step, GLOBAL float *RESTRICT parts

#define SIDES                                                                                   \
  const int product = GROUP_ID(2) / SPLIT;                                                      \
  const int part = GROUP_ID(2) % SPLIT;                                                         \
  const int chunk = (K + SPLIT - 1) / SPLIT;                                                    \
  const int from_k = min(part * chunk, K);                                                      \
  const int to_k = alpha == 0.0f ? from_k : min(from_k + chunk, K);                             \
  const size_t lda = (TURNED_A(form) ? M : K) + a_pad;                                          \
  const size_t ldb = (TURNED_B(form) ? K : N) + b_pad;                                          \
  const size_t depth = PANEL_DEPTH(K);                                                          \
  const size_t a_row = PANELS_A(form) ? depth : TURNED_A(form) ? 1 : lda;                       \
  const size_t a_depth = PANELS_A(form) ? PANEL : TURNED_A(form) ? lda : 1;                     \
  const size_t b_column = PANELS_B(form) ? depth : TURNED_B(form) ? ldb : 1;                    \
  const size_t b_depth = PANELS_B(form) ? PANEL : TURNED_B(form) ? 1 : ldb;                     \
  const GLOBAL STORED* own_a =                                                                  \
      a + place(0, form, (long)M * K, a_offset, a_step, table, product);                        \
  const GLOBAL STORED* own_b =                                                                  \
      b + place(1, form, (long)N * K, b_offset, b_step, table, product);                        \
  const GLOBAL STORED* thin = TURN ? own_b : own_a;                                             \
  const GLOBAL STORED* wide = TURN ? own_a : own_b;                                             \
  const int thin_panels = TURN ? PANELS_B(form) : PANELS_A(form);                               \
  const int wide_panels = TURN ? PANELS_A(form) : PANELS_B(form);                               \
  const size_t thin_step = TURN ? b_column : a_row;                                             \
  const size_t thin_depth = TURN ? b_depth : a_depth;                                           \
  const size_t wide_step = TURN ? a_row : b_column;                                             \
  const size_t wide_depth = TURN ? a_depth : b_depth;                                           \
  const int thin_size = TURN ? N : M;                                                           \
  const int wide_size = TURN ? M : N;                                                           \
  GLOBAL STORED* own_c =                                                                        \
      c + place(2, form, (long)M * N, c_offset, c_step, table, product);                        \
  const size_t c_thin = TURN ? 1 : N + c_pad;                                                   \
  const size_t c_wide = TURN ? N + c_pad : 1;                                                   \
  const int first = GROUP_ID(1) * THIN

// As in BLAS, what is multiplied by zero is not read.
FUNCTION void store(GLOBAL STORED* c, const float alpha, const float beta, const float sum) {
  const float old = beta == 0.0f ? 0.0f : beta * READ(c, 0);
  WRITE(c, 0, alpha == 0.0f ? old : MULTIPLY_ADD(alpha, sum, old));
}

#if SPLIT == 1
#define KEEP(t, j, sum) store(own_c + (t)*c_thin + (j)*c_wide, alpha, beta, sum)
#else
#define KEEP(t, j, sum) parts[((size_t)GROUP_ID(2) * thin_size + (t)) * wide_size + (j)] = (sum)
#endif

// Where neighbours on the wide side lie side by side, also those of a panel: a vector of them per
// work item.
KERNEL WORK_GROUP(WG, 1, 1) void skinny_along(SIGNATURE) {
  SIDES;
  const int j = GLOBAL_ID(0) * VW;
  if (j >= wide_size) return;
  if (j + VW <= wide_size) {
    Vector sums[THIN];
    const GLOBAL STORED* factors[THIN];
#pragma unroll
    for (int i = 0; i < THIN; ++i) {
      sums[i] = SPLAT(VW, 0.0f);
      factors[i] = thin + begin_of(thin_panels, min(first + i, thin_size - 1), thin_step);
    }
    const GLOBAL STORED* from = wide + begin_of(wide_panels, j, wide_step);
    for (int k = from_k; k < to_k; ++k) {
      const Vector others = LOAD_STORED(VW, from + k * wide_depth);
#pragma unroll
      for (int i = 0; i < THIN; ++i) {
        sums[i] = MULTIPLY_ADD(SPLAT(VW, READ(factors[i], k * thin_depth)), others, sums[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < THIN; ++i) {
      if (first + i < thin_size) {
#if SPLIT == 1 && TURN == 0
        GLOBAL STORED* to = own_c + (first + i) * c_thin + j;
        if (alpha != 0.0f) {
          Vector result = SPLAT(VW, alpha) * sums[i];
          if (beta != 0.0f) result = MULTIPLY_ADD(SPLAT(VW, beta), LOAD_STORED(VW, to), result);
          STORE_STORED(VW, result, to);
          continue;
        }
#endif
        float lanes[VW];
        LANES_OF(VW, sums[i], lanes);
        for (int lane = 0; lane < VW; ++lane) KEEP(first + i, j + lane, lanes[lane]);
      }
    }
    return;
  }
  for (int here = j; here < wide_size; ++here) {
    for (int t = first; t < min(first + THIN, thin_size); ++t) {
      float sum = 0.0f;
      for (int k = from_k; k < to_k; ++k) {
        sum = MULTIPLY_ADD(READ(thin, begin_of(thin_panels, t, thin_step) + k * thin_depth),
                           READ(wide, begin_of(wide_panels, here, wide_step) + k * wide_depth), sum);
      }
      KEEP(t, here, sum);
    }
  }
}

// VW elements so far apart.
FUNCTION Vector load_apart(const GLOBAL STORED* from, const size_t apart) {
  if (apart == 1) return LOAD_STORED(VW, from);
  float lanes[VW];
#pragma unroll
  for (int lane = 0; lane < VW; ++lane) lanes[lane] = READ(from, lane * apart);
  return VECTOR_OF(VW, lanes);
}

// Where the depth lies side by side: SHARE work items take vectors of it in turn.
KERNEL WORK_GROUP(WG, 1, 1) void skinny_dot(SIGNATURE) {
  SIDES;
#if SHARE > 1
  LOCAL_ARRAY float shared[WG];
#endif
  const int item = LOCAL_ID(0) % SHARE;
  const int own = GROUP_ID(0) * (WG / SHARE) + LOCAL_ID(0) / SHARE;
  const GLOBAL STORED* others = wide + min(own, wide_size - 1) * wide_step;
  const int vectors_end = from_k + (to_k - from_k) / VW * VW;
  Vector sums[THIN];
#pragma unroll
  for (int i = 0; i < THIN; ++i) sums[i] = SPLAT(VW, 0.0f);
  for (int k = from_k + item * VW; k < vectors_end; k += SHARE * VW) {
    const Vector from_wide = LOAD_STORED(VW, others + k);
#pragma unroll
    for (int i = 0; i < THIN; ++i) {
      const int t = min(first + i, thin_size - 1);
      const GLOBAL STORED* from = thin + begin_of(thin_panels, t, thin_step) + k * thin_depth;
      sums[i] = MULTIPLY_ADD(load_apart(from, thin_depth), from_wide, sums[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < THIN; ++i) {
    const int t = min(first + i, thin_size - 1);
    float lanes[VW];
    LANES_OF(VW, sums[i], lanes);
    float sum = 0.0f;
#pragma unroll
    for (int lane = 0; lane < VW; ++lane) sum += lanes[lane];
    for (int k = vectors_end + item; k < to_k; k += SHARE) {
      sum = MULTIPLY_ADD(READ(thin, begin_of(thin_panels, t, thin_step) + k * thin_depth),
                         READ(others, k), sum);
    }
#if SHARE > 1
    shared[LOCAL_ID(0)] = sum;
    for (int half_way = SHARE / 2; half_way > 0; half_way /= 2) {
      LOCAL_BARRIER();
      if (item < half_way) shared[LOCAL_ID(0)] += shared[LOCAL_ID(0) + half_way];
    }
    sum = shared[LOCAL_ID(0)];
#endif
    if (item == 0 && own < wide_size && first + i < thin_size) KEEP(t, own, sum);
#if SHARE > 1
    LOCAL_BARRIER();
#endif
  }
}

// The parts of the depth added up.
KERNEL WORK_GROUP(WG, 1, 1)
void skinny_sum(const int M, const int N, const int form, GLOBAL STORED* RESTRICT c,
                const GLOBAL long* RESTRICT table, const float alpha, const float beta,
                const long c_offset, const int c_pad, const long c_step,
                const GLOBAL float* RESTRICT parts) {
  const int wide_size = TURN ? M : N;
  const int t = GROUP_ID(1);
  const int j = GLOBAL_ID(0);
  if (j >= wide_size) return;
  const size_t size = (size_t)M * N;
  const GLOBAL float* from =
      parts + (size_t)GROUP_ID(2) * SPLIT * size + (size_t)t * wide_size + j;
  float sum = 0.0f;
  for (int part = 0; part < SPLIT; ++part) sum += from[part * size];
  const size_t row = TURN ? j : t;
  const size_t column = TURN ? t : j;
  store(c + place(2, form, (long)M * N, c_offset, c_step, table, GROUP_ID(2)) +
            row * (N + c_pad) + column,
        alpha, beta, sum);
}
