#pragma once

#include <stdlib.h>
#include <filesystem>
#include <string>

namespace idletune::cli {

// A folder of our own beside other temporary files; goes with all that is in it. Its path is empty
// where none could be made.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code failed;
    const auto base = std::filesystem::temp_directory_path(failed);
    path_ = (failed ? "/tmp" : base) / "idletune-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace idletune::cli
