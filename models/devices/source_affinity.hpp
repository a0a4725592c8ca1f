// How much a historical device says about another one, before anything was measured there.
#pragma once

#include <string_view>

namespace idletune {

// The weight of a history made on `source` for `device`, in (0, 1]: e^-distance, by origin_distance
// of what the names tell. Unknown vendors are never alike: then it is 1/e at most.
double source_affinity(std::string_view device, std::string_view source);

}  // namespace idletune
