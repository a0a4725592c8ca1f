int x[64];
void work(int n) {
  for (int i = 0; i < n; ++i) ++x[i];
}
int main() { work(15); }
