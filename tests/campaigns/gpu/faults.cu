// What drivers must survive: BEHAVIOUR says how a configuration goes wrong.
extern "C" __global__ void scale(float* out, const float* in, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#if BEHAVIOUR == 1
  out = (float*)16;
#endif
#if BEHAVIOUR == 3
  while (*(volatile const float*)in > 0.0f) {
  }
#endif
  if (i < n) out[i] = factor * in[i];
#if BEHAVIOUR == 2
  if (i == n - 1) out[i] += 1.0f;
#endif
}
