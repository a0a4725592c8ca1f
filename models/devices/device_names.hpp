// Comparing the names that drivers give to the same hardware. Device-safe.
#pragma once

#include <string_view>

namespace idletune {

// Whether two device names speak of the same hardware, whatever vendors and marketing put around
// the model's name ("NVIDIA A100-PCIE-40GB" and "A100-SXM4-40GB" do; "GTX TITAN X" and "TITAN RTX"
// do not).
bool same_device_model(std::string_view a, std::string_view b);
// Whether the name contains the word, in any case ("mali" in "Mali-G610 r0p0"; not in "Normalia").
bool device_name_contains(std::string_view name, std::string_view word);

}  // namespace idletune
