#include <cstring>
volatile int x[64];
char from[1 << 20], to[1 << 20];
void work(int n, bool copies) {
  for (;;) {
    for (int i = 0; i < n; ++i) x[i] = x[i] + 1;
    if (copies) std::memcpy(to, from, sizeof to);
  }
}
int main(int count, char**) { work(64, count > 1); }
