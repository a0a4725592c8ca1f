// Which configurations are measured at a list of problems.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>

#include "models/package/package_specs.hpp"
#include "models/space/space.hpp"

namespace idletune::explore {

// The configurations in which these parameters (by number) have these values.
using SpacePart = std::vector<std::pair<std::size_t, std::int64_t>>;

// "NAME=VALUE,...", values as the space has them. Error: invalid_argument.
Result<SpacePart> read_space_part(const Space& space, const std::string& text);

// The default of every member of a family (of a kernel that is none: its default), then valid
// configurations drawn by `seed` without repetition, `samples` of each member and of each of
// `parts`, these in turn: a longer list begins with a shorter one. Without `samples` all there are.
// Errors: unsupported (all of a space whose configurations are not numbered).
Result<std::vector<Configuration>> listed_configurations(const KernelPackage& package,
                                                         std::uint64_t seed,
                                                         std::optional<std::uint64_t> samples,
                                                         const std::vector<SpacePart>& parts = {});

}  // namespace idletune::explore
