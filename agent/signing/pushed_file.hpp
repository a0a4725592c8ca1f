// A model or a kernel package from where it was pushed to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/trust.hpp>

namespace idletune {

// What of the file is to be read: all but its signature. `trust` null: everything is believed, signed
// or not. Errors: those of read_file() and of FileTrust::believed(), with the file's name.
Result<std::vector<std::uint8_t>> read_pushed_file(const std::string& path, std::size_t limit_bytes,
                                                   const FileTrust* trust);
// The same of bytes that were read; `name` stands in messages.
Result<std::vector<std::uint8_t>> believed_part(std::vector<std::uint8_t> bytes,
                                                const std::string& name, const FileTrust* trust);

}  // namespace idletune
