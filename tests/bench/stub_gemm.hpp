// The matrix multiplications that the stub drivers can compute on the CPU: that of kernels/gemm,
// with its eight arguments, and what kernels/blas/sgemm does in one launch, on dense operands of one
// product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace idletune::bench {

inline bool is_gemm(const char* kernel) {
  return std::strcmp(kernel, "gemm") == 0 || std::strcmp(kernel, "gemm_reference") == 0;
}

inline bool is_sgemm(const char* kernel) {
  const std::string_view name = kernel;
  for (const std::string_view part :
       {"direct_plain", "direct_turned", "sgemm_reference", "skinny_along", "skinny_dot"}) {
    if (name.find(part) != name.npos) return true;
  }
  return false;
}

struct StubGemm {
  int m = 0, n = 0, k = 0;
  bool turned_a = false, turned_b = false;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  float alpha = 0, beta = 0;
};

inline void compute(const StubGemm& gemm) {
  const auto m = static_cast<std::size_t>(gemm.m), n = static_cast<std::size_t>(gemm.n),
             k = static_cast<std::size_t>(gemm.k);
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      float sum = 0;
      for (std::size_t i = 0; i < k; ++i) {
        sum += gemm.a[gemm.turned_a ? i * m + row : row * k + i] *
               gemm.b[gemm.turned_b ? column * k + i : i * n + column];
      }
      float& c = gemm.c[row * n + column];
      c = gemm.alpha * sum + gemm.beta * c;
    }
  }
}

// How long such a run is said to take: 1 to 10 us, by its compile options.
inline long gemm_run_ns(const std::string& options) {
  std::uint32_t digest = 2166136261u;  // FNV-1a
  for (const char c : options) digest = (digest ^ static_cast<unsigned char>(c)) * 16777619u;
  return 1000 + static_cast<long>(digest % 9000u);
}

}  // namespace idletune::bench
