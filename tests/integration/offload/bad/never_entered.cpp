int x[64];
void work(int n) {
  for (int i = 0; i < n; ++i) ++x[i];
}
int main(int count, char**) {
  if (count > 5) work(64);
}
