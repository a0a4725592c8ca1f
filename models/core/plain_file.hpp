// Whether what a user named may be opened at all.
#pragma once

#include <string>

namespace idletune {

// Whether something has that name that is no plain file: a folder, a device, or a pipe, whose
// reader waits for ever. False if nothing has it; opening it tells then.
bool is_no_plain_file(const std::string& path);

}  // namespace idletune
