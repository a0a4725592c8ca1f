KERNEL WORK_GROUP(WG, 1, 1) void scale(const int n, GLOBAL float* x) {
  const int i = GLOBAL_ID(0);
  if (i < n) x[i] *= 2.0f;
}
