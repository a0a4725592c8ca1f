// Histories gathered by what they are about: one entry per tuning space and physical device. Host
// side.
#pragma once

#include <cstddef>
#include <vector>

#include "models/host/history/history.hpp"

namespace idletune {

struct DeviceSpace {
  // Repeats on the device combined (combine_repeats), parameters as codes; configurations that
  // other devices have and this one's files left out are there as failed (`runtime`).
  History history;
  std::size_t space = 0;  // entries of the same tuning space have the same number, from 0
  std::vector<std::size_t> histories;  // which ones went in
  std::size_t dropped = 0;             // failures that were added
};

// The same device: same_device_model. The same space: kernel, shape, parameters, and nearly the
// same configurations (nearly_equal). In the order in which the devices first occur.
std::vector<DeviceSpace> device_spaces(const std::vector<const History*>& histories);

}  // namespace idletune
