// What a results file's name tells where the file itself does not. Host side.
#pragma once

#include <string>

namespace idletune {

// Files are usually called KERNEL-DEVICE[-runN] with endings like .json.gz.
struct SourceName {
  std::string kernel;  // empty if the name tells none
  std::string device;  // likewise; underscores are blanks
};
// "x/gemm-RTX_3090-run1.json.gz" names gemm and RTX 3090; "x/gemm.json" names gemm only.
SourceName name_from_path(const std::string& path);

// Whether a device name is one: not empty, and not a host's architecture, which some runs recorded.
bool names_a_device(const std::string& name);

}  // namespace idletune
