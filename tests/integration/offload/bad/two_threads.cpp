#include <atomic>
#include <thread>
std::atomic<bool> inside{false};
volatile int x[64];
void wait() {
  while (!inside) {
  }
}
void work(int n, bool first) {
  if (first) inside = true;
  for (int round = 0; round < 1000000; ++round) {
    for (int i = 0; i < n; ++i) x[i] = x[i] + 1;
  }
}
int main() {
  std::thread other([] { work(64, true); });
  wait();
  work(64, false);
  other.join();
}
