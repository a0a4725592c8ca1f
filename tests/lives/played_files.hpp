// What the application lent, in files of the state folder beside the journal. They are written like
// the journal: deaths come between two operations, and a power cut keeps of what was not synced
// what it will.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "tests/unit/journal/faulty_storage.hpp"

namespace idletune::lives {

class PlayedFiles {
 public:
  // Before a file is there; an error: it will not be. May take played time.
  std::function<Status(FileSync)> on_write;

  bool read_beginning(const std::string& path, MutableBytes out) const;
  Status write(const std::string& path, Bytes data, FileSync sync);

  // Whether a helper can use it.
  bool holds(const std::string& path, std::uint64_t digest) const;
  void power_cut(std::uint64_t draw);

 private:
  struct File {
    test::Content content, before;  // before: what is on the medium, where that is another one
    bool synced = true;
  };
  std::map<std::string, File> files_;
};

}  // namespace idletune::lives
