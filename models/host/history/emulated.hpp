// Which histories no device measured: those of the emulated CUDA device in tests, whose times are a
// model's. Host side.
#pragma once

#include <string>

#include "models/host/history/history.hpp"

namespace idletune {

// Names the history's device: `given`, or where that is empty `named`. What an emulated device (its
// name begins with "Emulated") measured is marked by a note, which other names do not take away.
void set_device(const std::string& named, const std::string& given, History& history);

// Whether a device of this name is emulated.
bool names_emulated(const std::string& device);

// Whether nobody may learn from it unless told to: by its mark, or by the device's name. Errors:
// invalid_argument, which names kernel and device.
Status check_measured(const History& history);

}  // namespace idletune
