// The content digest of a kernel package: one rule for the writer and the reader.
#pragma once

#include <cstddef>
#include <cstdint>

#include <idletune/span.hpp>

namespace idletune::package {

// A part of the file that the digest leaves out, as offset and length in bytes.
struct Hole {
  std::size_t offset = 0;
  std::size_t length = 0;
};

// The digest of `file` without the seal and the signature. The holes lie inside the file and do not
// overlap; an empty signature is a hole of length 0.
std::uint64_t content_digest(Bytes file, Hole seal, Hole signature);

}  // namespace idletune::package
