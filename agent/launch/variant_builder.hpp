// How the variants of one kernel are made.
#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include <idletune/device.hpp>

#include "agent/launch/class_variants.hpp"
#include "agent/launch/given_arguments.hpp"
#include "agent/launch/launch_table.hpp"
#include "agent/launch/variant_scratch.hpp"
#include "platform/os/clock.hpp"

namespace idletune::detail {

// Where a kernel's launches say that they begin what no launch of this process has proven yet.
struct KernelTrace {
  LaunchTrace* trace = nullptr;  // null: nowhere
  const MonotonicClock* clock = nullptr;
  std::uint64_t subject = 0;  // the kernel on its device under its driver (journal::Trial::who())
};

// Plans a kernel's variants and builds them for launches. It owns what they share: the programs,
// and the device memory that their steps hand results on in.
class VariantBuilder {
 public:
  static constexpr std::uint32_t kLanes = 4;

  // All must outlive it. `scratch_limit_bytes`: of all variants together.
  VariantBuilder(Device& device, const KernelPackage& package, const GivenArguments& arguments,
                 const KernelTrace& trace, std::uint64_t scratch_limit_bytes)
      : device_(device),
        package_(package),
        arguments_(arguments),
        trace_(trace),
        scratch_use_(scratch_limit_bytes) {}
  // Comes first. Errors: those of Device::compile.
  Status compile_default();
  const trial::StepPrograms& default_programs() const { return *default_programs_; }

  // --- the tuner ---
  // False where the device has no compiler and the package no binary of `configuration` for it: not
  // worth proposing, since it could only be refused. Any thread.
  bool can_be_built(const Configuration& configuration) const;
  // Plans a configuration for the slot's shape and compiles it for launches, unless another shape
  // runs it already: they share the program. Its setup is not allowed yet. One thread at a time,
  // like Device::compile.
  Result<std::unique_ptr<Variant>> build(const ShapeSlot& slot, const Configuration& configuration,
                                         Selection selection);

  // --- launches ---
  // The default for a shape, with all that it needs. Errors: those of KernelPackage::plan;
  // out_of_memory, beyond the limit.
  Status plan_default(const Shape& shape, Variant& variant);
  // What was found for the shape's class, with the scratch that all shapes share. False where it
  // cannot run there, that is too small, or it has a setup.
  bool plan_for_class(const Shape& shape, const ClassVariant& found, Variant& variant);
  SharedScratch& shared_scratch() { return shared_scratch_; }

 private:
  using SharedPrograms = std::shared_ptr<const trial::StepPrograms>;
  Result<SharedPrograms> programs_of(const Configuration& configuration);
  // Plan, configuration and derived arguments.
  Status plan(const Shape& shape, const Configuration& configuration, Variant& variant) const;
  // Device memory for what the variant's steps hand on, and its setup prepares. `setups`: how many
  // launches may make.
  Status take_scratch(const Shape& shape, Variant& variant, std::uint32_t setups);
  bool share_scratch(const Shape& shape, Variant& variant);

  Device& device_;
  const KernelPackage& package_;
  const GivenArguments& arguments_;
  const KernelTrace& trace_;
  SharedPrograms default_programs_;
  struct BuiltPrograms {
    Configuration configuration;
    std::weak_ptr<const trial::StepPrograms> programs;  // owned by the variants that run them
  };
  std::list<BuiltPrograms> built_programs_;
  ScratchUse scratch_use_;
  SharedScratch shared_scratch_{scratch_use_};
};

}  // namespace idletune::detail
