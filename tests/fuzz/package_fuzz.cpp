// Kernel packages from anywhere: opened as they are, and once more under a correct content digest,
// so that everything behind the digest is reached too. Whatever opens must work.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "models/core/random.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/unit/package/sealing.hpp"

using namespace idletune;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

Shape some_shape(const KernelPackage& package, Random& random) {
  Shape shape;
  for (std::size_t i = 0; i < package.dimension_count(); ++i) {
    shape.push_back(static_cast<std::int64_t>(random.below(5000)));
  }
  for (std::size_t i = 0; i < package.inputs().given_feature_count(); ++i) {
    shape.push_feature(static_cast<double>(random.below(4)));
  }
  return shape;
}

void use_space(const Space& space, Random& random) {
  if (!space.indexed()) return;  // the walk over a hostile space may be long
  const Configuration configuration = space.sample(random);
  if (configuration.empty()) return;
  const auto index = space.index_of(configuration);
  require(index.has_value() && *index < space.valid_count());
  require(space.at(*index) == configuration);
  Configuration next;
  require(space.cursor(*index).next(next) && next == configuration);
}

void use_step(const KernelPackage& package, const PlannedStep& step) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    require(step.range.local[axis] > 0);
    require(step.range.global[axis] % step.range.local[axis] == 0);
  }
  if (step.index < package.step_count() - package.setup_count()) return;
  // A setup neither writes the application's memory nor reads what may change.
  for (const std::uint8_t i : step.spec.arguments) {
    const ArgumentSpec& argument = package.argument(i);
    require(argument.kind != ArgumentKind::scalar);
    require(argument.kind != ArgumentKind::buffer || argument.constant);
  }
}

// In its default configuration it says the same.
void use_fixed(const KernelPackage& package, const Shape& shape, std::uint64_t key) {
  const auto fixed = package.where(package.default_configuration());
  require(key == fixed->class_key(shape, {}));
  const auto plan = package.plan(shape, package.default_configuration());
  require(plan.status().code() == fixed->plan(shape, {}).status().code());
  std::array<std::int64_t, kMaxArguments> sizes;
  if (plan.ok()) (void)fixed->sizes(shape, {}, sizes);
}

void use(const KernelPackage& package) {
  Random random(1);
  require(package.space().contains(package.default_configuration()));
  for (int i = 0; i < 4; ++i) {
    use_space(package.space(), random);
    const Shape shape = some_shape(package, random);
    const auto plan = package.plan(shape, package.default_configuration());
    if (plan.ok()) {
      require(!plan->steps().empty());
      for (const PlannedStep& step : plan->all()) use_step(package, step);
    }
    require(package.inputs().with_features(shape).feature_count() == package.feature_count());
    require(!package.inputs().problem_text(package.inputs().with_features(shape)).empty());
    require(!package.has_no_work(shape) || !plan.ok());
    const std::uint64_t key = package.class_key(shape, package.default_configuration());
    use_fixed(package, shape, key);
    (void)package.reference().plan(shape);
    (void)package.reference().tolerance(shape);
    for (std::size_t a = 0; a < package.argument_count(); ++a) {
      (void)package.buffer_bytes(a, shape, package.default_configuration());
      (void)package.derived_value(a, shape, package.default_configuration());
      if (!package.argument(a).is_index) continue;
      const auto bound = package.index_bound(a, shape);
      require(!bound.ok() || *bound > 0);
    }
  }
  for (std::size_t i = 0; i < package.feature_count(); ++i) {
    require(!package.inputs().feature_name(i).empty());
    (void)package.inputs().feature_text(i);
  }
  require(!package.compile_options(package.default_configuration()).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> bytes(data, data + size);
  if (auto package = KernelPackage::open(bytes, "fuzz"); package.ok()) use(**package);
  if (test::seal_again(bytes)) {
    if (auto package = KernelPackage::open(std::move(bytes), "fuzz"); package.ok()) use(**package);
  }
  return 0;
}
