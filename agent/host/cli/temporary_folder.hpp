#pragma once

#include <stdlib.h>
#include <cerrno>
#include <filesystem>
#include <set>
#include <string>

#include "platform/os/error.hpp"
#include "platform/os/mutex.hpp"

namespace idletune::cli {

// A folder of our own beside other temporary files; goes with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code failed;
    const auto base = std::filesystem::temp_directory_path(failed);
    path_ = (failed ? "/tmp" : base) / "idletune-XXXXXX";
    const MutexLock lock(mutex());
    if (::mkdtemp(path_.data()) != nullptr) {
      all().insert(path_);
      return;
    }
    made_ = system_error("making the folder", path_, errno);
    path_.clear();
  }
  ~TemporaryFolder() {
    const MutexLock lock(mutex());
    remove(path_);
    all().erase(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  // Error: there is none, and its path is empty.
  const Status& made() const { return made_; }
  const std::string& path() const { return path_; }
  std::string file(const char* name) const { return path_ + "/" + name; }

  // Of a program that ends where it is. Any thread.
  static void remove_all() {
    const MutexLock lock(mutex());
    for (const std::string& path : all()) remove(path);
  }

 private:
  static void remove(const std::string& path) {
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove_all(path, ignored);
  }
  // Never destroyed: threads may still have theirs.
  static Mutex& mutex() {
    static auto& mutex = *new Mutex;
    return mutex;
  }
  static std::set<std::string>& all() {
    static auto& paths = *new std::set<std::string>;
    return paths;
  }

  std::string path_;
  Status made_;
};

}  // namespace idletune::cli
