#include <thread>
int x[64];
void work(int n) {
  std::thread other([n] {
    for (int i = 0; i < n; ++i) ++x[i];
  });
  other.join();
}
int main() { work(64); }
