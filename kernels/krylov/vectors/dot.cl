// The inner product x . y in two steps: what is left to add up, and adding it up.
// Tuning parameters:
//   WG          work items of a group
//   LOCAL_SUMS  0: the first step leaves all products; 1: each of at most 1024 groups adds its own up
//               in local memory and leaves one number

KERNEL WORK_GROUP(WG, 1, 1)
void dot_parts(const int n, const GLOBAL REAL* RESTRICT x, const GLOBAL REAL* RESTRICT y,
               GLOBAL REAL* RESTRICT parts) {
  int at = GLOBAL_ID(0);
#if LOCAL_SUMS
  LOCAL_ARRAY REAL scratch[WG];
  const int items = GROUP_COUNT(0) * WG;
  REAL sum = 0;
  while (at < n) {
    sum += x[at] * y[at];
    at = n - at > items ? at + items : n;
  }
  sum = GROUP_SUM(sum, WG, scratch);
  if (LOCAL_ID(0) == 0) parts[GROUP_ID(0)] = sum;
#else
  if (at < n) parts[at] = x[at] * y[at];
#endif
}

// What a host does with the parts, by one work item.
KERNEL void dot_sum(const int n, const GLOBAL REAL* RESTRICT parts, GLOBAL REAL* RESTRICT sum) {
#if LOCAL_SUMS
  const int groups = n / WG + (n % WG != 0);
  const int count = groups < 1024 ? groups : 1024;
#else
  const int count = n;
#endif
  REAL total = 0;
  for (int i = 0; i < count; ++i) total += parts[i];
  *sum = total;
}

KERNEL void dot_reference(const int n, const GLOBAL REAL* RESTRICT x, const GLOBAL REAL* RESTRICT y,
                          GLOBAL REAL* RESTRICT sum) {
  REAL total = 0;
  for (int i = 0; i < n; ++i) total += x[i] * y[i];
  *sum = total;
}
