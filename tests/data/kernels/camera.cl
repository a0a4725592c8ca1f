// Pixels are blurred along a row through local memory that the host sizes, and stored as f16, i16
// and u8. BUG 1 forgets to clamp, which only bytes show.
__kernel void camera(__global const uchar* pixels, __global half* bright, __global short* signed_out,
                     __global uchar* bytes, float gain, uchar offset, int n, __local uchar* tile) {
  const int i = get_global_id(0);
  const int l = get_local_id(0);
  tile[l + 1] = i < n ? pixels[i] : 0;
  if (l == 0) tile[0] = i > 0 ? pixels[i - 1] : 0;
  if (l == WG - 1) tile[WG + 1] = i + 1 < n ? pixels[i + 1] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i >= n) return;
  const int sum = tile[l] + 2 * tile[l + 1] + tile[l + 2];
  vstore_half(gain * (float)sum, i, bright);
  signed_out[i] = (short)(sum - 512);
  const int value = sum / 4 + offset;
  bytes[i] = (uchar)(BUG == 1 ? value : min(value, 255));
}
