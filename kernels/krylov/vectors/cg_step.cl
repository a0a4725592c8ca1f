// Of an iteration of CG all but the product: x += alpha p, r -= alpha q, p = M r + beta p, and
// what each group adds to r . r and r . M r, next to each other in `parts`.
// Tuning parameters:
//   WG     work items of a group, each of which has 8 numbers
//   CG_SUMS  1: M is the unit matrix; 2: M is `diagonal`

#define NUMBERS 8

KERNEL WORK_GROUP(WG, 1, 1)
void cg_step(const int n, const REAL alpha, const REAL beta, const GLOBAL REAL* RESTRICT diagonal,
             const GLOBAL REAL* RESTRICT q, GLOBAL REAL* RESTRICT x, GLOBAL REAL* RESTRICT r,
             GLOBAL REAL* RESTRICT p, GLOBAL REAL* RESTRICT parts) {
  LOCAL_ARRAY REAL scratch[2 * WG];
  REAL rr = 0;
  REAL rz = 0;
  for (int i = 0; i < NUMBERS; ++i) {
    const int at = (GROUP_ID(0) * NUMBERS + i) * WG + LOCAL_ID(0);
    if (at < n) {
      const REAL direction = p[at];
      const REAL rest = r[at] - alpha * q[at];
#if CG_SUMS == 2
      const REAL z = diagonal[at] * rest;
#else
      const REAL z = rest;
#endif
      x[at] += alpha * direction;
      r[at] = rest;
      p[at] = z + beta * direction;
      rr += rest * rest;
      rz += rest * z;
    }
  }
  GROUP_SUM_2(rr, rz, WG, scratch);
  if (LOCAL_ID(0) == 0) {
    parts[2 * GROUP_ID(0)] = rr;
    parts[2 * GROUP_ID(0) + 1] = rz;
  }
}
