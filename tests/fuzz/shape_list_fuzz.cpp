// Reading anything as a list of problems.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "agent/host/explore/shape_list.hpp"

using namespace idletune;
using namespace idletune::explore;

namespace {

void check(const Result<std::vector<Shape>>& shapes, std::size_t features) {
  if (!shapes.ok()) return;
  if (shapes->empty() || shapes->size() > kMaxListedShapes) std::abort();
  for (const Shape& shape : *shapes) {
    if (shape.size() != 3 || shape.feature_count() != features || shape.overflow()) std::abort();
    for (const std::int64_t size : shape.values()) {
      if (size < 0 || size > kMaxListedSize) std::abort();
    }
    for (std::size_t f = 0; f < features; ++f) {
      if (!std::isfinite(shape.feature(f)) || shape.feature(f) < 0) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, size);
  check(read_shapes(bytes, "list", {{"M", "N", "K"}, {}, {}}), 0);
  check(read_shapes(bytes, "list", {{"M", "N", "K"}, {"feature"}, {{"N", 5}}}), 1);
  return 0;
}
