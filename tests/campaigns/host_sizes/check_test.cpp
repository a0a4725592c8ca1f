// The comparison of outputs beyond 2^31 elements.
#include <doctest/doctest.h>

#include <vector>

#include "agent/trial/output_check.hpp"
#include "tests/unit/kernels/corner_device.hpp"

using namespace idletune;

TEST_CASE("a wrong element behind 2^31 is found and named") {
  std::vector<float> output(static_cast<std::size_t>(test::kBeyond), 1.0f);
  const std::vector<float> reference(output);
  const auto bytes = [](const std::vector<float>& numbers) {
    return Bytes(reinterpret_cast<const std::uint8_t*>(numbers.data()), 4 * numbers.size());
  };
  output.back() = 2;
  ArgumentSpec spec;
  spec.name = "c";
  spec.type = ScalarType::f32;
  trial::OutputCheck check(spec, {}, nullptr);
  check.add(bytes(output), bytes(reference));
  CHECK(check.elements() == static_cast<std::uint64_t>(test::kBeyond));
  CHECK(check.message().find("output 'c': element 2147483648 is 2, expected 1") == 0);
}
