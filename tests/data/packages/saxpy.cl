// y = a * x + y, WPT elements per work item in vectors of VW.
__kernel void saxpy(int n, float a, __global const float* x, __global float* y) {
  const int base = get_group_id(0) * WG * WPT + get_local_id(0) * VW;
  for (int step = 0; step < WPT; step += VW) {
    for (int lane = 0; lane < VW; ++lane) {
      const int i = base + step * WG + lane;
      if (i < n) y[i] = a * x[i] + y[i];
    }
  }
}

__kernel void saxpy_reference(int n, float a, __global const float* x, __global float* y) {
  const int i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}
