#include "models/package/package_seal.hpp"

#include <utility>

#include "models/core/digest.hpp"

namespace idletune::package {

std::uint64_t content_digest(Bytes file, Hole seal, Hole signature) {
  if (signature.length == 0) signature = Hole{file.size(), 0};
  if (signature.offset < seal.offset) std::swap(seal, signature);
  const std::size_t between = seal.offset + seal.length;
  const std::size_t after = signature.offset + signature.length;
  return Digest()
      .add(file.subspan(0, seal.offset))
      .add(file.subspan(between, signature.offset - between))
      .add(file.subspan(after))
      .value();
}

}  // namespace idletune::package
