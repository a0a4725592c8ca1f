#include "kernels/krylov/kernel_marks.hpp"

#include <algorithm>

namespace idletune::krylov {

std::optional<KernelMark> KernelMarks::mark(const ProductKernel& kernel) const {
  for (const Marked& each : all_) {
    if (same(each.kernel, kernel)) return each.mark;
  }
  return std::nullopt;
}

bool KernelMarks::refuses(const ProductKernel& kernel) const {
  if (const std::optional<KernelMark> known = mark(kernel)) return *known != KernelMark::running;
  return all_.size() >= kMost && !is_default(kernel);
}

void KernelMarks::put(const ProductKernel& kernel, KernelMark mark) {
  const auto found = find(kernel);
  if (found != all_.end()) {
    found->mark = mark;
  } else if (all_.size() < kMost && !is_default(kernel)) {
    all_.push_back({kernel, mark});
  }
}

void KernelMarks::erase(const ProductKernel& kernel) {
  const auto found = find(kernel);
  if (found != all_.end()) all_.erase(found);
}

std::vector<KernelMarks::Marked>::iterator KernelMarks::find(const ProductKernel& kernel) {
  return std::find_if(all_.begin(), all_.end(),
                      [&](const Marked& each) { return same(each.kernel, kernel); });
}

}  // namespace idletune::krylov
