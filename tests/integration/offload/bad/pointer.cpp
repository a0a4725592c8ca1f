void one(int& x) { ++x; }
void work(int* x, int n, void (*f)(int&)) {
  for (int i = 0; i < n; ++i) f(x[i]);
}
int main() {
  int x[64] = {};
  work(x, 64, one);
}
