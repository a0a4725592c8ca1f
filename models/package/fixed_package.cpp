// A package in one configuration, for launches that are planned as they come.
#include <utility>

#include "models/package/kernel_package.hpp"
#include "models/package/package_contents.hpp"

namespace idletune {
namespace {

using namespace space;

void put_in(const Configuration& configuration, std::vector<Expression>& expressions) {
  for (Expression& expression : expressions) expression.put_in(configuration.values());
}

}  // namespace

std::shared_ptr<const KernelPackage> KernelPackage::where(
    const Configuration& configuration) const {
  Result<std::unique_ptr<PackageContents>> read = read_package(contents_->bytes);
  if (!read.ok()) return nullptr;  // it was read before
  PackageContents& fixed = **read;
  fixed.space = Space();
  put_in(configuration, fixed.class_terms);
  fixed.usual_numbers = usual_numbers(fixed);
  put_in(configuration, fixed.shape_constraints);
  put_in(configuration, fixed.argument_sizes);
  for (StepContents& step : fixed.steps) {
    put_in(configuration, step.launch.global);
    put_in(configuration, step.launch.local);
    step.launch.local_memory_bytes.put_in(configuration.values());
    step.condition.put_in(configuration.values());
  }
  return std::shared_ptr<const KernelPackage>(new KernelPackage(std::move(*read)));
}

Status KernelPackage::sizes(const Shape& shape, const Configuration& configuration,
                            std::array<std::int64_t, kMaxArguments>& out) const {
  const PackageContents& package = *contents_;
  for (std::size_t i = 0; i < package.arguments.size(); ++i) {
    const ArgumentSpec& spec = package.arguments[i];
    out[i] = 0;
    if (spec.kind == ArgumentKind::scalar) continue;
    Evaluation value = package.argument_sizes[i].evaluate(shape.values(), configuration.values());
    const bool memory = is_memory(spec.kind);
    if (value.value == 0 && is_own_memory(spec.kind)) value.value = 1;
    if (value.ok() && (!memory || (value.value >= 1 && value.value >> 59 == 0))) {
      out[i] = memory ? value.value * static_cast<std::int64_t>(scalar_size_bytes(spec.type))
                      : value.value;
      continue;
    }
    if (!memory) return derived_value(i, shape, configuration).status();
    const Result<std::uint64_t> bytes = buffer_bytes(i, shape, configuration);
    if (!bytes.ok()) return bytes.status();
    out[i] = static_cast<std::int64_t>(*bytes);
  }
  return {};
}

}  // namespace idletune
