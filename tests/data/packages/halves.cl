// y = 2 x + y, halves in memory and floats in registers.
//   WIDTH  halves of a work item

KERNEL WORK_GROUP(16, 1, 1)
void halves(const int n, const GLOBAL HALF* RESTRICT x, GLOBAL HALF* RESTRICT y) {
  const int at = GLOBAL_ID(0) * WIDTH;
  if (at + WIDTH <= n) {
    const FLOAT_VECTOR(WIDTH) both =
        MULTIPLY_ADD(SPLAT(WIDTH, 2.0f), LOAD_HALVES(WIDTH, x + at), LOAD_HALVES(WIDTH, y + at));
    STORE_HALVES(WIDTH, both, y + at);
    return;
  }
  for (int i = at; i < n; ++i) {
    STORE_HALVES(1, 2.0f * LOAD_HALVES(1, x + i) + LOAD_HALVES(1, y + i), y + i);
  }
}
