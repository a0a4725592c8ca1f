// A package in one configuration, for launches that are planned as they come.
#include <utility>

#include "models/core/shared.hpp"
#include "models/package/kernel_package.hpp"
#include "models/package/package_contents.hpp"

namespace idletune {
namespace {

using namespace package;
using namespace space;

// What is put in: a configuration, and the dimensions whose bit is set.
struct Known {
  Span<const std::int64_t> parameters;
  Span<const std::int64_t> dimensions;
  std::uint32_t which;

  void put_in(Expression& expression) const {
    expression.put_in(parameters, ~0u, dimensions, which);
  }
  void put_in(std::vector<Expression>& expressions) const {
    for (Expression& expression : expressions) put_in(expression);
  }
};

bool is_always(const Expression& expression, bool holds) {
  const Evaluation value = expression.evaluate({}, {});
  return !expression.code().empty() && value.ok() && (value.value != 0) == holds;
}

// What sizes() says, where that needs no second look.
bool size_of(const PackageContents& package, std::size_t argument, const Shape& shape,
             const Configuration& configuration, std::int64_t& out) {
  const ArgumentSpec& spec = package.arguments[argument];
  out = 0;
  if (spec.kind == ArgumentKind::scalar) return true;
  Evaluation value =
      package.argument_sizes[argument].evaluate(shape.values(), configuration.values());
  const bool memory = is_memory(spec.kind);
  if (value.value == 0 && is_own_memory(spec.kind)) value.value = 1;
  if (!value.ok() || (memory && (value.value < 1 || value.value >> 59 != 0))) return false;
  out =
      memory ? value.value * static_cast<std::int64_t>(scalar_size_bytes(spec.type)) : value.value;
  return true;
}

void put_in(const Known& known, PackageContents& package) {
  package.space = Space();
  known.put_in(package.class_terms);
  reduce_class_parts(package);
  known.put_in(package.shape_constraints);
  known.put_in(package.argument_sizes);
  for (std::size_t i = 0; i < package.shape_constraints.size() && i < 32; ++i) {
    if (is_always(package.shape_constraints[i], true)) package.open_constraints &= ~(1u << i);
  }
  const Shape none;
  const Configuration nothing;
  for (std::size_t i = 0; i < package.arguments.size(); ++i) {
    if (size_of(package, i, none, nothing, package.known_sizes[i]))
      package.open_sizes &= ~(1u << i);
  }
  for (std::size_t i = 0; i < package.steps.size(); ++i) {
    StepContents& step = package.steps[i];
    known.put_in(step.launch.global);
    known.put_in(step.launch.local);
    known.put_in(step.launch.local_memory_bytes);
    known.put_in(step.condition);
    if (is_always(step.condition, false)) package.open_steps &= ~(1u << i);
    if (is_always(step.condition, true)) package.open_conditions &= ~(1u << i);
    step.is_known = plan_locally(package, step, none, nothing, step.known).ok();
  }
}

}  // namespace

std::shared_ptr<const KernelPackage> KernelPackage::where(const Configuration& configuration,
                                                          const Shape* like) const {
  std::array<std::int64_t, kMaxDimensions> alike{};
  std::uint32_t which = contents_->zero_dimensions;
  for (std::size_t i = 0; like != nullptr && i < like->size(); ++i) {
    alike[i] = (*like)[i];
    if (alike[i] >> 1 != 0) which &= ~(1u << i);
  }
  std::unique_ptr<PackageContents> general, special;
  for (std::unique_ptr<PackageContents>* contents : {&general, &special}) {
    if (contents == &special && which == 0) break;
    Result<std::unique_ptr<PackageContents>> read = read_package(contents_->bytes);
    if (!read.ok()) return nullptr;  // it was read before
    *contents = std::move(*read);
    put_in({configuration.values(), {alike.data(), alike.size()}, contents == &special ? which : 0},
           **contents);
  }
  const std::shared_ptr<KernelPackage> fixed = shared(new KernelPackage(std::move(general)));
  fixed->alike_contents_ = std::move(special);
  fixed->alike_ = which;
  fixed->like_ = alike;
  return fixed;
}

const PackageContents& KernelPackage::contents_for(const Shape& shape) const {
  std::int64_t unlike = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    unlike |= (shape[i] ^ like_[i]) & -static_cast<std::int64_t>(alike_ >> i & 1);
  }
  return alike_ == 0 || unlike != 0 ? *contents_ : *alike_contents_;
}

Status KernelPackage::sizes(const Shape& shape, const Configuration& configuration,
                            std::array<std::int64_t, kMaxArguments>& out) const {
  const PackageContents& package = contents_for(shape);
  out = package.known_sizes;
  for (std::size_t i = 0; i < package.arguments.size(); ++i) {
    if ((package.open_sizes >> i & 1) == 0) continue;
    if (size_of(package, i, shape, configuration, out[i])) continue;
    if (!is_memory(package.arguments[i].kind)) {
      return derived_value(i, shape, configuration).status();
    }
    const Result<std::uint64_t> bytes = buffer_bytes(i, shape, configuration);
    if (!bytes.ok()) return bytes.status();
    out[i] = static_cast<std::int64_t>(*bytes);
  }
  return {};
}

}  // namespace idletune
