// What instructions compute, against the host: each on some thousand operands, the awkward ones
// among them. IDLETUNE_PTX_SEED chooses others.
#include <doctest/doctest.h>

#include <cfenv>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "models/core/random.hpp"
#include "tests/unit/emulated_cuda/kernel_runs.hpp"

using namespace emulated_cuda;
using idletune::Random;

// Expected values are written as plainly as the host computes them.
#pragma GCC diagnostic ignored "-Wconversion"

namespace {

using U16 = std::uint16_t;
using S16 = std::int16_t;
using U32 = std::uint32_t;
using S32 = std::int32_t;
using U64 = std::uint64_t;
using S64 = std::int64_t;

constexpr unsigned kBlocks = 16;
constexpr unsigned kThreads = 1024;
constexpr std::size_t kOperands = std::size_t{kBlocks} * kThreads;

std::uint64_t seed() {
  const char* text = std::getenv("IDLETUNE_PTX_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20261126;
}

template <class T>
const char* register_of() {
  if constexpr (std::is_same_v<T, float>) return "%f";
  if constexpr (std::is_same_v<T, double>) return "%fd";
  return sizeof(T) == 2 ? "%rs" : sizeof(T) == 4 ? "%r" : "%rd";
}
template <class T>
std::string memory_type() {
  const std::string letter = std::is_floating_point_v<T> ? "f" : "b";
  return letter + std::to_string(8 * sizeof(T));
}

template <class T>
T from_bits(U64 bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Zeros, ones, ends of ranges, subnormal numbers, what is no number; else any bits, and numbers near
// one another.
template <class T>
T operand(Random& random) {
  const U64 kind = random.next() % 8;
  if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    const T specials[] = {0,
                          -T{0},
                          1,
                          -1,
                          Limits::infinity(),
                          -Limits::infinity(),
                          Limits::quiet_NaN(),
                          Limits::denorm_min(),
                          -Limits::min() / 2,
                          Limits::max(),
                          T{0.5},
                          T{-2.5},
                          T{3.5},
                          T(2147483647.5),
                          T(-2147483649.0),
                          T(1e19)};
    if (kind == 0) return specials[random.next() % std::size(specials)];
    if (kind < 5) return static_cast<T>(random.uniform() * 200 - 100);
  } else {
    const T specials[] = {0,
                          1,
                          static_cast<T>(-1),
                          std::numeric_limits<T>::min(),
                          std::numeric_limits<T>::max(),
                          31,
                          32,
                          63,
                          64};
    if (kind < 3) return specials[random.next() % std::size(specials)];
    if (kind < 5) return static_cast<T>(random.next() % 70);
  }
  return from_bits<T>(random.next());
}

template <class R>
bool agree(R got, R expected, double relative) {
  if (std::memcmp(&got, &expected, sizeof got) == 0) return true;
  if constexpr (std::is_floating_point_v<R>) {
    if (got != got && expected != expected) return true;
    if (relative > 0)
      return std::fabs(got - expected) <= static_cast<R>(relative) * std::fabs(expected);
  }
  return false;
}

std::string with(std::string text, char letter, const std::string& name) {
  for (std::size_t at = 0; (at = text.find(letter, at)) != std::string::npos;) {
    text.replace(at, 1, name);
    at += name.size();
  }
  return text;
}

// `instruction` has D for the result, which is an R, and X, Y, Z for operands, which are As, Bs and Cs.
template <class R, class A, class B, class C, class Expected>
void check(const std::string& instruction, Expected expected, double relative = 0) {
  CAPTURE(instruction);
  Random random(seed());
  std::vector<A> a(kOperands);
  std::vector<B> b(kOperands);
  std::vector<C> c(kOperands);
  for (std::size_t i = 0; i < kOperands; ++i) {
    a[i] = operand<A>(random);
    b[i] = operand<B>(random);
    c[i] = operand<C>(random);
  }
  TestDevice device;
  const std::uint64_t addresses[] = {device.upload(a), device.upload(b), device.upload(c),
                                     device.allocate(kOperands * sizeof(R))};
  std::string body = "mov.u32 %r10, %ctaid.x; mad.lo.s32 %r10, %r10, 1024, %r0;\n";
  const auto place = [&](const char* pointer, std::size_t bytes) {
    body += "mul.wide.u32 %rd10, %r10, " + std::to_string(bytes) + "; add.s64 %rd11, " + pointer +
            ", %rd10;\n";
  };
  const auto load = [&](const char* pointer, std::size_t bytes, const std::string& type,
                        const std::string& name) {
    place(pointer, bytes);
    body += "ld.global." + type + " " + name + ", [%rd11];\n";
  };
  const std::string x = register_of<A>() + std::string("5");
  const std::string y = register_of<B>() + std::string("6");
  const std::string z = register_of<C>() + std::string("7");
  const std::string result = register_of<R>() + std::string("8");
  load("%rd1", sizeof(A), memory_type<A>(), x);
  load("%rd2", sizeof(B), memory_type<B>(), y);
  load("%rd3", sizeof(C), memory_type<C>(), z);
  body += with(with(with(with(instruction, 'D', result), 'X', x), 'Y', y), 'Z', z) + "\n";
  place("%rd4", sizeof(R));
  body += "st.global." + memory_type<R>() + " [%rd11], " + result + ";";
  REQUIRE(device.run(kernel_ptx(4, body), kBlocks, kThreads,
                     {addresses[0], addresses[1], addresses[2], addresses[3]}) == 0);
  CHECK(device.found() == "");
  const std::vector<R> got = device.download<R>(addresses[3]);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kOperands; ++i) {
    const R wanted = expected(a[i], b[i], c[i]);
    if (agree<R>(got[i], wanted, relative)) continue;
    if (++wrong == 1)
      MESSAGE(i << ": " << a[i] << ", " << b[i] << ", " << c[i] << ": " << got[i] << ", expected "
                << wanted);
  }
  CHECK(wrong == 0);
}

float flush(float x) { return std::fabs(x) < FLT_MIN ? std::copysign(0.0f, x) : x; }

template <class T>
T smaller(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <class T>
void check_floats(const std::string& type, double relative) {
  check<T, T, T, T>("add." + type + " D, X, Y;", [](T a, T b, T) { return a + b; });
  check<T, T, T, T>("sub." + type + " D, X, Y;", [](T a, T b, T) { return a - b; });
  check<T, T, T, T>("mul." + type + " D, X, Y;", [](T a, T b, T) { return a * b; });
  check<T, T, T, T>("fma.rn." + type + " D, X, Y, Z;",
                    [](T a, T b, T c) { return std::fma(a, b, c); });
  check<T, T, T, T>("div.rn." + type + " D, X, Y;", [](T a, T b, T) { return a / b; });
  check<T, T, T, T>("rcp.rn." + type + " D, X;", [](T a, T, T) { return 1 / a; });
  check<T, T, T, T>("sqrt.rn." + type + " D, X;", [](T a, T, T) { return std::sqrt(a); });
  check<T, T, T, T>("min." + type + " D, X, Y;", [](T a, T b, T) { return smaller(a, b); });
  check<T, T, T, T>("max." + type + " D, X, Y;", [](T a, T b, T) { return -smaller(-a, -b); });
  check<T, T, T, T>("neg." + type + " D, X;", [](T a, T, T) { return -a; });
  check<T, T, T, T>("abs." + type + " D, X;", [](T a, T, T) { return std::fabs(a); });
  check<T, T, T, T>("copysign." + type + " D, X, Y;",
                    [](T a, T b, T) { return std::copysign(b, a); });
  check<T, T, T, T>(
      "rsqrt.approx." + type + " D, X;", [](T a, T, T) { return 1 / std::sqrt(a); }, relative);
}

template <class T>
void check_integers(const std::string& type) {
  using U = std::make_unsigned_t<T>;
  check<T, T, T, T>("add." + type + " D, X, Y;", [](T a, T b, T) { return T(U(U(a) + U(b))); });
  check<T, T, T, T>("sub." + type + " D, X, Y;", [](T a, T b, T) { return T(U(U(a) - U(b))); });
  check<T, T, T, T>("mul.lo." + type + " D, X, Y;",
                    [](T a, T b, T) { return T(U(U64(a) * U64(b))); });
  check<T, T, T, T>("mad.lo." + type + " D, X, Y, Z;",
                    [](T a, T b, T c) { return T(U(U64(a) * U64(b) + U64(c))); });
  check<T, T, T, T>("min." + type + " D, X, Y;", [](T a, T b, T) { return std::min(a, b); });
  check<T, T, T, T>("max." + type + " D, X, Y;", [](T a, T b, T) { return std::max(a, b); });
  // The divisor is made odd, so that it is never 0.
  const std::string bits = std::to_string(8 * sizeof(T));
  const auto odd = [](T b) { return T(b | 1); };
  const std::string make_odd = "or.b" + bits + " Y, Y, 1; ";
  check<T, T, T, T>(make_odd + "div." + type + " D, X, Y;", [=](T a, T b, T) {
    return odd(b) == T(-1) ? T(U(0 - U(a))) * (std::is_signed_v<T> ? 1 : 0) +
                                 (std::is_signed_v<T> ? T{0} : T(a / odd(b)))
                           : T(a / odd(b));
  });
  check<T, T, T, T>(make_odd + "rem." + type + " D, X, Y;", [=](T a, T b, T) {
    return std::is_signed_v<T> && odd(b) == T(-1) ? T{0} : T(a % odd(b));
  });
}

// The upper half of a product, from products of halves.
U64 high_product(U64 a, U64 b) {
  const U64 a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
  const U64 middle = a1 * b0 + (a0 * b0 >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & 0xffffffff)) >> 32);
}
S64 high_product(S64 a, S64 b) {
  U64 high = high_product(U64(a), U64(b));
  if (a < 0) high -= U64(b);
  if (b < 0) high -= U64(a);
  return S64(high);
}

template <class To, class From>
To clamped(From value) {
  if (value != value) return 0;
  const long double exact = static_cast<long double>(value);
  if (exact <= static_cast<long double>(std::numeric_limits<To>::min())) {
    return std::numeric_limits<To>::min();
  }
  if (exact >= static_cast<long double>(std::numeric_limits<To>::max())) {
    return std::numeric_limits<To>::max();
  }
  return static_cast<To>(exact);
}

}  // namespace

TEST_CASE("arithmetic in single precision is the host's") {
  check_floats<float>("f32", 0x1p-22);
  check<float, float, float, float>("fma.rn.ftz.f32 D, X, Y, Z;", [](float a, float b, float c) {
    return flush(std::fma(flush(a), flush(b), flush(c)));
  });
  check<float, float, float, float>(
      "add.ftz.f32 D, X, Y;", [](float a, float b, float) { return flush(flush(a) + flush(b)); });
  check<float, float, float, float>("mul.sat.f32 D, X, Y;", [](float a, float b, float) {
    const float product = a * b;
    return product > 0 ? std::min(product, 1.0f) : 0.0f;
  });
  float (*volatile host)(float, float, float) = std::fmaf;  // not before the mode is set
  check<float, float, float, float>("fma.rm.f32 D, X, Y, Z;", [&](float a, float b, float c) {
    std::fesetround(FE_DOWNWARD);
    const float sum = host(a, b, c);
    std::fesetround(FE_TONEAREST);
    return sum;
  });
}

TEST_CASE("arithmetic in double precision is the host's") { check_floats<double>("f64", 0x1p-50); }

// PTX's manual, "Floating Point Instructions": the error of each approximation.
TEST_CASE("approximations are within their documented error") {
  const auto f = [](double (*function)(double)) {
    return [function](float a, float, float) {
      return static_cast<float>(function(static_cast<double>(a)));
    };
  };
  check<float, float, float, float>("ex2.approx.f32 D, X;", f(std::exp2), 0x1p-22);
  check<float, float, float, float>("lg2.approx.f32 D, X;", f(std::log2), 0x1p-22);
  check<float, float, float, float>(
      "rcp.approx.ftz.f32 D, X;", [](float a, float, float) { return flush(1 / flush(a)); },
      0x1p-23);
  check<float, float, float, float>(
      "sqrt.approx.f32 D, X;", [](float a, float, float) { return std::sqrt(a); }, 0x1p-23);
  check<float, float, float, float>(
      "div.approx.f32 D, X, Y;", [](float a, float b, float) { return a / b; }, 0x1p-22);
  check<float, float, float, float>("tanh.approx.f32 D, X;", f(std::tanh), 0x1p-11);
}

TEST_CASE("arithmetic on integers is the host's, and wraps around") {
  check_integers<S16>("s16");
  check_integers<U16>("u16");
  check_integers<S32>("s32");
  check_integers<U32>("u32");
  check_integers<S64>("s64");
  check_integers<U64>("u64");
}

TEST_CASE("products have an upper half, and a whole of twice the bits") {
  check<S64, S64, S64, S64>("mul.hi.s64 D, X, Y;",
                            [](S64 a, S64 b, S64) { return high_product(a, b); });
  check<U64, U64, U64, U64>("mul.hi.u64 D, X, Y;",
                            [](U64 a, U64 b, U64) { return high_product(a, b); });
  check<S32, S32, S32, S32>("mul.hi.s32 D, X, Y;",
                            [](S32 a, S32 b, S32) { return S32(S64(a) * b >> 32); });
  check<U32, U32, U32, U32>("mad.hi.u32 D, X, Y, Z;",
                            [](U32 a, U32 b, U32 c) { return U32(U64(a) * b >> 32) + c; });
  check<S64, S32, S32, S64>("mul.wide.s32 D, X, Y;", [](S32 a, S32 b, S64) { return S64(a) * b; });
  check<U64, U32, U32, U64>("mad.wide.u32 D, X, Y, Z;",
                            [](U32 a, U32 b, U64 c) { return U64(a) * b + c; });
  check<S32, S16, S16, S32>("mul.wide.s16 D, X, Y;", [](S16 a, S16 b, S32) { return S32(a) * b; });
  check<U32, U16, U16, U32>("mul.wide.u16 D, X, Y;", [](U16 a, U16 b, U32) { return U32(a) * b; });
}

TEST_CASE("shifts by more than there are bits leave zeros or signs") {
  check<U32, U32, U32, U32>("shl.b32 D, X, Y;",
                            [](U32 a, U32 n, U32) { return n > 31 ? 0 : a << n; });
  check<U64, U64, U32, U32>("shl.b64 D, X, Y;",
                            [](U64 a, U32 n, U32) { return n > 63 ? 0 : a << n; });
  check<U64, U64, U32, U32>("shr.u64 D, X, Y;",
                            [](U64 a, U32 n, U32) { return n > 63 ? 0 : a >> n; });
  check<S32, S32, U32, U32>("shr.s32 D, X, Y;",
                            [](S32 a, U32 n, U32) { return a >> std::min(n, 31u); });
  check<S64, S64, U32, U32>("shr.s64 D, X, Y;",
                            [](S64 a, U32 n, U32) { return a >> std::min(n, 63u); });
  check<U16, U16, U32, U32>("shr.u16 D, X, Y;",
                            [](U16 a, U32 n, U32) { return n > 15 ? U16{0} : U16(a >> n); });
  check<U32, U32, U32, U32>("shf.l.wrap.b32 D, X, Y, Z;", [](U32 low, U32 high, U32 n) {
    return (n & 31) == 0 ? high : high << (n & 31) | low >> (32 - (n & 31));
  });
  check<U32, U32, U32, U32>("shf.r.clamp.b32 D, X, Y, Z;", [](U32 low, U32 high, U32 n) {
    return n == 0 ? low : n > 31 ? high : low >> n | high << (32 - n);
  });
}

TEST_CASE("bits are combined, counted, turned and cut out") {
  check<U32, U32, U32, U32>("lop3.b32 D, X, Y, Z, 0xe2;",
                            [](U32 a, U32 b, U32 c) { return (a & b) | (~b & c); });
  check<U32, U32, U32, U32>("xor.b32 D, X, Y; not.b32 D, D; and.b32 D, D, Z;",
                            [](U32 a, U32 b, U32 c) { return ~(a ^ b) & c; });
  check<U32, U64, U32, U32>("popc.b64 D, X;",
                            [](U64 a, U32, U32) { return U32(__builtin_popcountll(a)); });
  check<U32, U32, U32, U32>("clz.b32 D, X;",
                            [](U32 a, U32, U32) { return a == 0 ? 32u : U32(__builtin_clz(a)); });
  check<U32, U64, U32, U32>("clz.b64 D, X;",
                            [](U64 a, U32, U32) { return a == 0 ? 64u : U32(__builtin_clzll(a)); });
  check<U32, U32, U32, U32>("brev.b32 D, X;", [](U32 a, U32, U32) {
    U32 turned = 0;
    for (int i = 0; i < 32; ++i) turned |= (a >> i & 1) << (31 - i);
    return turned;
  });
  check<U32, U32, U32, U32>("prmt.b32 D, X, Y, 0x6a31;", [](U32 a, U32 b, U32) {
    const U32 sign = (a >> 23 & 1) != 0 ? 0xff : 0;  // a: byte 2's, repeated
    return (a >> 8 & 0xff) | (a >> 24) << 8 | sign << 16 | (b >> 16 & 0xff) << 24;
  });
  check<U32, U32, U32, U32>("bfe.u32 D, X, 5, 11;", [](U32 a, U32, U32) { return a >> 5 & 0x7ff; });
  check<S32, S32, U32, U32>("bfe.s32 D, X, 5, 11;",
                            [](S32 a, U32, U32) { return S32(U32(a) << 16) >> 21; });
  check<U32, U32, U32, U32>("bfi.b32 D, X, Y, 5, 11;", [](U32 a, U32 b, U32) {
    return (b & ~(0x7ffu << 5)) | (a & 0x7ff) << 5;
  });
}

TEST_CASE("comparisons with what is no number are false, or true where they end in u") {
  const std::string select = " D, X, Y, %p1;";
  check<float, float, float, float>("setp.lt.f32 %p1, X, Y; selp.f32" + select,
                                    [](float a, float b, float) { return a < b ? a : b; });
  check<float, float, float, float>("setp.geu.f32 %p1, X, Y; selp.f32" + select,
                                    [](float a, float b, float) { return !(a < b) ? a : b; });
  check<double, double, double, double>("setp.neu.f64 %p1, X, Y; selp.f64" + select,
                                        [](double a, double b, double) { return a != b ? a : b; });
  check<float, float, float, float>("setp.ne.f32 %p1, X, Y; selp.f32" + select,
                                    [](float a, float b, float) { return a < b || a > b ? a : b; });
  check<S32, S32, S32, S32>("setp.lt.s32 %p1|%p2, X, Y; selp.b32 D, X, Y, %p2;",
                            [](S32 a, S32 b, S32) { return a < b ? b : a; });
  check<U32, U32, U32, U32>(
      "setp.eq.u32 %p3, Z, 0; setp.hs.and.u32 %p1, X, Y, !%p3; selp.b32" + select,
      [](U32 a, U32 b, U32 c) { return a >= b && c != 0 ? a : b; });
  check<U64, U64, U64, U64>("setp.gt.u64 %p1, X, Y; @%p1 mov.u64 D, X; @!%p1 mov.u64 D, Y;",
                            [](U64 a, U64 b, U64) { return std::max(a, b); });
}

namespace {

// Of one type, all comparisons: those that end in u are true of what is no number.
template <class T>
void check_comparisons(const std::string& type) {
  const auto compare = [&](const char* name, bool (*is)(T, T)) {
    check<U32, T, T, T>(
        std::string("setp.") + name + "." + type + " %p1, X, Y; selp.u32 D, 1, 0, %p1;",
        [is](T a, T b, T) { return is(a, b) ? 1u : 0u; });
  };
  compare("eq", [](T a, T b) { return a == b; });
  compare("lt", [](T a, T b) { return a < b; });
  compare("le", [](T a, T b) { return a <= b; });
  compare("gt", [](T a, T b) { return a > b; });
  compare("ge", [](T a, T b) { return a >= b; });
  if constexpr (!std::is_floating_point_v<T>) {
    compare("ne", [](T a, T b) { return a != b; });
  } else {
    compare("ne", [](T a, T b) { return a < b || a > b; });
    compare("equ", [](T a, T b) { return !(a < b || a > b); });
    compare("neu", [](T a, T b) { return a != b; });
    compare("ltu", [](T a, T b) { return !(a >= b); });
    compare("leu", [](T a, T b) { return !(a > b); });
    compare("gtu", [](T a, T b) { return !(a <= b); });
    compare("geu", [](T a, T b) { return !(a < b); });
    compare("num", [](T a, T b) { return a == a && b == b; });
    compare("nan", [](T a, T b) { return a != a || b != b; });
  }
}

}  // namespace

TEST_CASE("every comparison of every type is the host's") {
  check_comparisons<float>("f32");
  check_comparisons<double>("f64");
  check_comparisons<S16>("s16");
  check_comparisons<U16>("u16");
  check_comparisons<S32>("s32");
  check_comparisons<U32>("u32");
  check_comparisons<S64>("s64");
  check_comparisons<U64>("u64");
}

TEST_CASE("integers are widened, cut off and combined in each width") {
  check<U16, U32, U32, U32>("cvt.u16.u32 D, X;", [](U32 a, U32, U32) { return U16(a); });
  check<U32, U64, U32, U32>("cvt.u32.u64 D, X;", [](U64 a, U32, U32) { return U32(a); });
  check<U64, U16, U32, U32>("cvt.u64.u16 D, X;", [](U16 a, U32, U32) { return U64(a); });
  check<U64, U32, U32, U32>("cvt.u64.u32 D, X;", [](U32 a, U32, U32) { return U64(a); });
  check<U16, U16, U16, U16>("and.b16 D, X, Y;", [](U16 a, U16 b, U16) { return U16(a & b); });
  check<U64, U64, U64, U64>("and.b64 D, X, Y;", [](U64 a, U64 b, U64) { return a & b; });
  check<U32, U32, U32, U32>("shr.u32 D, X, 5;", [](U32 a, U32, U32) { return a >> 5; });
  check<S32, S32, S32, S32>("neg.s32 D, X;", [](S32 a, S32, S32) { return S32(0u - U32(a)); });
  check<U64, U64, U64, U32>("setp.eq.u32 %p1, Z, 7; not.pred %p2, %p1; selp.b64 D, X, Y, %p2;",
                            [](U64 a, U64 b, U32 c) { return c != 7 ? a : b; });
  check<U32, U32, U32, U32>(
      "setp.lt.u32 %p1, X, Y; setp.lt.u32 %p2, Y, Z; and.pred %p3, %p1, %p2; or.pred %p4, %p1, "
      "%p2;\n"
      "xor.pred %p5, %p3, %p4; selp.u32 D, 1, 0, %p5; selp.u32 %r9, 2, 0, %p3; or.b32 D, D, %r9;",
      [](U32 a, U32 b, U32 c) { return (a < b) != (b < c) ? 1u
                                       : a < b            ? 2u
                                                          : 0u; });
}

TEST_CASE("conversions round as they say, and stay within the type") {
  check<S32, float, U32, U32>("cvt.rni.s32.f32 D, X;",
                              [](float a, U32, U32) { return clamped<S32>(std::nearbyint(a)); });
  check<S32, float, U32, U32>("cvt.rzi.s32.f32 D, X;",
                              [](float a, U32, U32) { return clamped<S32>(a); });
  check<U32, double, U32, U32>("cvt.rmi.u32.f64 D, X;",
                               [](double a, U32, U32) { return clamped<U32>(std::floor(a)); });
  check<S64, float, U32, U32>("cvt.rpi.s64.f32 D, X;",
                              [](float a, U32, U32) { return clamped<S64>(std::ceil(a)); });
  check<float, float, U32, U32>("cvt.rmi.f32.f32 D, X;",
                                [](float a, U32, U32) { return std::floor(a); });
  check<float, double, U32, U32>("cvt.rn.f32.f64 D, X;",
                                 [](double a, U32, U32) { return float(a); });
  check<double, float, U32, U32>("cvt.f64.f32 D, X;", [](float a, U32, U32) { return double(a); });
  check<float, S32, U32, U32>("cvt.rn.f32.s32 D, X;", [](S32 a, U32, U32) { return float(a); });
  check<float, U64, U32, U32>("cvt.rn.f32.u64 D, X;", [](U64 a, U32, U32) { return float(a); });
  check<double, S64, U32, U32>("cvt.rn.f64.s64 D, X;", [](S64 a, U32, U32) { return double(a); });
  check<S64, S32, U32, U32>("cvt.s64.s32 D, X;", [](S32 a, U32, U32) { return S64(a); });
  check<S64, S64, U32, U32>("cvt.s64.s16 D, X;", [](S64 a, U32, U32) { return S64(S16(a)); });
  check<U32, U32, U32, U32>("cvt.u32.u8 D, X;", [](U32 a, U32, U32) { return a & 0xff; });
  check<S16, S32, U32, U32>("cvt.sat.s16.s32 D, X;", [](S32 a, U32, U32) {
    return S16(std::min(std::max(a, -32768), 32767));
  });
  check<float, float, U32, U32>("cvt.sat.f32.f32 D, X;",
                                [](float a, U32, U32) { return a > 0 ? std::min(a, 1.0f) : 0.0f; });
}

TEST_CASE("halves keep all their values, and take the nearest of others") {
  // Every half, and what lies between two of them.
  check<U16, U16, U32, U32>("cvt.f32.f16 %f1, X; cvt.rn.f16.f32 D, %f1;", [](U16 a, U32, U32) {
    return (a & 0x7fff) > 0x7c00 ? U16{0x7fff} : a;
  });
  check<float, float, U32, U32>(
      "cvt.rn.f16.f32 %rs1, X; cvt.f32.f16 D, %rs1;", [](float a, U32, U32) {
        if (std::fabs(a) >= 65520) return std::copysign(std::numeric_limits<float>::infinity(), a);
        const float unit = std::ldexp(1.0f, std::max(std::ilogb(a == 0 ? 1e-9f : a), -14) - 10);
        return std::copysign(std::nearbyint(a / unit) * unit, a);
      });
}
