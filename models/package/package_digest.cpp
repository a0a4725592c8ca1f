#include "models/core/digest.hpp"
#include "models/package/package_contents.hpp"

namespace idletune::package {
namespace {

void add_geometry(const LaunchGeometry& launch, Digest& digest) {
  for (const auto* sizes : {&launch.global, &launch.local}) {
    digest.add(sizes->size());
    for (const Expression& size : *sizes) digest.add(size.digest());
  }
}

void add_further_steps(const PackageContents& c, Digest& digest) {
  for (std::size_t i = 0; i < c.steps.size(); ++i) {
    const StepContents& step = c.steps[i];
    digest.add(step.condition.digest()).add(step.arguments.size());
    for (const std::uint8_t position : step.arguments) digest.add(std::uint64_t{position});
    if (i == 0) continue;
    digest.add(step.entry);
    add_geometry(step.launch, digest);
    if (step.of_setup) digest.add(i);
  }
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    if (is_own_memory(c.arguments[i].kind)) digest.add(c.argument_sizes[i].digest());
  }
}

}  // namespace

void add_digests(PackageContents& c) {
  c.source_digest = digest_of(c.source);
  Digest digest;
  digest.add(c.source_digest).add(c.steps.front().entry).add(c.options);
  digest.add(static_cast<std::uint64_t>(c.dialect)).add(c.space.digest());
  add_geometry(c.steps.front().launch, digest);
  if (c.steps.size() > 1) add_further_steps(c, digest);
  // What an application gives stands in keys by its place.
  for (std::size_t i = 0; i < c.given_features; ++i) digest.add(c.features[i].name);
  c.digest = digest.value();
}

}  // namespace idletune::package
