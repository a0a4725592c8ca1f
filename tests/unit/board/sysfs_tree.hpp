// A sysfs of one's own in a temporary folder, deleted with the object.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>

namespace idletune::test {

class SysfsTree {
 public:
  SysfsTree() {
    char pattern[] = "/tmp/idletune-sysfs-XXXXXX";
    root_ = mkdtemp(pattern);
  }
  ~SysfsTree() { std::filesystem::remove_all(root_); }
  SysfsTree(const SysfsTree&) = delete;
  SysfsTree& operator=(const SysfsTree&) = delete;

  const std::string& root() const { return root_; }
  // Writes a file, ending its content with a newline as the kernel does.
  void write(const std::string& path, const std::string& content) const {
    const std::filesystem::path file = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content << '\n';
  }
  void write_all(const std::string& folder,
                 std::initializer_list<std::pair<const char*, const char*>> files) const {
    for (const auto& [name, content] : files) write(folder + "/" + name, content);
  }
  void remove(const std::string& path) const {
    std::filesystem::remove_all(std::filesystem::path(root_) / path);
  }
  // A link at `path` to `target` (relative to the root), as sysfs' class folders have them.
  void link(const std::string& path, const std::string& target) const {
    const std::filesystem::path file = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_symlink(std::filesystem::path(root_) / target, file);
  }

 private:
  std::string root_;
};

}  // namespace idletune::test
