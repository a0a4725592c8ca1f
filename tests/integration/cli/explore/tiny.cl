// y = 2 x. MODE says what goes wrong: see tiny.xml.
__kernel void tiny(__global const float* x, __global float* y) {
  const int i = (int)get_global_id(0);
#if MODE == 1
  // Far outside of everything: the process dies.
  *(volatile __global int*)(((size_t)1 << 46) + (size_t)i * 4) = i;
#elif MODE == 2
  y[i] = 3.0f * x[i];
  return;
#elif MODE == 3
  this is no OpenCL;
#endif
  for (int k = 0; k < WORK; ++k) {
    y[i] = 2.0f * x[i];
  }
}

__kernel void tiny_reference(__global const float* x, __global float* y) {
  const int i = (int)get_global_id(0);
  y[i] = 2.0f * x[i];
}
