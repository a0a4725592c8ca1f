// SGEMM calls drawn by seed, with Inf and NaN scattered over operands, results, padding, alpha and
// beta, by each way of sgemm_for_testers.cpp and by the reference BLAS: all elements must be equal.
// Numbers are small and whole, so that sums are exact in any order. What is off in one sort of
// products must be found too. usage: PROGRAM MODULE REFERENCE; exit status 77: there is no device.
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

extern "C" {
int RowMajorStrg = 0;  // which the module tells of
}

namespace {

using Fortran = void (*)(const char*, const char*, const int*, const int*, const int*, const float*,
                         const float*, const int*, const float*, const int*, const float*, float*,
                         const int*);
using C = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                   float*, int);

constexpr unsigned kCalls = 2000;
constexpr const char* kWays[] = {"plain", "batched", "packed_a", "packed_b", "clblast"};

template <class Function>
Function function_of(const char* library, const char* name) {
  void* const opened = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void* const found = opened != nullptr ? ::dlsym(opened, name) : nullptr;
  if (found != nullptr) return reinterpret_cast<Function>(found);
  std::fprintf(stderr, "%s\n", ::dlerror());
  std::exit(1);
}

using Random = std::mt19937;
std::size_t below(Random& random, std::size_t bound) { return random() % bound; }

template <std::size_t n>
float one_of(Random& random, const float (&numbers)[n]) {
  return numbers[below(random, n)];
}

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kScattered[] = {kInf, -kInf, kNan};

// A matrix as it lies in memory, what is between its columns (or rows) included.
struct Matrix {
  Matrix(Random& random, int length, int lines)
      : leading(length + static_cast<int>(below(random, 4))) {
    for (int i = 0; i < leading * lines; ++i) {
      const bool padding = i % leading >= length;
      numbers.push_back(padding ? one_of(random, kScattered)
                                : static_cast<float>(below(random, 17)) - 8);
    }
    for (std::size_t left = below(random, 4); left > 0; --left)
      numbers[below(random, numbers.size())] = one_of(random, kScattered);
  }
  int leading;
  std::vector<float> numbers;
};

bool alike(float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); }

struct Testing {
  Fortran reference, ours;
  C ours_in_c;

  // Whether a call of this seed gives what the reference gives; by columns in Fortran or by rows in
  // C, whose matrices are the others transposed.
  bool is_right(unsigned seed) const {
    constexpr int kSides[] = {1, 2, 3, 5, 9, 17, 33, 64};
    Random random(seed);
    const auto side = [&] { return kSides[below(random, 8)]; };
    const int m = side(), n = side(), k = side();
    const bool turned_a = below(random, 2) == 1, turned_b = below(random, 2) == 1;
    const float alpha =
        one_of(random, {1.0f, 1.0f, 1.0f, 1.0f, -2.0f, -2.0f, 0.5f, 0.5f, 0.0f, kNan});
    const float beta =
        one_of(random, {0.0f, 0.0f, 0.0f, 1.0f, 1.0f, 3.0f, 3.0f, -0.5f, kInf, kNan});
    const Matrix a(random, turned_a ? k : m, turned_a ? m : k);
    const Matrix b(random, turned_b ? n : k, turned_b ? k : n);
    const Matrix c(random, m, n);
    std::vector<float> expected = c.numbers, found = c.numbers;
    const char* const letter_a = turned_a ? "T" : "N";
    const char* const letter_b = turned_b ? "T" : "N";
    reference(letter_a, letter_b, &m, &n, &k, &alpha, a.numbers.data(), &a.leading,
              b.numbers.data(), &b.leading, &beta, expected.data(), &c.leading);
    if (below(random, 2) == 1) {
      ours_in_c(101, turned_b ? 112 : 111, turned_a ? 112 : 111, n, m, k, alpha, b.numbers.data(),
                b.leading, a.numbers.data(), a.leading, beta, found.data(), c.leading);
    } else {
      ours(letter_a, letter_b, &m, &n, &k, &alpha, a.numbers.data(), &a.leading, b.numbers.data(),
           &b.leading, &beta, found.data(), &c.leading);
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!alike(expected[i], found[i])) return false;
    }
    return true;
  }

  // The first seed that is wrong; 0: none.
  unsigned first_wrong(const std::string& way) const {
    ::setenv("IDLETUNE_TESTED", way.c_str(), 1);
    for (unsigned seed = 1; seed <= kCalls; ++seed) {
      if (!is_right(seed)) return seed;
    }
    return 0;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const Testing testing{function_of<Fortran>(argv[2], "sgemm_"),
                        function_of<Fortran>(argv[1], "sgemm_"),
                        function_of<C>(argv[1], "cblas_sgemm")};
  bool fine = true;
  for (const std::string way : kWays) {
    const unsigned wrong = testing.first_wrong(way), fault = testing.first_wrong("faulty_" + way);
    std::printf("%s: the first wrong one of %u calls: %u; with a fault: %u (0: none)\n",
                way.c_str(), kCalls, wrong, fault);
    fine = fine && wrong == 0 && fault != 0;
  }
  std::fflush(stdout);
  std::_Exit(fine ? 0 : 1);  // the module's device goes with the process
}
