// explain() for machines.
#pragma once

#include <string>

#include <idletune/agent.hpp>

namespace idletune::detail {

// {"status": {...}, "kernels": [{...}, ...]}: every field of the two structures under its own name.
class ExplanationText {
 public:
  void add(const Explanation& explanation);
  std::string finish(const AgentStatus& status) const;

 private:
  std::string kernels_;
};

}  // namespace idletune::detail
