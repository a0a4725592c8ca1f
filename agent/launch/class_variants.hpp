// What launches may run for shapes that nobody tuned: variants that were checked for their class.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "agent/launch/launch_table.hpp"

namespace idletune::detail {

inline const Configuration kNoParameters;  // of packages that know theirs

// An adopted variant, and the classes for which its configuration passed its checks.
struct ClassVariant {
  std::shared_ptr<const trial::StepPrograms> programs;
  Configuration configuration;
  Shape adopted_at;
  std::vector<std::uint64_t> classes;  // KernelPackage::class_key
  // What launches that ran it for their class said, beside the default's. What is better may run
  // where nobody compares it.
  enum Elsewhere : std::uint8_t { unknown, better, slower };
  Elsewhere elsewhere = unknown;
  // Made of these by ClassVariants: the package in this configuration, and its digest.
  std::shared_ptr<const KernelPackage> package;
  std::uint64_t digest = 0;
  std::shared_ptr<const UnslottedProof> proof;  // that of the offer before, where it was there
  using Place = std::array<float, kMaxDimensions + kMaxFeatures>;  // binary logarithms, roughly
  Place place{};
};

// To launching threads, which hold a lane, immutable but for what they find out. Made by the tuner.
class ClassVariants {
 public:
  static constexpr std::size_t kMax = 16;

  // At most kMax of them. `number`: not 0, a greater one for each list of a kernel.
  // `earlier`: whose proofs go on, and packages; null: there is none.
  ClassVariants(std::uint32_t number, const KernelPackage& package,
                std::vector<ClassVariant> variants, const ClassVariants* earlier = nullptr);
  // The same, under another number.
  ClassVariants(std::uint32_t number, const ClassVariants& other);

  std::uint32_t number() const { return number_; }
  // Of those that cover the shape's class the one adopted at the nearest problem, by the ratios of
  // dimensions and given features; null: none of the nearest few does.
  const ClassVariant* choose(const Shape& shape) const;
  // The driver refused it for some shape: it is not chosen any more.
  void refused(const ClassVariant& variant) const;
  // UnslottedProof::look().
  void look(Nanoseconds now) const;
  // Earlier ones, as long as a launch may read them.
  std::unique_ptr<ClassVariants> before;

 private:
  static ClassVariant::Place place_of(const Shape& shape);

  const std::uint32_t number_;
  std::vector<ClassVariant> variants_;
  mutable std::atomic<std::uint32_t> refused_{0};  // bits
};

}  // namespace idletune::detail
