// What the application passes to a kernel's launches.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <idletune/device.hpp>

#include "agent/launch/launch_table.hpp"
#include "models/package/package_specs.hpp"

namespace idletune::detail {

// Which of a kernel's arguments the application passes and which it does not, and the checks of
// those that it does. Any thread.
class GivenArguments {
 public:
  // Both must outlive it.
  GivenArguments(const Device& device, const KernelPackage& package);

  // What the application passes, checked for kind and type, to its places in all[kMaxArguments].
  Status take(Span<const Argument> given, Argument* all) const;
  // The rest, which the variant has; and the size of the buffers, once per variant.
  Status complete(const Shape& shape, const Variant& variant, Argument* arguments) const;
  using Sizes = std::array<std::int64_t, kMaxArguments>;  // KernelPackage::sizes
  // The size of the buffers. `known`: LaunchOptions::buffer_bytes.
  Status check_buffers(const Sizes& sizes, const Argument* arguments,
                       const std::uint64_t* known) const;
  Status refused(std::size_t index, const std::string& why) const;
  // Places of those that it does not pass.
  Span<const std::uint8_t> derived() const { return {derived_.data(), derived_count_}; }

 private:
  // What launches must know of an argument, compact for the hot path.
  struct Rule {
    std::uint8_t index = 0;  // among all arguments
    bool is_buffer = false;
    ScalarType type = ScalarType::i32;
  };
  Status wrong(Rule rule, const Argument& given) const;
  Status check_buffers_of(const Shape& shape, const Variant& variant,
                          const Argument* arguments) const;

  const Device& device_;
  const KernelPackage& package_;
  std::array<Rule, kMaxArguments> given_{};
  std::array<std::uint8_t, kMaxArguments> derived_{};
  std::size_t given_count_ = 0;
  std::size_t derived_count_ = 0;
};

}  // namespace idletune::detail
