// What an open kernel package holds besides its bytes.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/package/kernel_package.hpp"
#include "models/space/expression.hpp"
#include "models/space/space.hpp"

namespace idletune::package {

// Global and local sizes, one expression per dimension of the range (1 to 3 of each).
struct LaunchGeometry {
  std::vector<Expression> global;
  std::vector<Expression> local;
  Expression local_memory_bytes;
};

// Whether a step takes the package's first arguments, in order.
inline bool are_in_order(const std::vector<std::uint8_t>& arguments) {
  bool in_order = true;
  for (std::size_t i = 0; i < arguments.size(); ++i) in_order = in_order && arguments[i] == i;
  return in_order;
}

// Views point into the package's bytes.
struct StepContents {
  std::string_view entry;
  std::vector<std::uint8_t> arguments;  // positions among the package's
  LaunchGeometry launch;
  Expression condition;  // of a step that runs always: no code
  bool of_setup = false;
  bool in_order = false;  // StepSpec; set by the reader
  // What is the same for all shapes; and whether that is all but the global sizes.
  PlannedStep known;
  bool is_known = false;
  StepSpec spec() const { return {entry, {arguments.data(), arguments.size()}, in_order}; }
};

struct FeatureContents {
  std::string_view name;
  Expression value;  // of one that the application gives: no code
  Expression over;   // no code: nothing
  std::vector<std::string_view> categories;
};

// What tells shapes apart. Terms are numbers, each followed by the tiles in which it counts. The
// bits are stored in packages and never change.
enum ClassTermKind : std::uint8_t {
  kClassTile = 1,   // of the last number: none whole, one, or more; and whether there is a rest
  kClassSize = 2,   // which width an offset into so many elements needs
  kClassFlag = 4,   // whether it is 0
  kClassValue = 8,  // itself
  kClassTermKinds = 16
};
inline constexpr std::size_t kMaxClassTerms = 512;
// A term's part in a class's key, which is the sum of the terms' states, each times its weight.
struct ClassPart {
  std::uint64_t weight;
  std::int64_t tile;     // of a kClassTile what is known; 0: a shape decides
  std::uint16_t number;  // among class_terms, as the next one
  std::uint16_t tile_term;
  std::uint8_t kind;
};

// The binaries of one configuration (Space::key).
struct StoredBinaries {
  std::uint64_t configuration_key = 0;
  std::vector<PrebuiltBinary> binaries;
};

// Views point into `bytes`.
struct PackageContents {
  std::shared_ptr<const std::vector<std::uint8_t>> bytes;
  std::string_view name, source, options;
  Dialect dialect = Dialect::portable;
  std::uint64_t digest = 0, source_digest = 0;

  Space space;
  Configuration default_configuration;
  std::vector<std::string_view> dimensions;
  std::uint8_t zero_dimensions = 0;  // bit i: dimension i may be 0
  std::uint32_t sized_by = 0;        // bit i: a global size reads dimension i
  // Bit i: it is not known to hold (to run never, to run always); those beyond 32 have none.
  std::uint32_t open_constraints = ~0u, open_steps = ~0u, open_conditions = ~0u;
  std::vector<FeatureContents> features;  // given ones first
  std::size_t given_features = 0;
  std::vector<Expression> shape_constraints;

  std::vector<ArgumentSpec> arguments;
  std::vector<Expression> argument_sizes;  // elements of a buffer, value of a dimension
  std::vector<Expression> index_bounds;    // of an argument that is no index: no code
  // Bit i: what sizes() says of argument i is not the same for all shapes, and not in known_sizes.
  std::uint32_t open_sizes = ~0u;
  std::array<std::int64_t, kMaxArguments> known_sizes{};

  std::vector<StepContents> steps;  // those of the setup behind the others
  // Empty: the variant itself.
  std::vector<StepContents> reference;
  Configuration reference_configuration;

  double tolerance_absolute = 0;
  double tolerance_relative = 0;
  Expression tolerance_scale;

  std::vector<StoredBinaries> binaries;
  std::vector<Expression> class_terms;    // empty: each shape is a class of its own
  std::vector<std::uint8_t> class_kinds;  // bits of ClassTermKind, one for each
  std::vector<ClassPart> class_parts;
  std::uint64_t class_rest = 0;  // what the terms that are in no part add to a key
  // The same where no dimension is above kUsualDimension: then the first ones are enough.
  std::size_t usual_parts = 0;
  std::uint64_t usual_rest = 0;
};

inline constexpr std::int64_t kUsualDimension = 8192;
// One part for each class term; or few, where parameters have been put into the terms.
void make_class_parts(PackageContents& package);
void reduce_class_parts(PackageContents& package);

// All of a step's plan but the global sizes. Errors: KernelPackage::plan.
Status plan_locally(const PackageContents& package, const StepContents& step, const Shape& shape,
                    const Configuration& configuration, PlannedStep& plan);

// What `fill_high - fill_low` must stay below; an element's number is taken modulo that of an index.
constexpr double fill_limit(Fill fill) {
  return fill == Fill::index ? 0x1p63 : std::numeric_limits<double>::infinity();
}

// Fills the digest from all the rest: KernelPackage::digest() says what of.
void add_digest(PackageContents& contents);

// Verifies and reads a package. Errors as KernelPackage::open, without the file's name.
Result<std::unique_ptr<PackageContents>> read_package(
    std::shared_ptr<const std::vector<std::uint8_t>> bytes);

}  // namespace idletune::package
