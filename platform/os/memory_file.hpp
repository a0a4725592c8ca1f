// A small file in memory: its bytes outlive the process and never wait for a disk, but are gone
// when the machine is.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <idletune/result.hpp>

namespace idletune {

class MemoryFile {
 public:
  // That of the folder `about`, whatever path leads there; made where there is none, all of it 0.
  // `places`: folders for it, the first one that will do. Errors: not_found (the folder);
  // unsupported (none of the places is a tmpfs that takes it); those of the system.
  static Result<std::unique_ptr<MemoryFile>> open(const std::string& about, std::size_t bytes,
                                                  const std::vector<std::string>& places);
  // Where this user's or this board's is.
  static std::vector<std::string> usual_places();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void* data() const { return data_; }  // aligned to a page
  // Nobody needs its bytes any more, nor opens it now.
  void remove() const;

 private:
  MemoryFile(void* data, std::size_t bytes, std::string path)
      : data_(data), bytes_(bytes), path_(std::move(path)) {}

  void* data_;
  std::size_t bytes_;
  std::string path_;
};

}  // namespace idletune
