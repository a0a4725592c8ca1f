// Host side: reads families of kernels from XML. The format is described in
// models/package/README.md.
#pragma once

#include <string>
#include <vector>

#include <tinyxml2.h>

#include <idletune/result.hpp>

#include "models/host/pack/family.hpp"

namespace idletune {

// The description of all members of <family> in the file `path`; theirs are looked up beside it.
// Errors: those of read_kernel_xml for the family and its members; those of join_family.
Result<KernelDescription> read_family(const tinyxml2::XMLElement& root, const std::string& path);

// The description of the kernels in these files as a family. Errors: as above.
Result<KernelDescription> read_family(const std::string& name,
                                      const std::vector<std::string>& paths);

}  // namespace idletune
