#include "agent/host/cli/places.hpp"

#include <sys/stat.h>
#include <cerrno>

#include "platform/os/environment.hpp"
#include "platform/os/error.hpp"
#include "platform/os/process.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {
namespace {

// An absolute path in the variable; the specification of the XDG folders ignores others.
std::string folder_in(const char* variable) {
  const char* value = environment(variable);
  return value != nullptr && value[0] == '/' ? value : std::string();
}

}  // namespace

Result<std::string> find_shipped(const std::string& name) {
  std::string looked;
  const auto is_there = [&](const std::string& folder) {
    looked += (looked.empty() ? "" : ", ") + folder;
    return file_stamp(folder + "/" + name) != 0;
  };
  if (const Result<std::string> own = self_executable_folder(); own.ok()) {
    // An installed tree may have been moved: the program knows where it is.
    const std::string installed = own->substr(0, own->rfind('/')) + "/share/idletune";
    if (is_there(*own)) return *own + "/" + name;
    if (is_there(installed)) return installed + "/" + name;
  }
  if (is_there(IDLETUNE_INSTALLED_DATA)) return std::string(IDLETUNE_INSTALLED_DATA) + "/" + name;
  return Status(StatusCode::not_found, "'" + name + "' is in none of " + looked);
}

Result<std::string> state_folder(const std::string& verb) {
  if (const std::string xdg = folder_in("XDG_STATE_HOME"); !xdg.empty()) {
    return xdg + "/idletune/" + verb;
  }
  if (const std::string home = folder_in("HOME"); !home.empty()) {
    return home + "/.local/state/idletune/" + verb;
  }
  return Status(StatusCode::not_found,
                "no folder to keep anything in: neither XDG_STATE_HOME nor HOME is set; name one");
}

Status make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (::mkdir(folder.c_str(), 0777) != 0) {
      const int error = errno;
      struct stat info {};
      // Some systems answer EROFS or EACCES for folders that exist.
      if (::stat(folder.c_str(), &info) != 0) {
        return system_error("making the folder '" + path + "': making", folder, error);
      }
      if (!S_ISDIR(info.st_mode)) {
        return Status(StatusCode::invalid_argument,
                      "making the folder '" + path + "': '" + folder + "' is no folder");
      }
    }
    if (slash == std::string::npos) return {};
  }
}

std::string file_name_part(std::string name) {
  for (char& c : name) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!good && c != '-' && c != '.') c = '_';
  }
  return name.substr(0, 80);
}

}  // namespace idletune::cli
