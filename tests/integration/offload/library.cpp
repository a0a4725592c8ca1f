// Code of a library for another machine: no program, and functions whose code is elsewhere.
int weight_of(int kind);
int width;

void rows(float* to, const float* from, const int* first, int n) {
  const float scale = static_cast<float>(weight_of(1));
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < width; ++k) {
      if (from[i * width + k] > 0) to[i] += scale * from[first[i] + k];
    }
  }
}
void endless(float* to, int n) {
  for (;;) {
    for (int i = 0; i < n; ++i) to[i] += 1;
  }
}
void fills(char* to, int n) {
  for (;;) __builtin_memset(to, 0, n);
}
void tallies(const int* x, int n) {
  int* counts = static_cast<int*>(__builtin_calloc(1024, sizeof(int)));
  for (int i = 0; i < n; ++i) ++counts[x[i]];
}
void hands_on(float* x, long n) {
  for (long i = 0; i < n; ++i) x[i + 1] = x[i] * 2;
}
// Loops of unknown length: many more iterations where each has 64 than where each has 16.
void nested(const int* x) {
  for (int i = 0; i < x[0]; ++i)
    for (int j = 0; j < x[1]; ++j)
      for (int k = 0; k < x[2]; ++k)
        for (int l = 0; l < x[3]; ++l)
          for (int m = 0; m < x[4]; ++m) ++width;
}
