// Sums of the rows of a matrix, added to what is there: y[r] += x[r, 0] + ... + x[r, n - 1].
// Tuning parameters:
//   WG       work items of a group
//   GROUPS   groups that share a row
//   VECTOR   floats that a work item loads at once
//   TREE     1: a group adds up in halves; 0: its first work item adds up alone
//   ATOMICS  0: one group has the row for itself; 1: one atomic addition per group; 2: one per work
//            item, without local memory

KERNEL WORK_GROUP(WG, 1, 1)
void reduction(const int rows, const int n, const GLOBAL float* RESTRICT x,
               GLOBAL float* RESTRICT y) {
#if ATOMICS < 2
  LOCAL_ARRAY float partial[WG];
#endif
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

#if ATOMICS == 2
  ATOMIC_ADD_FLOAT(y + row, sum);
#else
  const int own = LOCAL_ID(0);
  partial[own] = sum;
  LOCAL_BARRIER();
#if TREE == 1
  for (int distance = WG / 2; distance > 0; distance /= 2) {
    if (own < distance) partial[own] += partial[own + distance];
    LOCAL_BARRIER();
  }
#else
  if (own == 0) {
    for (int i = 1; i < WG; ++i) partial[0] += partial[i];
  }
#endif
  if (own == 0) {
#if ATOMICS == 1
    ATOMIC_ADD_FLOAT(y + row, partial[0]);
#else
    y[row] += partial[0];
#endif
  }
#endif
}

// One work item per row, with compensated summation (Kahan 1965).
KERNEL void reduction_reference(const int rows, const int n, const GLOBAL float* RESTRICT x,
                                GLOBAL float* RESTRICT y) {
  const int row = GLOBAL_ID(0);
  if (row >= rows) return;
  float sum = 0.0f;
  float lost = 0.0f;
  for (int i = 0; i < n; ++i) {
    const float term = x[(size_t)row * n + i] - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  y[row] += sum;
}
