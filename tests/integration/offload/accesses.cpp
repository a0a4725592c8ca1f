// Ten loops as programs have them, whose accesses are the same in clang's intermediate code and in
// what -O1 makes of it.
#include <idletune/offload_region.h>

namespace {

#ifndef SIDE  // of matrices
#define SIDE 96
#endif
#ifndef REPEAT
#define REPEAT 1
#endif
constexpr int kSide = SIDE;
constexpr int kN = kSide * kSide;
alignas(4096) float a[kN + kSide], b[kN + kSide], c[kN + kSide];
alignas(4096) double d[kN], e[kN];
alignas(4096) int indices[kN], rows[kSide + 1];
alignas(4096) unsigned char image[kN];
alignas(4096) int counts[256];

IDLETUNE_OFFLOAD_REGION void saxpy(float* y, const float* x, int n) {
  for (int i = 0; i < n; ++i) y[i] += 2 * x[i];
}
IDLETUNE_OFFLOAD_REGION void product(const float* x, const float* y, float* z, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += x[n * i + k] * y[n * k + j];
      z[n * i + j] = sum;
    }
  }
}
IDLETUNE_OFFLOAD_REGION void transpose(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) y[n * j + i] = x[n * i + j];
  }
}
IDLETUNE_OFFLOAD_REGION void stencil(const float* x, float* y, int n) {
  for (int i = 1; i + 1 < n; ++i) {
    for (int j = 1; j + 1 < n; ++j) {
      const float* at = x + n * i + j;
      y[n * i + j] = at[0] + at[-1] + at[1] + at[-n] + at[n];
    }
  }
}
IDLETUNE_OFFLOAD_REGION void histogram(const unsigned char* x, int* y, int n) {
  for (int i = 0; i < n; ++i) ++y[x[i]];
}
IDLETUNE_OFFLOAD_REGION void gather(const float* x, const int* index, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[index[i]];
}
IDLETUNE_OFFLOAD_REGION void sparse(const int* row, const int* column, const float* value,
                                    const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    const int end = row[i + 1];
    for (int k = row[i]; k < end; ++k) sum += value[k] * x[column[k]];
    y[i] = sum;
  }
}
IDLETUNE_OFFLOAD_REGION double dot(const double* x, const double* y, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}
IDLETUNE_OFFLOAD_REGION void every_third(float* x, int n) {
  for (int i = 0; i < n; i += 3) x[i] *= 2;
}
IDLETUNE_OFFLOAD_REGION int chase(const int* next, int steps) {
  int at = 0;
  for (int i = 0; i < steps; ++i) at = next[at];
  return at;
}

}  // namespace

int main() {
  unsigned random = 12345;
  for (int i = 0; i < kN; ++i) {
    random = random * 1664525 + 1013904223;
    indices[i] = static_cast<int>((random >> 8) % kN);
    image[i] = static_cast<unsigned char>(random >> 24);
    a[i] = b[i] = 1;
    d[i] = e[i] = 1;
  }
  for (int i = 0; i <= kSide; ++i) rows[i] = i * i;
  double sum = 0;
  int at = 0;
  for (int i = 0; i < REPEAT; ++i) {
    saxpy(a, b, kN);
    product(a, b, c, SIDE / 5 + 8);
    transpose(a, b, kSide);
    stencil(a, c, kSide);
    histogram(image, counts, kN);
    gather(a, indices, b, kN);
    sparse(rows, indices, a, b, c, kSide);
    sum += dot(d, e, kN);
    every_third(a, kN);
    at += chase(indices, kN);
  }
  return at < 0 || sum < 0;
}
