#include <stdexcept>
int x[64];
void work(int n) {
  for (int i = 0; i < n; ++i) {
    if (++x[i] > 1) throw std::runtime_error("twice");
  }
}
int main() {
  work(64);
  try {
    work(64);
  } catch (const std::exception&) {
  }
}
