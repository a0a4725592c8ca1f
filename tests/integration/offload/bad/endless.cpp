#include <unistd.h>
#include <cstring>
volatile int x[64];
char from[1 << 20], to[1 << 20];
void work(int n, const char* also) {
  int ends[2] = {};
  if (also[0] == 'w' && pipe(ends) != 0) return;
  for (;;) {
    for (int i = 0; i < n; ++i) x[i] = x[i] + 1;
    if (also[0] == 'c') std::memcpy(to, from, sizeof to);
    if (also[0] == 'w') (void)!read(ends[0], to, 1);  // for ever
  }
}
int main(int count, char** words) { work(64, count > 1 ? words[1] : ""); }
