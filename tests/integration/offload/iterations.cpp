// Loops whose names begin with what a profile must say of their iterations.
#include <idletune/offload_region.h>

#include <cmath>
#include <cstdint>

namespace {

constexpr int kN = 4096;
constexpr int kSide = 64;
float a[kN], b[kN];
int index_of[kN], counts[kN];
double seen;

IDLETUNE_OFFLOAD_REGION void independent_scale(int n) {
  for (int i = 0; i < n; ++i) b[i] = 2 * a[i] + 1;
}
IDLETUNE_OFFLOAD_REGION void independent_in_place(int n) {
  for (int i = 0; i < n; ++i) a[i] = std::sqrt(a[i] + 1);
}
IDLETUNE_OFFLOAD_REGION void independent_rows(int n) {  // each with a sum of its own
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[n * i + k] * b[k];
    b[kSide + i] = sum;
  }
}
IDLETUNE_OFFLOAD_REGION void independent_steps(int n) {  // in time; each step can be a launch
  for (int step = 0; step < 20; ++step) {
    const float* from = step % 2 == 0 ? a : b;
    float* to = step % 2 == 0 ? b : a;
    for (int i = 1; i + 1 < n; ++i) to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3;
  }
}
IDLETUNE_OFFLOAD_REGION void independent_own_array(int n) {  // the same places, but new each time
  for (int i = 0; i < n; ++i) {
    float own[4];
    for (int k = 0; k < 4; ++k) own[k] = a[i] * static_cast<float>(k);
    b[i] = own[i % 4] + own[3];
  }
}
IDLETUNE_OFFLOAD_REGION void independent_zeroed_array(int n) {  // a fill, not a loop of stores
  for (int i = 0; i < n; ++i) {
    float own[32] = {};
    for (int k = 0; k < 64; ++k) own[(i + k) % 32] += a[k];
    b[i] = own[1] + own[31];
  }
}
float largest_of(const float* row, int n) {
  float largest = row[0];
  for (int k = 1; k < n; ++k) largest = row[k] > largest ? row[k] : largest;
  return largest;
}
IDLETUNE_OFFLOAD_REGION void independent_with_calls(int n) {
  for (int i = 0; i < n; ++i) b[i] = largest_of(a + n * i, n);
}
IDLETUNE_OFFLOAD_REGION float reduction_product(int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}
IDLETUNE_OFFLOAD_REGION int reduction_largest(int n) {
  int best = 0;
  for (int i = 1; i < n; ++i) {
    if (index_of[i] > best) best = index_of[i];
  }
  return best;
}
IDLETUNE_OFFLOAD_REGION void reduction_in_memory(int n) {
  for (int i = 0; i < n; ++i) seen += static_cast<double>(a[i]);
}
IDLETUNE_OFFLOAD_REGION void reduction_histogram(int n) {
  for (int i = 0; i < n; ++i) counts[index_of[i] % 16] += 1;
}
IDLETUNE_OFFLOAD_REGION int reduction_count(int n) {
  int found = 0;
  for (int i = 0; i < n; ++i) {
    if (a[i] > 1) ++found;
  }
  return found;
}
IDLETUNE_OFFLOAD_REGION void dependent_prefix(int n) {
  for (int i = 1; i < n; ++i) a[i] += a[i - 1];
}
IDLETUNE_OFFLOAD_REGION void dependent_running_sum(int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += a[i];
    b[i] = sum;
  }
}
IDLETUNE_OFFLOAD_REGION int dependent_chase(int n) {
  int at = 0;
  for (int i = 0; i < n; ++i) at = index_of[at];
  return at;
}
IDLETUNE_OFFLOAD_REGION std::uint32_t dependent_generator(int n) {
  std::uint32_t state = 1;
  for (int i = 0; i < n; ++i) state = state * 1664525U + static_cast<std::uint32_t>(counts[i]);
  return state;
}
IDLETUNE_OFFLOAD_REGION int dependent_compaction(int n) {
  int found = 0;
  for (int i = 0; i < n; ++i) {
    if (a[i] > 1) b[found++] = a[i];
  }
  return found;
}
IDLETUNE_OFFLOAD_REGION void dependent_rows(int n) {  // each on the row above and on its left
  for (int i = 1; i < n; ++i) {
    for (int k = 1; k < n; ++k) {
      const float above = a[n * (i - 1) + k], left = a[n * i + k - 1];
      a[n * i + k] = (above > left ? above : left) + 1;
    }
  }
}
IDLETUNE_OFFLOAD_REGION float dependent_series(float x, int n) {
  for (int i = 0; i < n; ++i) x = b[i] * x * (1 - x);
  return x;
}

}  // namespace

int main() {
  for (int i = 0; i < kN; ++i) {
    a[i] = static_cast<float>(i % 3);
    index_of[i] = (i * 7 + 1) % kN;
  }
  independent_scale(kN);
  independent_in_place(kN);
  independent_rows(kSide);
  independent_steps(kN);
  independent_own_array(kN);
  independent_zeroed_array(kSide);
  independent_with_calls(kSide);
  const float sum = reduction_product(kN);
  const int best = reduction_largest(kN);
  reduction_in_memory(kN);
  reduction_histogram(kN);
  const int found = reduction_count(kN);
  dependent_prefix(kN);
  dependent_running_sum(kN);
  const int last = dependent_chase(kN);
  const std::uint32_t state = dependent_generator(kN);
  const int kept = dependent_compaction(kN);
  dependent_rows(kSide);
  const float x = dependent_series(0.3F, kN);
  return sum + x > 0 && best + found + last + kept > 0 && state > 0 ? 0 : 1;
}
