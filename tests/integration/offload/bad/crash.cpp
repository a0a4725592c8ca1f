int x[64];
void work(int n) {
  for (int i = 0; i < n; ++i) ++x[i];
  *reinterpret_cast<volatile int*>(8) = 1;
}
int main() { work(64); }
