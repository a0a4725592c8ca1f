// Sums of the rows of a matrix in two launches, without atomic additions: first every group writes
// the sum of its part of a row, then one group per row adds these up: y[r] += x[r, 0] + ...
// Tuning parameters:
//   WG      work items of a group that adds up a part
//   VECTOR  floats that a work item loads at once
//   GROUPS  parts of a row
//   LAST    work items that add up the parts of a row

KERNEL WORK_GROUP(WG, 1, 1)
void parts(const int n, const GLOBAL float* RESTRICT x, GLOBAL float* RESTRICT partial) {
  LOCAL_ARRAY float scratch[WG];
  const int row = GROUP_ID(1);
  const int item = GROUP_ID(0) * WG + LOCAL_ID(0);
  const GLOBAL float* values = x + (size_t)row * n;
  const int whole = n - n % VECTOR;

  FLOAT_VECTOR(VECTOR) sums = SPLAT(VECTOR, 0.0f);
  for (int at = item * VECTOR; at < whole; at += GROUPS * WG * VECTOR) {
    sums = sums + LOAD_VECTOR(VECTOR, values + at);
  }
  float lanes[VECTOR];
  LANES_OF(VECTOR, sums, lanes);
  float sum = lanes[0];
#pragma unroll
  for (int lane = 1; lane < VECTOR; ++lane) sum += lanes[lane];
  for (int at = whole + item; at < n; at += GROUPS * WG) sum += values[at];
  sum = GROUP_SUM(sum, WG, scratch);
  if (LOCAL_ID(0) == 0) partial[row * GROUPS + GROUP_ID(0)] = sum;
}

KERNEL WORK_GROUP(LAST, 1, 1)
void whole_rows(const GLOBAL float* RESTRICT partial, GLOBAL float* RESTRICT y) {
  LOCAL_ARRAY float last[LAST];
  const int row = GROUP_ID(1);
  float sum = 0.0f;
  for (int i = LOCAL_ID(0); i < GROUPS; i += LAST) sum += partial[row * GROUPS + i];
  sum = GROUP_SUM(sum, LAST, last);
  if (LOCAL_ID(0) == 0) y[row] += sum;
}
