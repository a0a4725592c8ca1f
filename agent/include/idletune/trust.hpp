// Which pushed files an agent believes: for AgentOptions::trust.
#pragma once

#include <cstddef>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune {

// An application may bring its own; <idletune/signing.hpp> has one for signed files.
class FileTrust {
 public:
  virtual ~FileTrust() = default;
  // Asked of the bytes of each model and each kernel package that is read from a file, before
  // anything else looks at them: how many of them, from the first one on, are to be read. The others
  // prove where they come from. Any thread. Errors: untrusted (one line that says why).
  virtual Result<std::size_t> believed(Bytes file) const = 0;
};

}  // namespace idletune
