// A kernel package (*.itkernel) opened for use: source, arguments, launch geometry, tuning space.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/prebuilt.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/package/launch_plan.hpp"
#include "models/package/package_specs.hpp"
#include "models/space/space.hpp"

namespace idletune {

namespace package {
struct PackageContents;  // models/package/package_contents.hpp
}

// What a package's problems are made of: dimensions, then features. A view of it.
class PackageInputs {
 public:
  explicit PackageInputs(const package::PackageContents& contents) : contents_(contents) {}
  std::string_view dimension_name(std::size_t dimension) const;
  std::size_t given_feature_count() const;
  std::string_view feature_name(std::size_t feature) const;
  // "M N mean_row": of dimensions, then features. Allocates.
  std::string names() const;
  // How one is computed: "M * N", "M over N"; empty: it is given. Allocates.
  std::string feature_text(std::size_t feature) const;
  // A launched problem with the computed features behind the given ones. One without a value, or
  // below 0, is 0: features say what is likely to be fast, never what is launched.
  Shape with_features(const Shape& given) const;
  // "M=64 transposed=yes mean_row=12.5", of a problem with or without computed features. Allocates.
  std::string problem_text(const Shape& problem) const;

 private:
  const package::PackageContents& contents_;
};

// The truth: another kernel function of the same source with the same arguments (but scratch), or
// the kernel itself in a fixed configuration. A view of the package; errors are as there.
class PackageReference {
 public:
  explicit PackageReference(const package::PackageContents& contents) : contents_(contents) {}
  bool is_own_kernel() const;
  std::string_view entry() const;
  const Configuration& configuration() const;
  std::string options() const;  // allocates
  Result<LaunchPlan> plan(const Shape& shape) const;
  Result<Tolerance> tolerance(const Shape& shape) const;

 private:
  const package::PackageContents& contents_;
};

// Immutable after open; every function may be called from any thread. Functions that take a shape
// or a configuration report
//   invalid_argument  wrong number of dimensions, features or parameters, a dimension below its
//                     minimum, a feature that is not a finite number of at least 0 or not one of
//                     its categories, an expression without a value (division by zero, overflow);
//   unsupported       the configuration does not apply to this shape: a constraint over dimensions
//                     is violated, a size is not positive, a global size is not a multiple of its
//                     local one, no step's condition holds or has work, or more than
//                     LaunchPlan::kMaxSteps.
// They allocate only when they fail.
class KernelPackage {
 public:
  static constexpr std::size_t kMaxBytes = 64u << 20;
  // More than a plan may hold: their conditions choose.
  static constexpr std::size_t kMaxSteps = 24;

  // Takes the file's bytes, verifies all of them, and reads the tables in place. `file_name` is for
  // messages. Errors: corrupt, version_mismatch (needs a newer agent), unsupported (kinds that this
  // version does not know), out_of_memory (too large).
  static Result<std::shared_ptr<const KernelPackage>> open(std::vector<std::uint8_t> bytes,
                                                           std::string_view file_name);
  ~KernelPackage();

  std::string_view name() const;
  std::string_view source() const;
  // What a variant runs, in order, and behind it its setup; steps whose condition does not hold at
  // a shape are left out.
  std::size_t step_count() const;
  std::size_t setup_count() const;  // of those
  StepSpec step(std::size_t index) const;
  std::string_view entry() const { return step(0).entry; }
  Dialect dialect() const;
  // Identity of the kernel: all that a check's verdict rests on. Part of every key.
  std::uint64_t digest() const;
  const Space& space() const;
  const Configuration& default_configuration() const;

  std::size_t dimension_count() const;
  // Features: those that the application gives, then those that are computed.
  std::size_t feature_count() const;
  PackageInputs inputs() const { return PackageInputs(*contents_); }
  // Whether a dimension of 0 leaves no step of the default configuration anything to do.
  bool has_no_work(const Shape& shape) const;

  std::size_t argument_count() const;
  const ArgumentSpec& argument(std::size_t index) const;
  // Size of a buffer or of own memory, in bytes. Own memory that a configuration does not need, and
  // a buffer that a dimension of 0 leaves empty, have one element.
  Result<std::uint64_t> buffer_bytes(std::size_t argument, const Shape& shape,
                                     const Configuration& configuration) const;
  // Of an argument that is an index: what each of its elements is below, at least 1.
  Result<std::int64_t> index_bound(std::size_t argument, const Shape& shape) const;
  // What the application does not pass: the value of a dimension argument, which its type can hold
  // (an i32: up to kMostInInt) and no configuration changes, or the bytes of a local-memory
  // argument.
  Result<std::int64_t> derived_value(std::size_t argument, const Shape& shape,
                                     const Configuration& configuration) const;

  // Of each argument the value of a dimension, the bytes of memory, 0 of a scalar: as the two
  // above, for a shape and a configuration that plan() took. Whether a type holds the value or
  // memory is local is not looked at.
  Status sizes(const Shape& shape, const Configuration& configuration,
               std::array<std::int64_t, kMaxArguments>& out) const;
  // Answers for this configuration what plan(), sizes() and class_key() answer, faster: they are
  // asked with an empty one. Fastest for shapes whose dimensions that may be 0 are as those of
  // `like`, if these are 0 or 1; null: as 0. The other questions are for this one.
  std::shared_ptr<const KernelPackage> where(const Configuration& configuration,
                                             const Shape* like = nullptr) const;

  // Shapes whose keys are equal behave alike in this configuration, as far as the package knows
  // (models/package/README.md says what that rests on). Without classes, a digest of the problem.
  // plan() checks the other arguments.
  std::uint64_t class_key(const Shape& shape, const Configuration& configuration) const;
  bool has_classes() const;

  // Constraints that read dimensions; checked by plan(), never part of the space's count.
  Span<const Expression> shape_constraints() const;
  Result<LaunchPlan> plan(const Shape& shape, const Configuration& configuration) const;
  // The same, in place; after an error `plan` is of no use.
  Status plan(const Shape& shape, const Configuration& configuration, LaunchPlan& plan) const;
  // "-DMWG=64 ..." and the package's own options, separated by blanks. Allocates.
  std::string compile_options(const Configuration& configuration) const;

  PackageReference reference() const { return PackageReference(*contents_); }

  // Binaries made ahead of time of the source with compile_options(configuration), for whatever
  // devices; they hold every kernel function of the source. Lives as long as the package.
  Span<const PrebuiltBinary> prebuilt(const Configuration& configuration) const;
  std::size_t prebuilt_count() const;
  std::size_t size_bytes() const;
  // The file, as given to open(), for handing the package to another process. Lives as long as the
  // package.
  Bytes bytes() const;

 private:
  explicit KernelPackage(std::unique_ptr<package::PackageContents> contents);
  const package::PackageContents& contents_for(const Shape& shape) const;
  std::unique_ptr<package::PackageContents> contents_;
  // Of where(): for shapes that are like one where `alike_` has bits; null: none.
  std::unique_ptr<package::PackageContents> alike_contents_;
  std::uint32_t alike_ = 0;
  std::array<std::int64_t, kMaxDimensions> like_{};
};

}  // namespace idletune
