// Which processes a process has started.
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <fstream>
#include <set>
#include <string>

namespace idletune::test {

// Those that any of its threads has started and nobody has reaped. `process`: a number, or "self".
inline std::set<pid_t> children_of(const std::string& process) {
  std::set<pid_t> result;
  const std::string folder = "/proc/" + process + "/task/";
  DIR* threads = ::opendir(folder.c_str());
  if (threads == nullptr) return result;
  while (const dirent* entry = ::readdir(threads)) {
    std::ifstream list(folder + entry->d_name + "/children");
    for (pid_t pid; list >> pid;) result.insert(pid);
  }
  ::closedir(threads);
  return result;
}

}  // namespace idletune::test
