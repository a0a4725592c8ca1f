// What is known against kernels of products on a device, and which of them run for the first time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <idletune/krylov.hpp>

#include "kernels/krylov/device_kernels.hpp"

namespace idletune::krylov {

struct ProductKernel {
  SparseFormat format = SparseFormat::csr;
  KernelVariant variant;
};
inline bool same(const ProductKernel& a, const ProductKernel& b) {
  return a.format == b.format && same(a.variant, b.variant);
}
// What everything falls back to: it is never marked.
inline bool is_default(const ProductKernel& kernel) { return same(kernel, ProductKernel()); }

enum class KernelMark : std::uint8_t {
  running,  // for the first time in a process, which has not said how that ended
  died,     // it ran when a process ended, or the device failed under it
  wrong     // its product was not that of the rows
};

class KernelMarks {
 public:
  struct Marked {
    ProductKernel kernel;
    KernelMark mark;
  };
  static constexpr std::size_t kMost = 80;  // as many as a note has room for

  const std::vector<Marked>& all() const { return all_; }
  std::optional<KernelMark> mark(const ProductKernel& kernel) const;
  // Not to be run again. Nothing is to be begun, either, where there is no room for its mark.
  bool refuses(const ProductKernel& kernel) const;
  void put(const ProductKernel& kernel, KernelMark mark);  // replaces its mark
  void erase(const ProductKernel& kernel);
  // Those that run, but not here, have died.
  template <class RunsHere>
  void bury(const RunsHere& runs_here) {
    for (Marked& each : all_) {
      if (each.mark == KernelMark::running && !runs_here(each.kernel)) each.mark = KernelMark::died;
    }
  }

 private:
  std::size_t find(const ProductKernel& kernel) const;  // all().size(): it has none
  std::vector<Marked> all_;
};

}  // namespace idletune::krylov
