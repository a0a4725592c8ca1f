#include "kernels/blas/unpacked.hpp"

#include <cstddef>

namespace idletune::gemm {
namespace {

// One block of LZ4: literals, then a match, in turn; literals come last.
struct Block {
  const std::uint8_t* at;
  const std::uint8_t* end;
  bool cut = false;  // more was asked for than there is

  std::size_t next() {
    cut = cut || at == end;
    return cut ? 0 : *at++;
  }
  std::size_t length(std::size_t begun) {
    if (begun < 15) return begun;
    std::size_t byte = 255;
    while (byte == 255) begun += byte = next();
    return begun;
  }
};

}  // namespace

std::vector<std::uint8_t> unpacked(Bytes compressed, Bytes known) {
  Block in{compressed.data(), compressed.data() + compressed.size()};
  std::size_t size = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) size |= in.next() << shift;
  std::vector<std::uint8_t> out;
  if (size / 256 > compressed.size()) return out;  // more than a block can say
  size += known.size();
  out.reserve(size);
  out.assign(known.begin(), known.end());
  while (!in.cut) {
    const std::size_t token = in.next();
    for (std::size_t i = in.length(token >> 4); i > 0 && out.size() < size; --i) {
      out.push_back(static_cast<std::uint8_t>(in.next()));
    }
    if (in.at == in.end) break;  // as every block ends
    std::size_t back = in.next();
    back |= in.next() << 8;
    if (!known.empty()) back |= in.next() << 16;
    if (back == 0 || back > out.size()) break;
    for (std::size_t i = in.length(token & 15) + 4; i > 0 && out.size() < size; --i) {
      out.push_back(out[out.size() - back]);
    }
  }
  const bool whole = !in.cut && out.size() == size;
  const auto own = out.begin() + static_cast<std::ptrdiff_t>(known.size());
  out.erase(out.begin(), whole ? own : out.end());
  return out;
}

}  // namespace idletune::gemm
