#include "agent/trial/tuning_data.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/unit/trial/scale_kernel.hpp"

using namespace idletune;
using namespace idletune::trial;

namespace {

ArgumentSpec spec_of(ScalarType type, Fill fill, double low, double high) {
  ArgumentSpec spec;
  spec.type = type;
  spec.fill = fill;
  spec.fill_low = low;
  spec.fill_high = high;
  return spec;
}

template <class T>
std::vector<T> filled(const ArgumentSpec& spec, std::uint32_t argument, std::uint32_t seed,
                      std::uint64_t first, std::size_t count) {
  std::vector<T> values(count);
  fill_elements(spec, argument, seed, first,
                MutableBytes(reinterpret_cast<std::uint8_t*>(values.data()), count * sizeof(T)));
  return values;
}

}  // namespace

TEST_CASE("made-up indices lie below their bound, and a ramp ends at the largest") {
  KernelDescription description = fake::scale_description();
  DescribedArgument index = description.arguments[0];
  index.type = ScalarType::i32;
  index.index_below = "N - 3";
  description.arguments.push_back(index);
  description.arguments.back().name = "ramp";
  description.arguments.back().fill = Fill::ramp;
  index.name = "again";
  index.fill = Fill::index;
  description.arguments.push_back(index);
  const auto package = fake::package_of(description);
  const Shape shape({7});
  CHECK(filled<std::int32_t>(fill_at(*package, 5, shape, 28), 5, 1, 0, 7) ==
        std::vector<std::int32_t>{0, 1, 1, 2, 2, 3, 3});
  CHECK(filled<std::int32_t>(fill_at(*package, 6, shape, 28), 6, 1, 0, 7) ==
        std::vector<std::int32_t>{0, 1, 2, 3, 0, 1, 2});
  // A single element, and a bound below 1.
  CHECK(filled<std::int32_t>(fill_at(*package, 5, Shape({1}), 4), 5, 1, 0, 1)[0] == 0);
}

TEST_CASE("elements depend on their number, not on where a chunk begins") {
  const ArgumentSpec spec = spec_of(ScalarType::f32, Fill::uniform, -1, 1);
  const auto whole = filled<float>(spec, 3, 7, 0, 100);
  const auto part = filled<float>(spec, 3, 7, 40, 60);
  CHECK(std::vector<float>(whole.begin() + 40, whole.end()) == part);
}

TEST_CASE("seeds and arguments give different data") {
  const ArgumentSpec spec = spec_of(ScalarType::f32, Fill::uniform, 0, 1);
  const auto base = filled<float>(spec, 0, 1, 0, 50);
  CHECK(base != filled<float>(spec, 0, 2, 0, 50));
  CHECK(base != filled<float>(spec, 1, 1, 0, 50));
}

TEST_CASE("uniform data stays in its interval and fills it") {
  const ArgumentSpec spec = spec_of(ScalarType::f32, Fill::uniform, -3, 5);
  const auto values = filled<float>(spec, 0, 1, 0, 20000);
  double sum = 0;
  float least = 5;
  float most = -3;
  for (const float v : values) {
    CHECK_UNARY(v >= -3);
    CHECK_UNARY(v < 5);
    sum += static_cast<double>(v);
    least = std::min(least, v);
    most = std::max(most, v);
  }
  // The mean's standard deviation is 8 / sqrt(12 * 20000) = 0.0163; five of them.
  CHECK(std::fabs(sum / 20000 - 1) < 0.0817);
  CHECK(least < -2.98f);
  CHECK(most > 4.98f);
}

TEST_CASE("integers are uniform over the whole numbers of the interval") {
  for (const std::int32_t low : {0, -2, -4}) {
    const ArgumentSpec spec = spec_of(ScalarType::i32, Fill::uniform, low, low + 4);
    int counts[4] = {};
    for (const std::int32_t v : filled<std::int32_t>(spec, 0, 1, 0, 4000)) {
      REQUIRE(v >= low);
      REQUIRE(v < low + 4);
      ++counts[v - low];
    }
    for (const int count : counts) CHECK(std::abs(count - 1000) < 137);  // five sigma
  }
}

TEST_CASE("constant, zero and index fills are what they say") {
  CHECK(filled<double>(spec_of(ScalarType::f64, Fill::constant, 2.5, 0), 0, 1, 0, 2) ==
        std::vector<double>{2.5, 2.5});
  CHECK(filled<std::int64_t>(spec_of(ScalarType::i64, Fill::zero, 9, 9), 0, 1, 0, 2) ==
        std::vector<std::int64_t>{0, 0});
  CHECK(filled<std::uint32_t>(spec_of(ScalarType::u32, Fill::index, 5, 8), 0, 1, 2, 4) ==
        std::vector<std::uint32_t>{7, 5, 6, 7});
  CHECK(filled<std::uint64_t>(spec_of(ScalarType::u64, Fill::index, 5, 5), 0, 1, 2, 2) ==
        std::vector<std::uint64_t>{7, 8});
}

TEST_CASE("values that a type does not have become its nearest") {
  CHECK(filled<std::uint32_t>(spec_of(ScalarType::u32, Fill::constant, -1, 0), 0, 1, 0, 1)[0] == 0);
  CHECK(filled<std::int32_t>(spec_of(ScalarType::i32, Fill::constant, 1e12, 0), 0, 1, 0, 1)[0] ==
        INT32_MAX);
  CHECK(filled<std::int64_t>(spec_of(ScalarType::i64, Fill::constant, 1e300, 0), 0, 1, 0, 1)[0] ==
        INT64_MAX);
  CHECK(filled<std::uint64_t>(spec_of(ScalarType::u64, Fill::constant, 1e300, 0), 0, 1, 0, 1)[0] ==
        UINT64_MAX);
}

TEST_CASE("scalars have the size of their type and the value of their fill") {
  const Argument value = scalar_value(spec_of(ScalarType::f32, Fill::constant, 1.5, 0), 0, 1);
  REQUIRE(value.size() == 4);
  float number = 0;
  std::memcpy(&number, value.data(), 4);
  CHECK(number == 1.5f);
  CHECK(value.type() == ScalarType::f32);
  CHECK_FALSE(value.is_buffer());
}

TEST_CASE("bytes and halves are filled like wider types") {
  CHECK(filled<std::uint8_t>(spec_of(ScalarType::u8, Fill::index, 254, 254), 0, 1, 0, 3) ==
        std::vector<std::uint8_t>{254, 255, 255});
  CHECK(filled<std::int16_t>(spec_of(ScalarType::i16, Fill::constant, -7, -7), 0, 1, 0, 2) ==
        std::vector<std::int16_t>{-7, -7});
  const auto halves =
      filled<std::uint16_t>(spec_of(ScalarType::f16, Fill::uniform, -1, 1), 0, 1, 0, 2000);
  for (const std::uint16_t bits : halves) {
    Half half;
    half.bits = bits;
    CHECK_UNARY(half.value() >= -1);
    CHECK_UNARY(half.value() < 1);
  }
  int counts[256] = {};
  for (const std::uint8_t v :
       filled<std::uint8_t>(spec_of(ScalarType::u8, Fill::uniform, 0, 256), 0, 1, 0, 25600)) {
    ++counts[v];
  }
  for (const int count : counts) CHECK(std::abs(count - 100) < 60);  // six sigma
}

TEST_CASE("poison is a NaN in all floating-point types") {
  for (std::uint32_t argument = 0; argument < 20; ++argument) {
    std::uint8_t bytes[8];
    fill_words(poison_word(ScalarType::f32, argument, argument * 3), bytes);
    float single;
    double twice;
    Half halves[2];
    std::memcpy(&single, bytes, sizeof single);
    std::memcpy(&twice, bytes, sizeof twice);
    std::memcpy(halves, bytes, sizeof halves);
    CHECK(std::isnan(single));
    CHECK(std::isnan(twice));
    CHECK(std::isnan(halves[0].value()));
    CHECK(std::isnan(halves[1].value()));
    CHECK(guard_word(argument) != poison_word(ScalarType::f32, argument, 1));
  }
}

TEST_CASE("poison of bytes is another one for another seed") {
  CHECK(poison_word(ScalarType::u8, 0, 1) != poison_word(ScalarType::u8, 0, 2));
}
