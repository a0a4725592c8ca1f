// Where the command finds what ships with it, and where it keeps what it made.
#pragma once

#include "agent/host/report/common.hpp"

namespace idletune::cli {

// A file that ships with idletune (a kernel package, the model): beside the program, in
// share/idletune beside its folder, or where idletune was installed; the first that is there.
// Error: not_found, naming the places.
Result<std::string> find_shipped(const std::string& name);

// A folder for what the verb keeps where the user names none: idletune/`verb` in XDG_STATE_HOME,
// or in .local/state of the home folder. It need not exist. Error: not_found if neither variable
// is set.
Result<std::string> state_folder(const std::string& verb);

// Makes the folder and those above it that are missing. Errors: those of the first that cannot be
// made; invalid_argument if something else has the name.
Status make_folders(const std::string& path);

// A name (of a kernel, a device, a problem) as a part of a file's: what is no letter, digit, '-' or
// '.' becomes '_', and 80 characters are enough.
std::string file_name_part(std::string name);

// Tells files apart by the end of their names: ".json".
inline bool has_ending(const std::string& name, const std::string& ending) {
  return name.size() >= ending.size() &&
         name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

}  // namespace idletune::cli
