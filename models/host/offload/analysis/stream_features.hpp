// The names of the features of a stream of operations, in their order. Needs nothing but the
// standard library: the profiled program links it, too.
#pragma once

#include <array>
#include <cstddef>

namespace idletune::offload {

inline constexpr std::size_t kStreamFeatures = 32;
inline constexpr std::array<const char*, kStreamFeatures> kStreamFeatureNames{
    "ninst",      "ilp.32",    "ilp.256",   "ilp.2048",   "ilp.65536", "ilpRate",  "mem",
    "ctrl",       "int",       "fp",        "dp",         "mulf",      "divf",     "sqrtf",
    "expf",       "sincosf",   "coldRef",   "reuseDist2", "blocks",    "pages",    "stride0",
    "noConflict", "shMemBW",   "gMemBW",    "coalesced",  "Lbdiv.16",  "Lbdiv.32", "Lbdiv.64",
    "Lbdiv.128",  "Lbdiv.256", "Lbdiv.512", "Lbdiv.1024"};

}  // namespace idletune::offload
