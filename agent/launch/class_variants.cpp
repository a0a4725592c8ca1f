#include "agent/launch/class_variants.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#include "models/core/digest.hpp"
#include "models/core/lists.hpp"
#include "models/core/shared.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::detail {
namespace {

constexpr std::size_t kTries = 4;  // classes looked up for a launch

// To 0.09, as exponent and mantissa of a float give it.
float logarithm(float number) {
  number += 1;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &number, sizeof(bits));
  return static_cast<float>(bits) * (1.0f / (1u << 23));
}

}  // namespace

ClassVariants::ClassVariants(std::uint32_t number, const KernelPackage& package,
                             std::vector<ClassVariant> variants, const ClassVariants* earlier)
    : number_(number), variants_(std::move(variants)) {
  for (ClassVariant& variant : variants_) {
    variant.place = place_of(variant.adopted_at);
    variant.digest = digest_of(variant.configuration);
    const std::size_t known = earlier != nullptr ? earlier->variants_.size() : 0;
    for (std::size_t i = 0; i < known; ++i) {
      const ClassVariant& same = earlier->variants_[i];
      if (same.digest != variant.digest) continue;
      variant.proof = same.proof;
      if (same.adopted_at == variant.adopted_at) variant.package = same.package;
    }
    // Not again and again: it reads the whole package.
    if (variant.package == nullptr)
      variant.package = package.where(variant.configuration, &variant.adopted_at);
    if (variant.proof == nullptr) variant.proof = new_shared<const UnslottedProof>();
  }
}

ClassVariants::ClassVariants(std::uint32_t number, const ClassVariants& other)
    : number_(number), variants_(other.variants_), refused_(other.refused_.load()) {}

ClassVariant::Place ClassVariants::place_of(const Shape& shape) {
  ClassVariant::Place place{};
  std::size_t i = 0;
  for (const std::int64_t value : shape.values()) place[i++] = logarithm(static_cast<float>(value));
  for (std::size_t f = 0; f < shape.feature_count(); ++f) {
    place[i++] = logarithm(static_cast<float>(shape.feature(f)));
  }
  return place;
}

const ClassVariant* ClassVariants::choose(const Shape& shape) const {
  std::uint32_t out = refused_.load(std::memory_order_relaxed);
  std::array<float, kMax> distance{};
  if (variants_.size() > 1) {
    const ClassVariant::Place place = place_of(shape);
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      for (std::size_t d = 0; d < shape.input_count(); ++d) {
        distance[i] += std::fabs(place[d] - variants_[i].place[d]);
      }
    }
  }
  for (std::size_t tries = 0; tries < kTries; ++tries) {
    const ClassVariant* nearest = nullptr;
    std::size_t at = 0;
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      if ((out >> i & 1) != 0) continue;
      if (nearest == nullptr || distance[i] < distance[at]) nearest = &variants_[at = i];
    }
    if (nearest == nullptr) return nullptr;
    out |= std::uint32_t{1} << at;
    const std::uint64_t key = nearest->package->class_key(shape, kNoParameters);
    const std::vector<std::uint64_t>& classes = nearest->classes;
    if (contains(classes, key)) return nearest;
  }
  return nullptr;
}

void ClassVariants::look(Nanoseconds now) const {
  for (const ClassVariants* offer = this; offer != nullptr; offer = offer->before.get()) {
    for (const ClassVariant& variant : offer->variants_) variant.proof->look(now);
  }
}

void ClassVariants::refused(const ClassVariant& variant) const {
  const auto place = static_cast<std::uint32_t>(&variant - variants_.data());
  refused_.fetch_or(std::uint32_t{1} << place, std::memory_order_relaxed);
}

}  // namespace idletune::detail
