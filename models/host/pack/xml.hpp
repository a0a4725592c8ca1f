// Host side: reads kernel descriptions from XML. The format is described in
// models/package/README.md.
#pragma once

#include <string>
#include <string_view>

#include <idletune/result.hpp>

#include "models/host/pack/kernel_description.hpp"

namespace idletune {

// Reads `path` and the source file that it names (relative to its own folder); of a family, those
// of all members. Errors: not_found, io_error, invalid_argument; the message is "file:line:
// <element>: what was expected".
Result<KernelDescription> read_kernel_xml(const std::string& path);

// The same from text. `path` is for messages; source files are looked up beside it.
Result<KernelDescription> parse_kernel_xml(std::string_view text, const std::string& path);

// The same of one kernel; a family is an error.
Result<KernelDescription> read_single_kernel_xml(const std::string& path);

}  // namespace idletune
