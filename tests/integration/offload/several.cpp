// Regions that call each other or go on in another's burst, a constructor, a label that needs
// quotes, and a locale whose point is a comma.
#include <idletune/offload_region.h>
#include <unistd.h>

#include <clocale>

struct Sum {
  explicit Sum(const float* x);
  float total = 0;
};
Sum::Sum(const float* x) {
  for (int i = 0; i < 64; ++i) total += x[i];
}

namespace {

constexpr int kN = 1 << 16;
alignas(4096) float a[kN];
alignas(4096) int in_a_row[kN], mixed[kN];

IDLETUNE_OFFLOAD_REGION float inner() { return Sum(a).total + Sum(a + 64).total; }
IDLETUNE_OFFLOAD_REGION float outer() { return inner() + inner(); }
IDLETUNE_OFFLOAD_REGION float last() {
  ::usleep(50000);
  return Sum(a).total;
}
IDLETUNE_OFFLOAD_REGION float gather(const int* index, int n) {
  float total = 0;
  for (int i = 0; i < n; ++i) total += a[index[i]];
  return total;
}

}  // namespace

int main() {
  for (int i = 0; i < kN; ++i) {
    a[i] = 1;
    in_a_row[i] = i;
    mixed[i] = i * 1031 % kN;
  }
  float total = 0;
  for (int i = 0; i < 400; ++i) total += gather(in_a_row, kN);
  total += outer();
  total += gather(mixed, kN);
  IDLETUNE_OFFLOAD_LABEL("\"last\"");
  if (std::setlocale(LC_NUMERIC, "comma") == nullptr) return 1;
  return last() + total < 0 ? 1 : 0;
}
