// Loops whose features follow from pencil and paper. Arrays begin on pages.
#include <idletune/offload_region.h>

#include <cmath>
#include <cstring>

namespace {

constexpr int kN = 4096;
alignas(4096) float a[kN * 64], b[kN * 64], c[kN * 64];
alignas(4096) double d[kN];
alignas(4096) unsigned char bytes[kN];
alignas(4096) int counted[kN];
struct Point {
  float x, y;
  double both;
};
alignas(4096) Point points[kN];

IDLETUNE_OFFLOAD_REGION void saxpy(int n) {
  for (int i = 0; i < n; ++i) b[i] += 2 * a[i];
}
IDLETUNE_OFFLOAD_REGION void every_eighth(int n) {
  for (int i = 0; i < n; ++i) a[8 * i] = 1;
}
IDLETUNE_OFFLOAD_REGION void backwards(int n) {
  for (int i = n - 1; i >= 0; --i) a[i] = 1;
}
IDLETUNE_OFFLOAD_REGION void one_place(int n) {
  for (int i = 0; i < n; ++i) a[0] += 1;
}
IDLETUNE_OFFLOAD_REGION void doubles(int n) {
  for (int i = 0; i < n; ++i) d[i] = d[i] * 3 + 1;
}
IDLETUNE_OFFLOAD_REGION void single_bytes(int n) {
  for (int i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(i);
}
IDLETUNE_OFFLOAD_REGION void alternating(int n) {
  for (int i = 0; i < n; ++i) {
    if (i % 2 == 0) a[i] = 1;
  }
}
IDLETUNE_OFFLOAD_REGION void functions(int n) {
  for (int i = 0; i < n; ++i) {
    c[i] = std::sqrt(a[i]) + std::exp(a[i]) + std::sin(a[i]) / (std::log(a[i]) + std::cos(a[i]));
  }
}
IDLETUNE_OFFLOAD_REGION void matrices(int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[n * i + k] * b[n * k + j];
      c[n * i + j] = sum;
    }
  }
}
float square(float x) { return x * x; }
IDLETUNE_OFFLOAD_REGION void with_calls(int n) {
  for (int i = 0; i < n; ++i) a[i] = square(a[i]);
}
IDLETUNE_OFFLOAD_REGION void filled(int n) { std::memset(a, 0, 4 * static_cast<std::size_t>(n)); }
IDLETUNE_OFFLOAD_REGION void prefix(int n) {
  for (int i = 1; i < n; ++i) a[i] += a[i - 1];
}
// What is read had other neighbours written before, all of them, or every second one.
IDLETUNE_OFFLOAD_REGION void one_field(int n) {
  for (int i = 0; i < n; ++i) points[i].x = 0;
  for (int i = 0; i < n; ++i) points[i].x += points[i].y * static_cast<float>(points[i].both);
}
IDLETUNE_OFFLOAD_REGION void all_fields(int n) {
  for (int i = 0; i < n; ++i) {
    points[i].x = points[i].y = 1;
    points[i].both = 2;
  }
  for (int i = 0; i < n; ++i) points[i].x += points[i].y * static_cast<float>(points[i].both);
}
IDLETUNE_OFFLOAD_REGION void every_other(int n) {
  for (int i = 0; i < n; ++i) a[2 * i] = 1;
  for (int i = 0; i < n; ++i) a[2 * i] += a[2 * i + 1];
}
IDLETUNE_OFFLOAD_REGION void turned(int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) b[n * j + i] = a[n * i + j];
  }
  for (int i = 0; i < n * n; ++i) b[i] *= 2;
}
IDLETUNE_OFFLOAD_REGION void atomics(int n) {
  for (int i = 0; i < n; ++i) __atomic_fetch_add(counted + i, 1, __ATOMIC_RELAXED);
}
IDLETUNE_OFFLOAD_REGION float sum(int n) {
  float total = 0;
  for (int i = 0; i < n; ++i) total += a[i];
  return total;
}

}  // namespace

int main() {
  for (float& x : a) x = 2;
  saxpy(kN);
  every_eighth(kN);
  backwards(kN);
  one_place(kN);
  doubles(kN);
  single_bytes(kN);
  alternating(kN);
  functions(kN);
  matrices(64);
  with_calls(kN);
  filled(kN);
  prefix(kN);
  one_field(kN);
  all_fields(kN);
  every_other(kN);
  turned(64);
  atomics(kN);
  IDLETUNE_OFFLOAD_LABEL("short");
  sum(1024);
  IDLETUNE_OFFLOAD_LABEL("long");
  sum(2048);
  sum(2048);
}
