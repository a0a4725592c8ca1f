// Host side: the text files that descriptions consist of.
#pragma once

#include <string>

#include <idletune/result.hpp>

namespace idletune {

// Errors: not_found, io_error, invalid_argument (no plain file), out_of_memory (too large).
Result<std::string> read_text(const std::string& path);

// "kernels/gemm/gemm.xml": "kernels/gemm/" and "gemm.xml".
std::string folder_of(const std::string& path);
std::string file_name_of(const std::string& path);

}  // namespace idletune
