#include "models/core/scalar.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

using namespace idletune;

namespace {

std::uint16_t half_bits(double value) { return Half(value).bits; }

template <class T>
T stored(ScalarType type, double value) {
  T result{};
  store_number(type, value, &result);
  return result;
}

}  // namespace

TEST_CASE("every half keeps its bits on the way through a double") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half half;
    half.bits = static_cast<std::uint16_t>(bits);
    if (std::isnan(half.value())) {
      CHECK((bits & 0x7fff) > 0x7c00);
    } else {
      CHECK(half_bits(half.value()) == bits);
    }
  }
}

TEST_CASE("a double becomes its nearest half, the even one of two") {
  CHECK(half_bits(1) == 0x3c00);
  CHECK(half_bits(-2) == 0xc000);
  CHECK(half_bits(65504) == 0x7bff);
  CHECK(half_bits(65519.99) == 0x7bff);
  CHECK(half_bits(65520) == 0x7c00);
  CHECK(half_bits(-std::numeric_limits<double>::infinity()) == 0xfc00);
  CHECK(half_bits(0x1p-24) == 1);
  CHECK(half_bits(0x1p-25) == 0);
  CHECK(half_bits(0x1.8p-24) == 2);
  CHECK(half_bits(0x1p-14 - 0x1p-26) == 0x0400);
  CHECK(half_bits(1 + 0x1p-11) == 0x3c00);
  CHECK(half_bits(1 + 0x1.8p-10) == 0x3c02);
  CHECK(half_bits(1 + 0x1p-11 + 0x1p-40) == 0x3c01);
  CHECK(half_bits(2 - 0x1p-12) == 0x4000);
  CHECK(std::isnan(Half(std::nan("")).value()));
  CHECK(std::signbit(Half(-0.0).value()));
}

TEST_CASE("values that an integer type does not have become its nearest") {
  CHECK(stored<std::int8_t>(ScalarType::i8, -200) == -128);
  CHECK(stored<std::int8_t>(ScalarType::i8, 127.9) == 127);
  CHECK(stored<std::int8_t>(ScalarType::i8, -1.9) == -2);
  CHECK(stored<std::uint8_t>(ScalarType::u8, 256) == 255);
  CHECK(stored<std::uint8_t>(ScalarType::u8, -0.5) == 0);
  CHECK(stored<std::int16_t>(ScalarType::i16, 1e9) == 32767);
  CHECK(stored<std::uint16_t>(ScalarType::u16, 65535.5) == 65535);
  CHECK(stored<std::int64_t>(ScalarType::i64, -1e300) == INT64_MIN);
  CHECK(stored<std::uint64_t>(ScalarType::u64, 1e300) == UINT64_MAX);
  CHECK(stored<std::uint32_t>(ScalarType::u32, std::nan("")) == 0);
}

TEST_CASE("whole numbers are stored exactly, or not at all") {
  std::int8_t byte = 0;
  CHECK(store_integer(ScalarType::i8, -128, &byte));
  CHECK(byte == -128);
  CHECK(load_number(ScalarType::i8, &byte) == -128);
  CHECK_FALSE(store_integer(ScalarType::i8, 128, &byte));
  std::uint16_t word = 0;
  CHECK(store_integer(ScalarType::u16, 65535, &word));
  CHECK_FALSE(store_integer(ScalarType::u16, -1, &word));
  std::int32_t number = 0;
  CHECK_FALSE(store_integer(ScalarType::i32, std::int64_t{1} << 40, &number));
  std::int64_t large = 0;
  CHECK(store_integer(ScalarType::i64, INT64_MIN, &large));
  CHECK(large == INT64_MIN);
  CHECK_FALSE(store_integer(ScalarType::u64, -1, &large));
}

TEST_CASE("types have names and sizes, and numbers that are none have neither") {
  CHECK(std::string(scalar_type_name(ScalarType::f16)) == "f16");
  CHECK(scalar_size_bytes(ScalarType::f16) == 2);
  CHECK(scalar_size_bytes(ScalarType::u8) == 1);
  CHECK(scalar_size_bytes(static_cast<ScalarType>(kScalarTypeCount)) == 0);
  CHECK(std::string(scalar_type_name(static_cast<ScalarType>(200))) == "unknown");
}
