// The configurations that a searcher must not propose (again).
#pragma once

#include <cstdint>
#include <optional>

#include <idletune/configuration.hpp>

#include "models/core/number_set.hpp"
#include "models/space/space.hpp"

namespace idletune {

// Remembers configurations by their number (or by their key where the space has no numbers); at
// most 32 bytes each. Configurations that are not in the space are ignored.
class ProposedSet {
 public:
  explicit ProposedSet(const Space& space) : space_(space) {}
  // False if it was there already, or is not in the space.
  bool add(const Configuration& configuration) {
    const std::optional<std::uint64_t> id = identify(configuration);
    return id && ids_.insert(*id);
  }
  bool has(const Configuration& configuration) const {
    const std::optional<std::uint64_t> id = identify(configuration);
    return id && ids_.has(*id);
  }
  bool has_number(std::uint64_t index) const { return ids_.has(index); }
  void add_number(std::uint64_t index) { ids_.insert(index); }
  std::size_t size() const { return ids_.size(); }
  // What a configuration is remembered by: its number, or its key; nothing if it is not in the
  // space.
  std::optional<std::uint64_t> identify(const Configuration& configuration) const {
    if (space_.indexed()) return space_.index_of(configuration);
    if (!space_.contains(configuration)) return std::nullopt;
    return space_.key(configuration);
  }

 private:
  const Space& space_;
  NumberSet ids_;
};

}  // namespace idletune
