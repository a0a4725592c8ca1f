// The order in which an exploration visits a space.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>

#include "models/core/random.hpp"
#include "models/space/space.hpp"

namespace idletune::explore {

// Valid configurations without repetition, in an order drawn by `seed`: every beginning of it is a
// uniform sample, so that an exploration which was stopped early is one too, and a longer sample
// of the same seed contains the shorter one. The same on every architecture.
class Order {
 public:
  // `samples`: so many configurations; nothing or more than there are: all of them. Errors:
  // unsupported (all of a space whose configurations are not numbered), invalid_argument (an empty
  // space).
  static Result<Order> make(const Space& space, std::uint64_t seed,
                            std::optional<std::uint64_t> samples);
  // These configurations of the space, in their order.
  static Order of(const Space& space, std::vector<Configuration> configurations);

  std::uint64_t size() const { return size_; }
  bool is_whole_space() const { return whole_; }
  // The configuration at `place` (< size()).
  Configuration at(std::uint64_t place) const;

 private:
  Order(Space space, std::uint64_t seed)
      : space_(std::move(space)), permutation_(space_.valid_count(), seed) {}
  void draw(std::uint64_t seed, std::uint64_t samples);

  Space space_;
  Permutation permutation_;
  std::vector<Configuration> listed_;  // where no number tells them
  std::uint64_t size_ = 0;
  bool whole_ = false;
};

}  // namespace idletune::explore
