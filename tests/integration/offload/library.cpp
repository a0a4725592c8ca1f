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
