#include <idletune/result.hpp>
#include <idletune/text.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "models/core/number_text.hpp"

using namespace idletune;

TEST_CASE("joined puts texts and whole numbers in the places of its form") {
  const std::string name = "gemm";
  const std::string_view part = std::string_view("shape and more").substr(0, 5);
  CHECK(joined("kernel '%', % of % sizes", name, part, 3) == "kernel 'gemm', shape of 3 sizes");
  CHECK(joined("") == "");
  CHECK(joined("% of 50 %", 3) == "3 of 50 %");
  CHECK(joined("%%", std::string(), std::string_view()) == "");
}

TEST_CASE("a number's text has a point in every language") {
  CHECK(with_point("0,5") == "0.5");
  CHECK(with_point("-1,25e-07") == "-1.25e-07");
  CHECK(number_text(-1.25e-7, 9) == "-1.25e-07");
}

TEST_CASE("numbers of every integer type are written in decimal, to the ends of their ranges") {
  CHECK(joined("% %", std::int64_t{INT64_MIN}, std::int64_t{INT64_MAX}) ==
        "-9223372036854775808 9223372036854775807");
  CHECK(joined("% %", std::uint64_t{UINT64_MAX}, std::uint64_t{0}) == "18446744073709551615 0");
  CHECK(joined("%,%,%,%", -1, std::int16_t{-32768}, std::uint8_t{255}, UINT32_MAX) ==
        "-1,-32768,255,4294967295");
}

TEST_CASE("a text with a zero inside is kept whole unless it is a plain array") {
  const std::string zero("a\0b", 3);
  CHECK(joined("%c", zero) == std::string("a\0bc", 4));
  CHECK(joined("%c", zero.c_str()) == "ac");
}

TEST_CASE("append keeps what is there, also when the text itself is a piece") {
  std::string text = "a";
  append(text, "%b", 1);
  CHECK(text == "a1b");
  text = joined("%%", text, text);
  CHECK(text == "a1ba1b");
}

TEST_CASE("the message of a status and of a result is its form with its pieces") {
  const Status status(StatusCode::corrupt, "row %: damaged", 7);
  CHECK(status.to_string() == "corrupt: row 7: damaged");
  const Result<int> result(StatusCode::not_found, "file '%'", std::string("x"));
  CHECK(result.status().message() == "file 'x'");
  CHECK(Status(StatusCode::busy, "ab").message() == "ab");  // not a range of characters
}

TEST_CASE("the status of a result can be kept after the result is gone") {
  const auto make = [](bool fails) {
    return fails ? Result<int>(StatusCode::busy, "in use") : Result<int>(1);
  };
  const Status& kept = make(true).status();
  CHECK(kept.message() == "in use");
  CHECK(make(false).status().ok());
  const Result<int> good = make(false);
  CHECK(good.status().ok());
  CHECK(good.status().message().empty());
}
