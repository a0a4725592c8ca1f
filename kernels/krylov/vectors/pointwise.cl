// z = d x, element by element: a diagonal times a vector.
// Tuning parameters:
//   WG  work items of a group

KERNEL WORK_GROUP(WG, 1, 1)
void pointwise(const int n, const GLOBAL REAL* RESTRICT d, const GLOBAL REAL* RESTRICT x,
               GLOBAL REAL* RESTRICT z) {
  const int at = GLOBAL_ID(0);
  if (at < n) z[at] = d[at] * x[at];
}
