// More of the portable dialect, for sources that use a name of it: reals whose precision is an
// option, halves in memory, and sums over a group.

// --- reals: float, or double with the option -DPRECISION=64 ---
#define REAL_VECTOR(w) JOIN(IDLETUNE_REAL_, w)
#define REAL_SPLAT(w, x) JOIN(IDLETUNE_REAL_SPLAT_, w)(x)
#define REAL_LOAD(w, p) JOIN(IDLETUNE_REAL_LOAD_, w)(p)
#define REAL_STORE(w, v, p) JOIN(IDLETUNE_REAL_STORE_, w)(v, p)
#define REAL_OF(w, lanes) JOIN(IDLETUNE_REAL_OF_, w)(lanes)
#define REAL_LANES(w, v, lanes) JOIN(IDLETUNE_REAL_LANES_, w)(v, lanes)

#if !defined(PRECISION) || PRECISION == 32
#define REAL float
#define REAL_NUMBER(x) JOIN(x, f)
#elif PRECISION == 64
#define REAL double
#define REAL_NUMBER(x) x
#else
#error PRECISION: expected 32 or 64
#endif

#ifdef __OPENCL_VERSION__

#if defined(PRECISION) && PRECISION == 64
#if !defined(cl_khr_fp64) && !defined(__opencl_c_fp64)
#error IDLETUNE_UNSUPPORTED: this device has no double precision
#endif
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define IDLETUNE_REAL_1 double
#define IDLETUNE_REAL_2 double2
#define IDLETUNE_REAL_4 double4
#define IDLETUNE_REAL_8 double8
#define IDLETUNE_REAL_16 double16
#else
#define IDLETUNE_REAL_1 float
#define IDLETUNE_REAL_2 float2
#define IDLETUNE_REAL_4 float4
#define IDLETUNE_REAL_8 float8
#define IDLETUNE_REAL_16 float16
#endif
#define IDLETUNE_REAL_SPLAT_1(x) (x)
#define IDLETUNE_REAL_SPLAT_2(x) ((IDLETUNE_REAL_2)(x))
#define IDLETUNE_REAL_SPLAT_4(x) ((IDLETUNE_REAL_4)(x))
#define IDLETUNE_REAL_SPLAT_8(x) ((IDLETUNE_REAL_8)(x))
#define IDLETUNE_REAL_SPLAT_16(x) ((IDLETUNE_REAL_16)(x))
// OpenCL's loads and stores of vectors know both precisions.
#define IDLETUNE_REAL_LOAD_1(p) IDLETUNE_LOAD_1(p)
#define IDLETUNE_REAL_LOAD_2(p) IDLETUNE_LOAD_2(p)
#define IDLETUNE_REAL_LOAD_4(p) IDLETUNE_LOAD_4(p)
#define IDLETUNE_REAL_LOAD_8(p) IDLETUNE_LOAD_8(p)
#define IDLETUNE_REAL_LOAD_16(p) IDLETUNE_LOAD_16(p)
#define IDLETUNE_REAL_STORE_1(v, p) IDLETUNE_STORE_1(v, p)
#define IDLETUNE_REAL_STORE_2(v, p) IDLETUNE_STORE_2(v, p)
#define IDLETUNE_REAL_STORE_4(v, p) IDLETUNE_STORE_4(v, p)
#define IDLETUNE_REAL_STORE_8(v, p) IDLETUNE_STORE_8(v, p)
#define IDLETUNE_REAL_STORE_16(v, p) IDLETUNE_STORE_16(v, p)
#define IDLETUNE_REAL_OF_1(lanes) IDLETUNE_OF_1(lanes)
#define IDLETUNE_REAL_OF_2(lanes) IDLETUNE_OF_2(lanes)
#define IDLETUNE_REAL_OF_4(lanes) IDLETUNE_OF_4(lanes)
#define IDLETUNE_REAL_OF_8(lanes) IDLETUNE_OF_8(lanes)
#define IDLETUNE_REAL_OF_16(lanes) IDLETUNE_OF_16(lanes)
#define IDLETUNE_REAL_LANES_1(v, lanes) IDLETUNE_LANES_1(v, lanes)
#define IDLETUNE_REAL_LANES_2(v, lanes) IDLETUNE_LANES_2(v, lanes)
#define IDLETUNE_REAL_LANES_4(v, lanes) IDLETUNE_LANES_4(v, lanes)
#define IDLETUNE_REAL_LANES_8(v, lanes) IDLETUNE_LANES_8(v, lanes)
#define IDLETUNE_REAL_LANES_16(v, lanes) IDLETUNE_LANES_16(v, lanes)

#else  // CUDA C++

#if defined(PRECISION) && PRECISION == 64
template <int W>
struct alignas(16) IdletuneDoubles {
  double lane[W];
};
#define IDLETUNE_LANE_BY_LANE(sign)                                                   \
  template <int W>                                                                    \
  FUNCTION IdletuneDoubles<W> operator sign(IdletuneDoubles<W> a, IdletuneDoubles<W> b) { \
    for (int i = 0; i < W; ++i) a.lane[i] = a.lane[i] sign b.lane[i];                 \
    return a;                                                                         \
  }
IDLETUNE_LANE_BY_LANE(+)
IDLETUNE_LANE_BY_LANE(-)
IDLETUNE_LANE_BY_LANE(*)
FUNCTION double idletune_fma(double x, double y, double z) { return fma(x, y, z); }
template <int W>
FUNCTION IdletuneDoubles<W> idletune_fma(IdletuneDoubles<W> x, IdletuneDoubles<W> y,
                                         IdletuneDoubles<W> z) {
#pragma unroll
  for (int i = 0; i < W; ++i) z.lane[i] = fma(x.lane[i], y.lane[i], z.lane[i]);
  return z;
}
FUNCTION double idletune_rsqrt(double x) { return rsqrt(x); }
template <int W>
FUNCTION IdletuneDoubles<W> idletune_rsqrt(IdletuneDoubles<W> x) {
#pragma unroll
  for (int i = 0; i < W; ++i) x.lane[i] = rsqrt(x.lane[i]);
  return x;
}
template <int W>
FUNCTION IdletuneDoubles<W> idletune_real_splat(double x) {
  IdletuneDoubles<W> v;
#pragma unroll
  for (int i = 0; i < W; ++i) v.lane[i] = x;
  return v;
}
template <int W>
FUNCTION IdletuneDoubles<W> idletune_real_of(const double* lanes) {
  IdletuneDoubles<W> v;
#pragma unroll
  for (int i = 0; i < W; ++i) v.lane[i] = lanes[i];
  return v;
}
template <int W>
FUNCTION void idletune_real_lanes(IdletuneDoubles<W> v, double* lanes) {
#pragma unroll
  for (int i = 0; i < W; ++i) lanes[i] = v.lane[i];
}
template <int W>
FUNCTION IdletuneDoubles<W> idletune_real_load(const double* p) {
  if ((size_t)p % 16 != 0) return idletune_real_of<W>(p);
  IdletuneDoubles<W> v;
#pragma unroll
  for (int i = 0; i < W; i += 2) {
    const double2 part = *(const double2*)(p + i);
    v.lane[i] = part.x, v.lane[i + 1] = part.y;
  }
  return v;
}
template <int W>
FUNCTION void idletune_real_store(IdletuneDoubles<W> v, double* p) {
  if ((size_t)p % 16 != 0) return idletune_real_lanes<W>(v, p);
#pragma unroll
  for (int i = 0; i < W; i += 2) *(double2*)(p + i) = make_double2(v.lane[i], v.lane[i + 1]);
}
#define IDLETUNE_REAL_1 double
#define IDLETUNE_REAL_2 IdletuneDoubles<2>
#define IDLETUNE_REAL_4 IdletuneDoubles<4>
#define IDLETUNE_REAL_8 IdletuneDoubles<8>
#define IDLETUNE_REAL_16 IdletuneDoubles<16>
#else
template <int W>
FUNCTION IdletuneVector<W> idletune_real_splat(float x) { return idletune_splat<W>(x); }
template <int W>
FUNCTION IdletuneVector<W> idletune_real_of(const float* lanes) { return idletune_of<W>(lanes); }
template <int W>
FUNCTION void idletune_real_lanes(IdletuneVector<W> v, float* lanes) {
  idletune_lanes<W>(v, lanes);
}
template <int W>
FUNCTION IdletuneVector<W> idletune_real_load(const float* p) { return idletune_load<W>(p); }
template <int W>
FUNCTION void idletune_real_store(IdletuneVector<W> v, float* p) { idletune_store<W>(v, p); }
#define IDLETUNE_REAL_1 float
#define IDLETUNE_REAL_2 IdletuneVector<2>
#define IDLETUNE_REAL_4 IdletuneVector<4>
#define IDLETUNE_REAL_8 IdletuneVector<8>
#define IDLETUNE_REAL_16 IdletuneVector<16>
#endif
#define IDLETUNE_REAL_SPLAT_1(x) (x)
#define IDLETUNE_REAL_SPLAT_2(x) idletune_real_splat<2>(x)
#define IDLETUNE_REAL_SPLAT_4(x) idletune_real_splat<4>(x)
#define IDLETUNE_REAL_SPLAT_8(x) idletune_real_splat<8>(x)
#define IDLETUNE_REAL_SPLAT_16(x) idletune_real_splat<16>(x)
#define IDLETUNE_REAL_LOAD_1(p) (*(p))
#define IDLETUNE_REAL_LOAD_2(p) idletune_real_load<2>(p)
#define IDLETUNE_REAL_LOAD_4(p) idletune_real_load<4>(p)
#define IDLETUNE_REAL_LOAD_8(p) idletune_real_load<8>(p)
#define IDLETUNE_REAL_LOAD_16(p) idletune_real_load<16>(p)
#define IDLETUNE_REAL_STORE_1(v, p) (*(p) = (v))
#define IDLETUNE_REAL_STORE_2(v, p) idletune_real_store<2>(v, p)
#define IDLETUNE_REAL_STORE_4(v, p) idletune_real_store<4>(v, p)
#define IDLETUNE_REAL_STORE_8(v, p) idletune_real_store<8>(v, p)
#define IDLETUNE_REAL_STORE_16(v, p) idletune_real_store<16>(v, p)
#define IDLETUNE_REAL_OF_1(lanes) (*(lanes))
#define IDLETUNE_REAL_OF_2(lanes) idletune_real_of<2>(lanes)
#define IDLETUNE_REAL_OF_4(lanes) idletune_real_of<4>(lanes)
#define IDLETUNE_REAL_OF_8(lanes) idletune_real_of<8>(lanes)
#define IDLETUNE_REAL_OF_16(lanes) idletune_real_of<16>(lanes)
#define IDLETUNE_REAL_LANES_1(v, lanes) (*(lanes) = (v))
#define IDLETUNE_REAL_LANES_2(v, lanes) idletune_real_lanes<2>(v, lanes)
#define IDLETUNE_REAL_LANES_4(v, lanes) idletune_real_lanes<4>(v, lanes)
#define IDLETUNE_REAL_LANES_8(v, lanes) idletune_real_lanes<8>(v, lanes)
#define IDLETUNE_REAL_LANES_16(v, lanes) idletune_real_lanes<16>(v, lanes)

#endif

// --- halves in memory, floats in registers ---
// A vector of w floats from w halves and back, rounded to the nearest; p is a GLOBAL HALF*.
#define LOAD_HALVES(w, p) JOIN(IDLETUNE_LOAD_HALVES_, w)(p)
#define STORE_HALVES(w, v, p) JOIN(IDLETUNE_STORE_HALVES_, w)(v, p)

#ifdef __OPENCL_VERSION__

#define HALF half
#define IDLETUNE_LOAD_HALVES_1(p) vload_half(0, p)
#define IDLETUNE_LOAD_HALVES_2(p) vload_half2(0, p)
#define IDLETUNE_LOAD_HALVES_4(p) vload_half4(0, p)
#define IDLETUNE_LOAD_HALVES_8(p) vload_half8(0, p)
#define IDLETUNE_LOAD_HALVES_16(p) vload_half16(0, p)
#define IDLETUNE_STORE_HALVES_1(v, p) vstore_half_rte(v, 0, p)
#define IDLETUNE_STORE_HALVES_2(v, p) vstore_half2_rte(v, 0, p)
#define IDLETUNE_STORE_HALVES_4(v, p) vstore_half4_rte(v, 0, p)
#define IDLETUNE_STORE_HALVES_8(v, p) vstore_half8_rte(v, 0, p)
#define IDLETUNE_STORE_HALVES_16(v, p) vstore_half16_rte(v, 0, p)

#else

// CUDA's own type stands in a header that boards need not have.
struct alignas(2) IdletuneHalf {
  unsigned short bits;
};
#define HALF IdletuneHalf
FUNCTION float idletune_load_half(const IdletuneHalf* p) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(p->bits));
  return x;
}
FUNCTION void idletune_store_half(float x, IdletuneHalf* p) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(p->bits) : "f"(x));
}
template <int W>
FUNCTION IdletuneVector<W> idletune_load_halves(const IdletuneHalf* p) {
  IdletuneVector<W> v;
#pragma unroll
  for (int i = 0; i < W; ++i) v.lane[i] = idletune_load_half(p + i);
  return v;
}
template <int W>
FUNCTION void idletune_store_halves(IdletuneVector<W> v, IdletuneHalf* p) {
#pragma unroll
  for (int i = 0; i < W; ++i) idletune_store_half(v.lane[i], p + i);
}
#define IDLETUNE_LOAD_HALVES_1(p) idletune_load_half(p)
#define IDLETUNE_LOAD_HALVES_2(p) idletune_load_halves<2>(p)
#define IDLETUNE_LOAD_HALVES_4(p) idletune_load_halves<4>(p)
#define IDLETUNE_LOAD_HALVES_8(p) idletune_load_halves<8>(p)
#define IDLETUNE_LOAD_HALVES_16(p) idletune_load_halves<16>(p)
#define IDLETUNE_STORE_HALVES_1(v, p) idletune_store_half(v, p)
#define IDLETUNE_STORE_HALVES_2(v, p) idletune_store_halves<2>(v, p)
#define IDLETUNE_STORE_HALVES_4(v, p) idletune_store_halves<4>(v, p)
#define IDLETUNE_STORE_HALVES_8(v, p) idletune_store_halves<8>(v, p)
#define IDLETUNE_STORE_HALVES_16(v, p) idletune_store_halves<16>(v, p)

#endif

// --- sums over a group of one axis ---
// x of all `items` work items added up, for all of them; x and y at once. All items must arrive.
// `scratch` is a LOCAL_ARRAY of `items` reals, for two sums of 2 * items; it may be used again
// after a LOCAL_BARRIER().
#define GROUP_SUM(x, items, scratch) idletune_group_sum(x, items, scratch)
#define GROUP_SUM_2(x, y, items, scratch) idletune_group_sum_2(&(x), &(y), items, scratch)

// Adds up over neighbours without local memory first, in CUDA's warps unless SUB_GROUPS is 0, and
// in OpenCL's sub-groups where SUB_GROUPS is 1 and the compiler knows any (some know functions that
// their device has not: a parameter for tuning). The first neighbour has the sum.
#if !defined(__OPENCL_VERSION__) && (!defined(SUB_GROUPS) || SUB_GROUPS)
#define IDLETUNE_PART (LOCAL_ID(0) / 32)
#define IDLETUNE_PARTS(items) (((items) + 31) / 32)
#define IDLETUNE_FIRST_OF_PART (LOCAL_ID(0) % 32 == 0)
FUNCTION REAL idletune_part_sum(REAL x, int items) {
  const int there = items % 32;  // neighbours of the last warp, if that is not full
  if (there == 0 || LOCAL_ID(0) < items - there) {
    for (int distance = 16; distance > 0; distance /= 2) {
      x += __shfl_down_sync(0xffffffffu, x, distance);
    }
    return x;
  }
  // What a neighbour has that there is not is undefined: who would ask one asks itself.
  const int own = LOCAL_ID(0) % 32;
  for (int distance = 16; distance > 0; distance /= 2) {
    const int from = own + distance < there ? own + distance : own;
    const REAL other = __shfl_sync((1u << there) - 1u, x, from);
    if (from != own) x += other;
  }
  return x;
}
#elif defined(__OPENCL_VERSION__) && defined(SUB_GROUPS) && SUB_GROUPS && \
    (defined(__opencl_c_subgroups) || defined(cl_khr_subgroups) || defined(cl_intel_subgroups))
#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#endif
#define IDLETUNE_PART ((int)get_sub_group_id())
#define IDLETUNE_PARTS(items) ((int)get_num_sub_groups())
#define IDLETUNE_FIRST_OF_PART (get_sub_group_local_id() == 0)
#define idletune_part_sum(x, items) sub_group_reduce_add(x)
#else
#define IDLETUNE_PART LOCAL_ID(0)
#define IDLETUNE_PARTS(items) (items)
#define IDLETUNE_FIRST_OF_PART 1
#define idletune_part_sum(x, items) (x)
#endif

FUNCTION REAL idletune_group_sum(REAL x, int items, LOCAL_POINTER REAL* scratch) {
  const int own = LOCAL_ID(0);
  const REAL sum = idletune_part_sum(x, items);
  if (IDLETUNE_FIRST_OF_PART) scratch[IDLETUNE_PART] = sum;
  LOCAL_BARRIER();
  for (int left = IDLETUNE_PARTS(items); left > 1;) {
    const int kept = (left + 1) / 2;
    if (own < left - kept) scratch[own] += scratch[own + kept];
    LOCAL_BARRIER();
    left = kept;
  }
  return scratch[0];
}
FUNCTION void idletune_group_sum_2(REAL* x, REAL* y, int items, LOCAL_POINTER REAL* scratch) {
  const int own = LOCAL_ID(0);
  const REAL first = idletune_part_sum(*x, items);
  const REAL second = idletune_part_sum(*y, items);
  if (IDLETUNE_FIRST_OF_PART) {
    scratch[2 * IDLETUNE_PART] = first;
    scratch[2 * IDLETUNE_PART + 1] = second;
  }
  LOCAL_BARRIER();
  for (int left = IDLETUNE_PARTS(items); left > 1;) {
    const int kept = (left + 1) / 2;
    if (own < left - kept) {
      scratch[2 * own] += scratch[2 * (own + kept)];
      scratch[2 * own + 1] += scratch[2 * (own + kept) + 1];
    }
    LOCAL_BARRIER();
    left = kept;
  }
  *x = scratch[0];
  *y = scratch[1];
}
