#include "models/offload/features.hpp"

#include <algorithm>

namespace idletune::offload {

std::size_t FeatureSet::find(const std::string& feature) const {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), feature) - names.begin());
}

const FeatureSet& profiled_features() {
  static const FeatureSet set{
      "profiled", 1, {"ninst",     "ilp.32",    "ilp.256",  "ilp.2048",   "ilp.65536", "ilpRate",
                      "mem",       "ctrl",      "int",      "fp",         "dp",        "mulf",
                      "divf",      "sqrtf",     "expf",     "sincosf",    "coldRef",   "reuseDist2",
                      "blocks",    "pages",     "stride0",  "noConflict", "shMemBW",   "gMemBW",
                      "coalesced", "Lbdiv.16",  "Lbdiv.32", "Lbdiv.64",   "Lbdiv.128", "Lbdiv.256",
                      "Lbdiv.512", "Lbdiv.1024"}};
  return set;
}

}  // namespace idletune::offload
