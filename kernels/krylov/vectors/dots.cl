// Inner products of `w`: with the first `count` of the vectors that stand one behind the other in `v`,
// `stride` numbers each, then with itself, as many of these as the range has groups along its second
// axis. A group adds up `slice` numbers, a multiple of 4 * WG, and leaves its sum in `parts`: those of
// one product next to each other, from `first` on.
// Tuning parameters:
//   WG  work items of a group, each of which takes 4 numbers at once

KERNEL WORK_GROUP(WG, 1, 1)
void dots(const int n, const int slice, const int count, const int stride,
          const GLOBAL REAL* RESTRICT v, const GLOBAL REAL* RESTRICT w, const int first,
          GLOBAL REAL* RESTRICT parts) {
  LOCAL_ARRAY REAL scratch[WG];
  const GLOBAL REAL* x = GROUP_ID(1) < count ? v : w;
  if (GROUP_ID(1) < count) {
    for (int k = 0; k < GROUP_ID(1); ++k) x += stride;
  }
  const int begin = GROUP_ID(0) * slice;
  const int numbers = n - begin < slice ? n - begin : slice;
  const GLOBAL REAL* y = w + begin;
  x += begin;
  REAL_VECTOR(4) sums = REAL_SPLAT(4, 0);
  for (int at = 4 * LOCAL_ID(0); at + 4 <= numbers; at += 4 * WG) {
    sums = sums + REAL_LOAD(4, x + at) * REAL_LOAD(4, y + at);
  }
  REAL lanes[4];
  REAL_STORE(4, sums, lanes);
  REAL sum = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  const int at = numbers / 4 * 4 + LOCAL_ID(0);
  if (at < numbers) sum += x[at] * y[at];
  sum = GROUP_SUM(sum, WG, scratch);
  if (LOCAL_ID(0) == 0) parts[first + GROUP_ID(1) * GROUP_COUNT(0) + GROUP_ID(0)] = sum;
}
