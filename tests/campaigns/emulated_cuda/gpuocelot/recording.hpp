// Launches that record.cpp wrote down.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

struct Allocation {
  std::uint64_t address;
  std::string before, after;
};

struct Launch {
  std::uint64_t program;
  std::string kernel;
  // The grid's three extents, the block's, and the bytes of shared memory.
  std::array<std::uint64_t, 7> shape;
  std::vector<std::string> arguments;
  std::vector<Allocation> allocations;
};

class Recording {
 public:
  explicit Recording(const std::string& path) : file_(std::fopen(path.c_str(), "rb")) {}
  ~Recording() {
    if (file_ != nullptr) std::fclose(file_);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // False at the end, and where it is torn.
  bool next(Launch& launch) {
    whole_ = file_ != nullptr;
    launch.program = number();
    launch.kernel = bytes();
    for (std::uint64_t& extent : launch.shape) extent = number();
    launch.arguments.resize(number());
    for (std::string& argument : launch.arguments) argument = bytes();
    launch.allocations.resize(number());
    for (Allocation& allocation : launch.allocations) {
      allocation.address = number();
      allocation.before = bytes();
      allocation.after = bytes();
    }
    return whole_;
  }

 private:
  void read(void* data, std::size_t size) {
    whole_ = whole_ && std::fread(data, 1, size, file_) == size;
  }
  std::uint64_t number() {
    std::uint64_t number = 0;
    read(&number, sizeof number);
    return whole_ ? number : 0;
  }
  std::string bytes() {
    std::string bytes(number(), '\0');
    read(&bytes[0], bytes.size());
    return bytes;
  }

  std::FILE* file_;
  bool whole_ = true;
};
