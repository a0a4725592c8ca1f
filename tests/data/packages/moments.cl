// The sums of the rows of a matrix and of their squares, in the precision that -DPRECISION says.
//   WG     work items of a row
//   WIDTH  reals that a work item loads at once
//   BOTH   1: both sums are added up at once

KERNEL WORK_GROUP(WG, 1, 1)
void moments(const int n, const GLOBAL REAL* RESTRICT x, GLOBAL REAL* RESTRICT sums) {
  LOCAL_ARRAY REAL scratch[WG * (BOTH + 1)];
  const int row = GROUP_ID(1);
  const GLOBAL REAL* values = x + (size_t)row * n;
  const int whole = n - n % WIDTH;
  REAL_VECTOR(WIDTH) wide = REAL_SPLAT(WIDTH, REAL_NUMBER(0.0));
  REAL_VECTOR(WIDTH) wide_squares = wide;
  for (int at = LOCAL_ID(0) * WIDTH; at < whole; at += WG * WIDTH) {
    const REAL_VECTOR(WIDTH) loaded = REAL_LOAD(WIDTH, values + at);
    wide = wide + loaded;
    wide_squares = MULTIPLY_ADD(loaded, loaded, wide_squares);
  }
  REAL lanes[WIDTH];
  REAL_LANES(WIDTH, wide, lanes);
  wide = REAL_OF(WIDTH, lanes);
  REAL first = REAL_NUMBER(0.0);
  REAL second = REAL_NUMBER(0.0);
  for (int lane = 0; lane < WIDTH; ++lane) first += lanes[lane];
  REAL_STORE(WIDTH, wide_squares, lanes);
  for (int lane = 0; lane < WIDTH; ++lane) second += lanes[lane];
  for (int at = whole + LOCAL_ID(0); at < n; at += WG) {
    first += values[at];
    second = MULTIPLY_ADD(values[at], values[at], second);
  }
#if BOTH
  GROUP_SUM_2(first, second, WG, scratch);
#else
  first = GROUP_SUM(first, WG, scratch);
  LOCAL_BARRIER();
  second = GROUP_SUM(second, WG, scratch);
#endif
  if (LOCAL_ID(0) == 0) {
    sums[2 * row] = first;
    sums[2 * row + 1] = second;
  }
}

KERNEL void moments_reference(const int n, const GLOBAL REAL* RESTRICT x,
                              GLOBAL REAL* RESTRICT sums) {
  const int row = GLOBAL_ID(0);
  REAL first = REAL_NUMBER(0.0);
  REAL second = REAL_NUMBER(0.0);
  for (int i = 0; i < n; ++i) {
    const REAL value = x[(size_t)row * n + i];
    first += value;
    second += value * value;
  }
  sums[2 * row] = first;
  sums[2 * row + 1] = second;
}
