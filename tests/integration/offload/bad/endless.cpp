volatile int x[64];
void work(int n) {
  for (;;) {
    for (int i = 0; i < n; ++i) x[i] = x[i] + 1;
  }
}
int main() { work(64); }
