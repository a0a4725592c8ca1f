// w = own w + a v[0] + b v[1] + ...: the first `count`, at most 8, of the vectors that stand one behind
// the other in `v`, `stride` numbers each.
// Tuning parameters:
//   WG  work items of a group, each of which has 4 numbers

#define ADD(width, k, factor)                                    \
  if (k < count) {                                               \
    sum = sum + REAL_SPLAT(width, factor) * REAL_LOAD(width, x); \
    x += stride;                                                 \
  }
#define COMBINE(width)                                                          \
  {                                                                             \
    const GLOBAL REAL* x = v + at;                                              \
    REAL_VECTOR(width) sum = REAL_SPLAT(width, own) * REAL_LOAD(width, w + at); \
    ADD(width, 0, a)                                                            \
    ADD(width, 1, b)                                                            \
    ADD(width, 2, c)                                                            \
    ADD(width, 3, d)                                                            \
    ADD(width, 4, e)                                                            \
    ADD(width, 5, f)                                                            \
    ADD(width, 6, g)                                                            \
    ADD(width, 7, h)                                                            \
    REAL_STORE(width, sum, w + at);                                             \
  }

KERNEL WORK_GROUP(WG, 1, 1)
void combine(const int n, const int count, const int stride, const REAL own, const REAL a,
             const REAL b, const REAL c, const REAL d, const REAL e, const REAL f, const REAL g,
             const REAL h, const GLOBAL REAL* RESTRICT v, GLOBAL REAL* RESTRICT w) {
  int at = GLOBAL_ID(0) * 4;
  if (at < n - 3) {
    COMBINE(4)
    return;
  }
  for (; at < n; ++at) COMBINE(1)
}
