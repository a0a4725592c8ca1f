// The portable dialect: one kernel text for OpenCL C 1.2 (no optional features) and CUDA C++
// (NVRTC, nvcc). `idletune pack` puts this in front of every source with dialect="portable";
// README.md has the table. Its own names begin with IDLETUNE_ or idletune_; a tuning parameter must
// have neither such a name nor one that is defined here.

#define IDLETUNE_JOIN_TEXT(a, b) a##b
#define JOIN(a, b) IDLETUNE_JOIN_TEXT(a, b)

// A vector of w floats, w a preprocessor number: 1 (a float), 2, 4, 8, 16. + - * work lane by lane
// between equal vectors, MULTIPLY_ADD and RSQRT too. Loads and stores need the alignment of a float
// only.
#define FLOAT_VECTOR(w) JOIN(IDLETUNE_FLOAT_, w)
#define SPLAT(w, x) JOIN(IDLETUNE_SPLAT_, w)(x)
#define LOAD_VECTOR(w, p) JOIN(IDLETUNE_LOAD_, w)(p)
#define STORE_VECTOR(w, v, p) JOIN(IDLETUNE_STORE_, w)(v, p)
// From and to an array of w floats in private memory; with constant indices, this costs nothing.
#define VECTOR_OF(w, lanes) JOIN(IDLETUNE_OF_, w)(lanes)
#define LANES_OF(w, v, lanes) JOIN(IDLETUNE_LANES_, w)(v, lanes)

#ifdef __OPENCL_VERSION__

#define KERNEL __kernel
#define FUNCTION static inline
#define GLOBAL __global
#define CONSTANT_POINTER __constant
#define LOCAL_ARRAY __local
#define LOCAL_POINTER __local
#define RESTRICT restrict
#define WORK_GROUP(x, y, z) __attribute__((reqd_work_group_size(x, y, z)))
#define GROUP_ID(axis) ((int)get_group_id(axis))
#define LOCAL_ID(axis) ((int)get_local_id(axis))
#define GLOBAL_ID(axis) ((int)get_global_id(axis))
#define GROUP_COUNT(axis) ((int)get_num_groups(axis))
#define LOCAL_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define FUSED(x, y, z) fma(x, y, z)
#ifdef FP_FAST_FMAF
#define MULTIPLY_ADD(x, y, z) fma(x, y, z)
#else
#define MULTIPLY_ADD(x, y, z) mad(x, y, z)
#endif
#define RSQRT(x) rsqrt(x)

#define IDLETUNE_FLOAT_1 float
#define IDLETUNE_FLOAT_2 float2
#define IDLETUNE_FLOAT_4 float4
#define IDLETUNE_FLOAT_8 float8
#define IDLETUNE_FLOAT_16 float16
#define IDLETUNE_SPLAT_1(x) (x)
#define IDLETUNE_SPLAT_2(x) ((float2)(x))
#define IDLETUNE_SPLAT_4(x) ((float4)(x))
#define IDLETUNE_SPLAT_8(x) ((float8)(x))
#define IDLETUNE_SPLAT_16(x) ((float16)(x))
#define IDLETUNE_LOAD_1(p) (*(p))
#define IDLETUNE_LOAD_2(p) vload2(0, p)
#define IDLETUNE_LOAD_4(p) vload4(0, p)
#define IDLETUNE_LOAD_8(p) vload8(0, p)
#define IDLETUNE_LOAD_16(p) vload16(0, p)
#define IDLETUNE_STORE_1(v, p) (*(p) = (v))
#define IDLETUNE_STORE_2(v, p) vstore2(v, 0, p)
#define IDLETUNE_STORE_4(v, p) vstore4(v, 0, p)
#define IDLETUNE_STORE_8(v, p) vstore8(v, 0, p)
#define IDLETUNE_STORE_16(v, p) vstore16(v, 0, p)
#define IDLETUNE_OF_1(lanes) (*(lanes))
#define IDLETUNE_OF_2(lanes) vload2(0, lanes)
#define IDLETUNE_OF_4(lanes) vload4(0, lanes)
#define IDLETUNE_OF_8(lanes) vload8(0, lanes)
#define IDLETUNE_OF_16(lanes) vload16(0, lanes)
#define IDLETUNE_LANES_1(v, lanes) (*(lanes) = (v))
#define IDLETUNE_LANES_2(v, lanes) vstore2(v, 0, lanes)
#define IDLETUNE_LANES_4(v, lanes) vstore4(v, 0, lanes)
#define IDLETUNE_LANES_8(v, lanes) vstore8(v, 0, lanes)
#define IDLETUNE_LANES_16(v, lanes) vstore16(v, 0, lanes)

#define ATOMIC_ADD_INT(p, x) atomic_add(p, x)
#define ATOMIC_ADD_FLOAT(p, x) idletune_atomic_add(p, x)

// OpenCL C 1.2 has no atomic addition of floats: retried until nobody came in between.
static inline void idletune_atomic_add(volatile __global float* p, float x) {
  volatile __global uint* bits = (volatile __global uint*)p;
  uint seen = atomic_or(bits, 0u);
  for (;;) {
    const uint old = seen;
    seen = atomic_cmpxchg(bits, old, as_uint(as_float(old) + x));
    if (seen == old) return;
  }
}

#else  // CUDA C++

#define KERNEL extern "C" __global__
#define FUNCTION static __device__ __forceinline__
#define GLOBAL
#define CONSTANT_POINTER const
#define LOCAL_ARRAY __shared__
#define LOCAL_POINTER
#define RESTRICT __restrict__
#define WORK_GROUP(x, y, z) __launch_bounds__((x) * (y) * (z))
#define GROUP_ID(axis) JOIN(IDLETUNE_GROUP_ID_, axis)
#define LOCAL_ID(axis) JOIN(IDLETUNE_LOCAL_ID_, axis)
#define GLOBAL_ID(axis) JOIN(IDLETUNE_GLOBAL_ID_, axis)
#define GROUP_COUNT(axis) JOIN(IDLETUNE_GROUP_COUNT_, axis)
#define IDLETUNE_GROUP_ID_0 ((int)blockIdx.x)
#define IDLETUNE_GROUP_ID_1 ((int)blockIdx.y)
#define IDLETUNE_GROUP_ID_2 ((int)blockIdx.z)
#define IDLETUNE_LOCAL_ID_0 ((int)threadIdx.x)
#define IDLETUNE_LOCAL_ID_1 ((int)threadIdx.y)
#define IDLETUNE_LOCAL_ID_2 ((int)threadIdx.z)
#define IDLETUNE_GLOBAL_ID_0 ((int)(blockIdx.x * blockDim.x + threadIdx.x))
#define IDLETUNE_GLOBAL_ID_1 ((int)(blockIdx.y * blockDim.y + threadIdx.y))
#define IDLETUNE_GLOBAL_ID_2 ((int)(blockIdx.z * blockDim.z + threadIdx.z))
#define IDLETUNE_GROUP_COUNT_0 ((int)gridDim.x)
#define IDLETUNE_GROUP_COUNT_1 ((int)gridDim.y)
#define IDLETUNE_GROUP_COUNT_2 ((int)gridDim.z)
#define LOCAL_BARRIER() __syncthreads()
#define FUSED(x, y, z) idletune_fma(x, y, z)
#define MULTIPLY_ADD(x, y, z) idletune_fma(x, y, z)
#define RSQRT(x) idletune_rsqrt(x)
#define ATOMIC_ADD_INT(p, x) atomicAdd(p, x)
#define ATOMIC_ADD_FLOAT(p, x) atomicAdd(p, x)

template <int W>
struct alignas(W < 4 ? 4 * W : 16) IdletuneVector {
  float lane[W];
};
template <int W>
FUNCTION IdletuneVector<W> operator+(IdletuneVector<W> a, IdletuneVector<W> b) {
#pragma unroll
  for (int i = 0; i < W; ++i) a.lane[i] += b.lane[i];
  return a;
}
template <int W>
FUNCTION IdletuneVector<W> operator-(IdletuneVector<W> a, IdletuneVector<W> b) {
#pragma unroll
  for (int i = 0; i < W; ++i) a.lane[i] -= b.lane[i];
  return a;
}
template <int W>
FUNCTION IdletuneVector<W> operator*(IdletuneVector<W> a, IdletuneVector<W> b) {
#pragma unroll
  for (int i = 0; i < W; ++i) a.lane[i] *= b.lane[i];
  return a;
}
FUNCTION float idletune_fma(float x, float y, float z) { return fmaf(x, y, z); }
template <int W>
FUNCTION IdletuneVector<W> idletune_fma(IdletuneVector<W> x, IdletuneVector<W> y,
                                        IdletuneVector<W> z) {
#pragma unroll
  for (int i = 0; i < W; ++i) z.lane[i] = fmaf(x.lane[i], y.lane[i], z.lane[i]);
  return z;
}
FUNCTION float idletune_rsqrt(float x) { return rsqrtf(x); }
template <int W>
FUNCTION IdletuneVector<W> idletune_rsqrt(IdletuneVector<W> x) {
#pragma unroll
  for (int i = 0; i < W; ++i) x.lane[i] = rsqrtf(x.lane[i]);
  return x;
}
template <int W>
FUNCTION IdletuneVector<W> idletune_splat(float x) {
  IdletuneVector<W> v;
#pragma unroll
  for (int i = 0; i < W; ++i) v.lane[i] = x;
  return v;
}
template <int W>
FUNCTION IdletuneVector<W> idletune_of(const float* lanes) {
  IdletuneVector<W> v;
#pragma unroll
  for (int i = 0; i < W; ++i) v.lane[i] = lanes[i];
  return v;
}
template <int W>
FUNCTION void idletune_lanes(IdletuneVector<W> v, float* lanes) {
#pragma unroll
  for (int i = 0; i < W; ++i) lanes[i] = v.lane[i];
}
// One wide access where the address allows it, which CUDA does not find out by itself.
template <int W>
FUNCTION IdletuneVector<W> idletune_load(const float* p) {
  if ((size_t)p % alignof(IdletuneVector<W>) != 0) return idletune_of<W>(p);
  IdletuneVector<W> v;
  if (W == 2) {
    const float2 part = *(const float2*)p;
    v.lane[0] = part.x, v.lane[1] = part.y;
    return v;
  }
#pragma unroll
  for (int i = 0; i + 4 <= W; i += 4) {
    const float4 part = *(const float4*)(p + i);
    v.lane[i] = part.x, v.lane[i + 1] = part.y, v.lane[i + 2] = part.z, v.lane[i + 3] = part.w;
  }
  return v;
}
template <int W>
FUNCTION void idletune_store(IdletuneVector<W> v, float* p) {
  if ((size_t)p % alignof(IdletuneVector<W>) != 0) return idletune_lanes<W>(v, p);
  if (W == 2) {
    *(float2*)p = make_float2(v.lane[0], v.lane[1]);
    return;
  }
#pragma unroll
  for (int i = 0; i + 4 <= W; i += 4) {
    *(float4*)(p + i) = make_float4(v.lane[i], v.lane[i + 1], v.lane[i + 2], v.lane[i + 3]);
  }
}

#define IDLETUNE_FLOAT_1 float
#define IDLETUNE_FLOAT_2 IdletuneVector<2>
#define IDLETUNE_FLOAT_4 IdletuneVector<4>
#define IDLETUNE_FLOAT_8 IdletuneVector<8>
#define IDLETUNE_FLOAT_16 IdletuneVector<16>
#define IDLETUNE_SPLAT_1(x) (x)
#define IDLETUNE_SPLAT_2(x) idletune_splat<2>(x)
#define IDLETUNE_SPLAT_4(x) idletune_splat<4>(x)
#define IDLETUNE_SPLAT_8(x) idletune_splat<8>(x)
#define IDLETUNE_SPLAT_16(x) idletune_splat<16>(x)
#define IDLETUNE_LOAD_1(p) (*(p))
#define IDLETUNE_LOAD_2(p) idletune_load<2>(p)
#define IDLETUNE_LOAD_4(p) idletune_load<4>(p)
#define IDLETUNE_LOAD_8(p) idletune_load<8>(p)
#define IDLETUNE_LOAD_16(p) idletune_load<16>(p)
#define IDLETUNE_STORE_1(v, p) (*(p) = (v))
#define IDLETUNE_STORE_2(v, p) idletune_store<2>(v, p)
#define IDLETUNE_STORE_4(v, p) idletune_store<4>(v, p)
#define IDLETUNE_STORE_8(v, p) idletune_store<8>(v, p)
#define IDLETUNE_STORE_16(v, p) idletune_store<16>(v, p)
#define IDLETUNE_OF_1(lanes) (*(lanes))
#define IDLETUNE_OF_2(lanes) idletune_of<2>(lanes)
#define IDLETUNE_OF_4(lanes) idletune_of<4>(lanes)
#define IDLETUNE_OF_8(lanes) idletune_of<8>(lanes)
#define IDLETUNE_OF_16(lanes) idletune_of<16>(lanes)
#define IDLETUNE_LANES_1(v, lanes) (*(lanes) = (v))
#define IDLETUNE_LANES_2(v, lanes) idletune_lanes<2>(v, lanes)
#define IDLETUNE_LANES_4(v, lanes) idletune_lanes<4>(v, lanes)
#define IDLETUNE_LANES_8(v, lanes) idletune_lanes<8>(v, lanes)
#define IDLETUNE_LANES_16(v, lanes) idletune_lanes<16>(v, lanes)

#endif
