// Host side: compiles descriptions into spaces and packages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/prebuilt.hpp>
#include <idletune/result.hpp>

#include "models/host/pack/kernel_description.hpp"
#include "models/space/space.hpp"

namespace idletune {

struct PackOptions {
  // Above either limit the package stores no diagram (see Space). Edges are 14 bytes each in the
  // file; states bound the builder's memory (about 100 bytes each) and time.
  std::uint32_t max_edges = 200000;
  std::uint32_t max_states = 4000000;
};

// Builds the space of `parameters` under those of `constraints` that read no dimension. Errors:
// invalid_argument naming the place and what was expected. An empty space is not an error here.
Result<Space> build_space(const std::vector<DescribedParameter>& parameters,
                          const std::vector<DescribedExpression>& constraints,
                          const std::vector<std::string>& dimensions = {},
                          const PackOptions& options = {});

// The bytes of a kernel package, ready for KernelPackage::open. Besides what build_space refuses:
// missing parts, names used twice or not identifiers, a default or reference configuration that is
// not valid, no valid configuration at all.
Result<std::vector<std::uint8_t>> pack(const KernelDescription& description,
                                       const PackOptions& options = {});

namespace package {
// The bytes, if a board takes them: others do not leave the host. Error: invalid_argument.
Result<std::vector<std::uint8_t>> readable(std::vector<std::uint8_t> bytes,
                                           const std::string& name);
}  // namespace package

// A binary of the package's source, compiled with the options of `configuration`.
struct BinaryOfConfiguration {
  Configuration configuration;
  PrebuiltBinary binary;
};

// The package with these binaries in place of those it had. Errors: those of KernelPackage::open;
// invalid_argument for a configuration that is not in the space, or a package that no board takes.
Result<std::vector<std::uint8_t>> with_prebuilt(std::vector<std::uint8_t> package,
                                                const std::vector<BinaryOfConfiguration>& binaries);

}  // namespace idletune
