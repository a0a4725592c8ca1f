// Counts this program's heap allocations: the global operator new is replaced, and malloc, calloc
// and realloc are wrapped for everything that is linked into it statically (not for shared
// libraries).
#pragma once

#include <cstdint>

namespace idletune::bench {

// Allocations of the calling thread so far, without those made by the library excluded below.
std::uint64_t allocations_of_this_thread();

// From now on allocations by the shared library that contains `symbol` (a driver) do not count.
// Null excludes none.
void exclude_library_of(const void* symbol);

}  // namespace idletune::bench
