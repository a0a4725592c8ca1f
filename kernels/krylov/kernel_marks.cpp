#include "kernels/krylov/kernel_marks.hpp"

namespace idletune::krylov {

std::optional<KernelMark> KernelMarks::mark(const ProductKernel& kernel) const {
  const std::size_t i = find(kernel);
  return i < all_.size() ? std::optional<KernelMark>(all_[i].mark) : std::nullopt;
}

bool KernelMarks::refuses(const ProductKernel& kernel) const {
  if (const std::optional<KernelMark> known = mark(kernel)) return *known != KernelMark::running;
  return all_.size() >= kMost && !is_default(kernel);
}

void KernelMarks::put(const ProductKernel& kernel, KernelMark mark) {
  const std::size_t i = find(kernel);
  if (i < all_.size()) {
    all_[i].mark = mark;
  } else if (all_.size() < kMost && !is_default(kernel)) {
    all_.push_back({kernel, mark});
  }
}

void KernelMarks::erase(const ProductKernel& kernel) {
  const std::size_t i = find(kernel);
  if (i < all_.size()) all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
}

std::size_t KernelMarks::find(const ProductKernel& kernel) const {
  std::size_t i = 0;
  while (i < all_.size() && !same(all_[i].kernel, kernel)) ++i;
  return i;
}

}  // namespace idletune::krylov
