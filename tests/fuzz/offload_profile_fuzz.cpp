// Reading anything as a profile. What is read can be written, and is read again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "models/host/offload/profile.hpp"

using namespace idletune::offload;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read =
      parse_profile(std::string_view(reinterpret_cast<const char*>(data), size), "p.json");
  if (!read.ok()) return 0;
  const auto text = profile_text(*read);
  if (!text.ok()) std::abort();
  const auto again = parse_profile(*text, "p.json");
  if (!again.ok() || again->regions.size() != read->regions.size()) std::abort();
  for (std::size_t i = 0; i < read->regions.size(); ++i) {
    if (again->regions[i].features != read->regions[i].features) std::abort();
    if (again->regions[i].others != read->regions[i].others) std::abort();
  }
  return 0;
}
