// Notes in memory, as an agent keeps them, and what they are like before the medium has answered.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <idletune/notes.hpp>

namespace idletune::test {

struct MadeUpNotes : Notes {
  std::string noted(std::uint64_t digest) const override {
    const auto found = texts.find(digest);
    return found == texts.end() ? std::string() : found->second;
  }
  void note(std::uint64_t digest, const std::string& text) override {
    texts[digest] = text;
    ++written;
  }
  bool synced(std::chrono::nanoseconds wait) override {
    if (wait.count() > 0 && !answers) ++waits, waited += wait;
    return answers;
  }
  std::map<std::uint64_t, std::string> texts;
  int written = 0;
  int waits = 0;  // until there was no answer
  void account(std::chrono::nanoseconds took, std::chrono::nanoseconds more) override {
    work += took;
    lost += more;
  }
  bool answers = true;
  std::chrono::nanoseconds work{0}, lost{0}, waited{0};
};

}  // namespace idletune::test
