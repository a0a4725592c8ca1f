#include "agent/launch/variant_builder.hpp"

#include <algorithm>
#include <utility>

#include "agent/trial/tuning_data.hpp"
#include "models/core/shared.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::detail {

Status VariantBuilder::compile_default() {
  Result<trial::StepPrograms> programs =
      trial::compile_steps(device_, package_, package_.default_configuration(), kLanes);
  if (!programs.ok()) return programs.status();
  default_programs_ = new_shared<const trial::StepPrograms>(std::move(*programs));
  return {};
}

Status VariantBuilder::plan(const Shape& shape, const Configuration& configuration,
                            Variant& variant) const {
  if (Status status = package_.plan(shape, configuration, variant.plan); !status.ok()) {
    return status;
  }
  const LaunchPlan& plan = variant.plan;
  variant.simple = plan.all().size() == 1 && plan.first().spec.in_order;
  variant.configuration = configuration;
  for (const std::size_t index : arguments_.derived()) {
    if (is_own_memory(package_.argument(index).kind)) continue;
    Result<Argument> derived = trial::derived_argument(package_, index, shape, configuration);
    if (!derived.ok()) return derived.status();
    variant.derived[index] = *derived;
  }
  return {};
}

// One step alone hands nothing on.
Status VariantBuilder::take_scratch(const Shape& shape, Variant& variant, std::uint32_t setups) {
  // A size that no memory has is told now, not at the first launch.
  GivenArguments::Sizes sizes;
  Status status = package_.sizes(shape, variant.configuration, sizes);
  const LaunchPlan& plan = variant.plan;
  if (!plan.setup().empty()) {
    variant.own_scratch = std::make_unique<VariantScratch>(scratch_use_);
    variant.own_scratch->expect_setup(plan.setup());
    variant.own_scratch->setups_allowed = setups;
  }
  for (const std::size_t index : arguments_.derived()) {
    if (plan.all().size() == 1 || !status.ok()) break;
    if (!is_own_memory(package_.argument(index).kind)) continue;
    if (variant.own_scratch == nullptr)
      variant.own_scratch = std::make_unique<VariantScratch>(scratch_use_);
    status = variant.own_scratch->add(device_, static_cast<std::uint64_t>(sizes[index]),
                                      variant.derived[index]);
  }
  variant.scratch = variant.own_scratch.get();
  return status;
}

Status VariantBuilder::plan_default(const Shape& shape, Variant& variant) {
  variant.programs = default_programs_;
  variant.proof.not_needed();
  Status status = plan(shape, package_.default_configuration(), variant);
  return status.ok() ? take_scratch(shape, variant, VariantScratch::kAlways) : status;
}

bool VariantBuilder::share_scratch(const Shape& shape, Variant& variant) {
  if (variant.plan.all().size() == 1) return true;
  if (!variant.plan.setup().empty()) return false;
  GivenArguments::Sizes sizes;
  if (!package_.sizes(shape, variant.configuration, sizes).ok()) return false;
  bool lent = true;
  std::size_t shared = 0;
  for (const std::size_t index : arguments_.derived()) {
    if (!is_own_memory(package_.argument(index).kind)) continue;
    variant.scratch = &shared_scratch_;
    const auto bytes = static_cast<std::uint64_t>(sizes[index]);
    if (!shared_scratch_.lend(shared++, bytes, variant.derived[index])) lent = false;
  }
  return lent;
}

bool VariantBuilder::plan_for_class(const Shape& shape, const ClassVariant& found,
                                    Variant& variant) {
  if (!plan(shape, found.configuration, variant).ok()) return false;
  if (!share_scratch(shape, variant)) return false;
  if (trace_.trace == nullptr) variant.proof.not_needed();
  variant.programs = found.programs;
  variant.selection = Selection::shape_class;
  return true;
}

Result<VariantBuilder::SharedPrograms> VariantBuilder::programs_of(
    const Configuration& configuration) {
  if (configuration == package_.default_configuration()) return default_programs_;
  BuiltPrograms* room = nullptr;
  for (BuiltPrograms& built : built_programs_) {
    SharedPrograms programs = built.programs.lock();
    if (programs == nullptr) room = &built;
    if (programs != nullptr && built.configuration == configuration) return programs;
  }
  Result<trial::StepPrograms> compiled =
      trial::compile_steps(device_, package_, configuration, kLanes);
  if (!compiled.ok()) return compiled.status();
  auto programs = new_shared<const trial::StepPrograms>(std::move(*compiled));
  if (room == nullptr) room = &built_programs_.emplace_back();
  *room = {configuration, programs};
  return SharedPrograms(std::move(programs));
}

bool VariantBuilder::can_be_built(const Configuration& configuration) const {
  if (device_.info().has_compiler) return true;
  const Span<const PrebuiltBinary> prebuilt = package_.prebuilt(configuration);
  return std::any_of(prebuilt.begin(), prebuilt.end(),
                     [this](const PrebuiltBinary& binary) { return device_.fits(binary); });
}

Result<std::unique_ptr<Variant>> VariantBuilder::build(const ShapeSlot& slot,
                                                       const Configuration& configuration,
                                                       Selection selection) {
  auto variant = std::make_unique<Variant>();
  if (Status planned = plan(slot.shape, configuration, *variant); !planned.ok()) {
    return planned;
  }
  Result<SharedPrograms> programs = programs_of(configuration);
  if (!programs.ok()) return programs.status();
  if (Status taken = take_scratch(slot.shape, *variant, 0); !taken.ok()) return taken;
  if (trace_.trace == nullptr || *programs == default_programs_) variant->proof.not_needed();
  variant->selection = selection;
  variant->programs = std::move(*programs);
  return variant;
}

}  // namespace idletune::detail
