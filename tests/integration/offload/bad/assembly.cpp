void work(int* x, int n) {
  for (int i = 0; i < n; ++i) asm volatile("" : "+r"(x[i]));
}
int main() {
  int x[64] = {};
  work(x, 64);
}
