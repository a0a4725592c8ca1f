// A model or a kernel package from where it was pushed to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/trust.hpp>

namespace idletune {

struct PushedFile {
  std::vector<std::uint8_t> content;  // what is to be read
  std::vector<std::uint8_t> proof;  // the file's other bytes, behind it: its signature, or nothing
};
// `trust` null: everything is believed, with a signature or without. Errors: those of read_file()
// and of FileTrust::believed(), with the file's name.
Result<PushedFile> read_pushed_file(const std::string& path, std::size_t limit_bytes,
                                    const FileTrust* trust);

}  // namespace idletune
