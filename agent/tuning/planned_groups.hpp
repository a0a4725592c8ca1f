// Work groups as a package plans them.
#pragma once

#include <idletune/configuration.hpp>

#include "agent/search/searchers.hpp"

namespace idletune {

class KernelPackage;

// Of one kernel at one shape, with all features. The package must outlive it.
class PlannedGroups final : public WorkGroups {
 public:
  PlannedGroups(const KernelPackage& package, const Shape& shape)
      : package_(package), shape_(shape) {}
  std::uint64_t items(const Configuration& configuration) const override;

 private:
  const KernelPackage& package_;
  Shape shape_;
};

}  // namespace idletune
