// What the compiled-program cache of a device did since the device was opened.
#pragma once

#include <cstdint>

namespace idletune {

struct CacheCounters {
  std::uint64_t hits = 0;      // programs made from a cached binary
  std::uint64_t misses = 0;    // no file for the key
  std::uint64_t rejected = 0;  // files dropped: damaged, or refused by the driver
  std::uint64_t stored = 0;
  std::uint64_t store_errors = 0;  // binaries that could not be written
};

}  // namespace idletune
