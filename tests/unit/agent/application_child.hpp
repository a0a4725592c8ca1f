// An application in a process of its own, which a test may kill.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>

#include "platform/os/process.hpp"
#include "platform/os/storage.hpp"
#include "tests/unit/agent/tuned_packages.hpp"
#include "tests/unit/agent/watched_agent.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

namespace idletune::test {

// Its program is application_process.cpp.
class Process {
 public:
  Process(const std::string& package, const std::string& state, const std::string& isolation,
          const Shape& shape) {
    auto folder = required(self_executable_folder());
    ProcessOptions options;
    options.program = folder + "/idletune_application_process";
    options.arguments = {package, state, isolation};
    for (std::size_t i = 0; i < shape.size(); ++i) {
      options.arguments.push_back(std::to_string(shape[i]));
    }
    options.inherit_output = true;  // what a sanitizer says of it
    child_ = required(ChildProcess::start(options));
  }
  // Takes in lines until one begins with `begin`, the time is over or the process is gone. Whether
  // there was such a line.
  bool read_until(const std::string& begin, Nanoseconds wait) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + wait;
    for (;;) {
      std::uint8_t bytes[4096];
      const auto left = std::max<Nanoseconds>(end - Clock::now(), Nanoseconds(0));
      const auto got = child_->channel().receive(MutableBytes(bytes), left);
      if (!got.ok()) return false;
      const std::size_t before = lines.size();
      take(bytes, *got);
      for (std::size_t i = before; i < lines.size() && !begin.empty(); ++i) {
        if (lines[i].compare(0, begin.size(), begin) == 0) return true;
      }
      if (Clock::now() >= end) return false;
    }
  }
  void kill() {
    child_->kill();
    (void)read_until("", std::chrono::seconds(5));  // what it had said before
  }
  ExitStatus wait() {
    (void)read_until("", kPatience);
    REQUIRE_MESSAGE(child_->ended(kPatience), text());
    return child_->exit_status();
  }
  // The last line that begins with one of the words; empty if there is none.
  std::string last(const std::string& begin) const {
    for (std::size_t i = lines.size(); i-- > 0;) {
      if (lines[i].compare(0, begin.size(), begin) == 0) return lines[i];
    }
    return {};
  }
  std::size_t count(const std::string& part) const {
    std::size_t found = 0;
    for (const std::string& line : lines) found += line.find(part) != std::string::npos;
    return found;
  }
  std::string text() const {
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
  }
  std::vector<std::string> lines;

 private:
  void take(const std::uint8_t* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      if (bytes[i] != '\n') {
        rest_ += static_cast<char>(bytes[i]);
      } else {
        lines.push_back(rest_);
        rest_.clear();
      }
    }
  }
  std::unique_ptr<ChildProcess> child_;
  std::string rest_;
};

inline std::string write_package(const TemporaryFolder& folder,
                                 const KernelDescription& description) {
  const std::string path = folder.file("package.itkernel");
  REQUIRE(write_file_atomically(path, packed(description)).ok());
  return path;
}

}  // namespace idletune::test
