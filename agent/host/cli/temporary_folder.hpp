#pragma once

#include <stdlib.h>
#include <cerrno>
#include <filesystem>
#include <string>

#include "platform/os/error.hpp"

namespace idletune::cli {

// A folder of our own beside other temporary files; goes with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code failed;
    const auto base = std::filesystem::temp_directory_path(failed);
    path_ = (failed ? "/tmp" : base) / "idletune-XXXXXX";
    if (::mkdtemp(path_.data()) != nullptr) return;
    made_ = system_error("making the folder", path_, errno);
    path_.clear();
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  // Error: there is none, and its path is empty.
  const Status& made() const { return made_; }
  const std::string& path() const { return path_; }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  Status made_;
};

}  // namespace idletune::cli
