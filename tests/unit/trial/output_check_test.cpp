#include "agent/trial/output_check.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "agent/trial/tuning_data.hpp"
#include "tests/bytes_of.hpp"

using namespace idletune;
using namespace idletune::trial;
using idletune::test::bytes_of;

namespace {

template <class T>
OutputCheck compared(ScalarType type, const Tolerance& tolerance, const std::vector<T>& output,
                     const std::vector<T>& reference, const std::uint32_t* poison = nullptr) {
  static ArgumentSpec spec;
  spec.name = "c";
  spec.type = type;
  OutputCheck check(spec, tolerance, poison);
  check.add(bytes_of(output), bytes_of(reference));
  return check;
}

Tolerance tolerance(double absolute, double relative = 0, double scale = 0) {
  Tolerance result;
  result.absolute = absolute;
  result.relative = relative;
  result.scale = scale;
  return result;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("the bound itself passes, one step beyond fails") {
  const std::vector<float> reference = {8.0f};
  CHECK(compared<float>(ScalarType::f32, tolerance(0.5), {8.5f}, reference).passed());
  CHECK(compared<float>(ScalarType::f32, tolerance(0.5), {7.5f}, reference).max_error() == 1.0);
  CHECK_FALSE(
      compared<float>(ScalarType::f32, tolerance(0.5), {std::nextafter(8.5f, 9.0f)}, reference)
          .passed());
}

TEST_CASE("relative tolerance follows the reference but not below the scale") {
  CHECK(compared<double>(ScalarType::f64, tolerance(0, 0.25), {125.0}, {100.0}).passed());
  CHECK_FALSE(compared<double>(ScalarType::f64, tolerance(0, 0.25), {1.5}, {1.0}).passed());
  CHECK(compared<double>(ScalarType::f64, tolerance(0, 0.25, 2), {1.5}, {1.0}).passed());
}

TEST_CASE("NaN and infinity are equal to themselves only") {
  const auto passes = [](float output, float reference) {
    return compared<float>(ScalarType::f32, tolerance(1e30, 1e30), {output}, {reference}).passed();
  };
  CHECK(passes(kNan, kNan));
  CHECK_FALSE(passes(kNan, 1));
  CHECK_FALSE(passes(1, kNan));
  CHECK(passes(kInf, kInf));
  CHECK_FALSE(passes(kInf, -kInf));
  CHECK_FALSE(passes(kInf, 1));
  CHECK_FALSE(passes(1, kInf));
}

TEST_CASE("without a tolerance only equal values pass, zeros of either sign included") {
  CHECK(compared<float>(ScalarType::f32, tolerance(0), {-0.0f}, {0.0f}).passed());
  const OutputCheck check = compared<float>(ScalarType::f32, tolerance(0), {1e-38f}, {0.0f});
  CHECK_FALSE(check.passed());
  CHECK(std::isinf(check.max_error()));
}

TEST_CASE("64-bit integers are compared exactly") {
  const std::int64_t big = (std::int64_t{1} << 53) + 1;  // no double
  CHECK_FALSE(compared<std::int64_t>(ScalarType::i64, tolerance(0), {big}, {big - 1}).passed());
  CHECK(compared<std::int64_t>(ScalarType::i64, tolerance(1), {big}, {big - 1}).passed());
  CHECK_FALSE(
      compared<std::int64_t>(ScalarType::i64, tolerance(1), {INT64_MIN}, {INT64_MAX}).passed());
  CHECK_FALSE(compared<std::uint64_t>(ScalarType::u64, tolerance(1), {UINT64_MAX}, {0}).passed());
  CHECK(compared<std::uint32_t>(ScalarType::u32, tolerance(2), {5}, {7}).passed());
  CHECK_FALSE(compared<std::int32_t>(ScalarType::i32, tolerance(1), {5}, {7}).passed());
}

TEST_CASE("what the reference wrote must be written, what it left must be left") {
  const std::uint32_t word = poison_word(ScalarType::f32, 2, 1);
  float poison;
  std::memcpy(&poison, &word, sizeof poison);
  const auto check = [&](float output, float reference) {
    return compared<float>(ScalarType::f32, tolerance(1e30), {output}, {reference}, &word);
  };
  CHECK(check(poison, poison).passed());
  CHECK_FALSE(check(poison, 1).passed());
  CHECK_FALSE(check(1, poison).passed());
  CHECK_FALSE(check(kNan, poison).passed());
  CHECK(check(poison, 1).message().find("element 0 was not written, expected 1") !=
        std::string::npos);
}

TEST_CASE("the first wrong element is named over all chunks, and all are counted") {
  ArgumentSpec spec;
  spec.name = "c";
  spec.type = ScalarType::i32;
  OutputCheck check(spec, tolerance(0), nullptr);
  const std::vector<std::int32_t> right = {1, 2, 3};
  const std::vector<std::int32_t> wrong = {1, 9, 8};
  check.add(bytes_of(right), bytes_of(right));
  check.add(bytes_of(wrong), bytes_of(right));
  check.add(bytes_of(wrong), bytes_of(right));
  CHECK(check.elements() == 9);
  CHECK(check.message() ==
        "output 'c': element 4 is 9, expected 2 (allowed difference 0); 4 of 9 elements differ");
}

TEST_CASE("halves are compared as the numbers that they are") {
  const auto bits = [](double value) { return Half(value).bits; };
  const auto check = [&](double output, double reference) {
    return compared<std::uint16_t>(ScalarType::f16, tolerance(0.01), {bits(output)},
                                   {bits(reference)});
  };
  CHECK(check(1.005, 1).passed());
  CHECK_FALSE(check(1.02, 1).passed());
  CHECK(check(0.0, -0.0).passed());
  CHECK_FALSE(check(std::nan(""), 1).passed());
  CHECK(check(1e9, 1e6).passed());  // both are infinite
  CHECK(check(2, 1).message().find("element 0 is 2, expected 1") != std::string::npos);
}

TEST_CASE("bytes may be off by what the tolerance says, whatever the poison was") {
  const std::uint32_t word = 0x07070707u;
  const auto check = [&](std::uint8_t output, std::uint8_t reference) {
    return compared<std::uint8_t>(ScalarType::u8, tolerance(1), {output}, {reference}, &word);
  };
  CHECK(check(7, 8).passed());
  CHECK(check(8, 7).passed());
  CHECK_FALSE(check(7, 9).passed());
  CHECK_FALSE(check(0, 255).passed());
  CHECK_FALSE(compared<std::int8_t>(ScalarType::i8, tolerance(100), {-128}, {127}).passed());
  CHECK(compared<std::int16_t>(ScalarType::i16, tolerance(2), {-1}, {1}).passed());
}

TEST_CASE("a half that was not written is said to be so") {
  const std::uint32_t word = poison_word(ScalarType::f16, 2, 1);
  std::vector<std::uint8_t> bytes(4);
  fill_words(word, bytes);
  for (const std::size_t element : {0, 1}) {
    std::uint16_t left = 0;
    std::memcpy(&left, &bytes[2 * element], sizeof left);
    const auto check =
        compared<std::uint16_t>(ScalarType::f16, tolerance(1e30), {left}, {Half(1).bits}, &word);
    CHECK(check.message().find("was not written") != std::string::npos);
  }
}
