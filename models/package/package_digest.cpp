#include "models/core/bits.hpp"
#include "models/core/digest.hpp"
#include "models/package/package_contents.hpp"

namespace idletune::package {
namespace {

void add_steps(const std::vector<StepContents>& steps, Digest& digest) {
  digest.add(steps.size());
  for (const StepContents& step : steps) {
    digest.add(step.entry).add(Bytes(step.arguments)).add(std::uint64_t{step.of_setup});
    digest.add(step.condition.digest()).add(step.launch.local_memory_bytes.digest());
    for (const auto* sizes : {&step.launch.global, &step.launch.local}) {
      digest.add(sizes->size());
      for (const Expression& size : *sizes) digest.add(size.digest());
    }
  }
}

void add_argument(const ArgumentSpec& spec, Digest& digest) {
  digest.add(static_cast<std::uint64_t>(spec.kind) | static_cast<std::uint64_t>(spec.type) << 8 |
             static_cast<std::uint64_t>(spec.access) << 16 |
             static_cast<std::uint64_t>(spec.fill) << 24);
  digest.add(bits_of(spec.fill_low)).add(bits_of(spec.fill_high));
}

}  // namespace

void add_digest(PackageContents& c) {
  Digest digest;
  digest.add(c.source_digest).add(c.options);
  digest.add(static_cast<std::uint64_t>(c.dialect)).add(c.space.digest());
  add_steps(c.steps, digest);
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    add_argument(c.arguments[i], digest);
    digest.add(c.argument_sizes[i].digest()).add(c.index_bounds[i].digest());
  }
  add_steps(c.reference, digest);
  digest.add(digest_of(c.reference_configuration)).add(c.tolerance_scale.digest());
  digest.add(bits_of(c.tolerance_absolute)).add(bits_of(c.tolerance_relative));
  // What an application gives stands in keys by its place.
  for (const std::string_view dimension : c.dimensions) digest.add(dimension);
  for (std::size_t i = 0; i < c.given_features; ++i) digest.add(c.features[i].name);
  c.digest = digest.value();
}

}  // namespace idletune::package
