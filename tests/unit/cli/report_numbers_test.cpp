#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "agent/host/pictures/scale.hpp"
#include "agent/host/report/numbers.hpp"

using namespace idletune::report;

namespace {
const std::string kSpace = "\xc2\xa0";
}

TEST_CASE("numbers have as many digits as matter") {
  CHECK(significant(0) == "0");
  CHECK(significant(1.234) == "1.23");
  CHECK(significant(0.012345) == "0.0123");
  CHECK(significant(12345) == "12,300");
  CHECK(significant(-9876.5, 2) == "-9,900");
  CHECK(significant(2, 2) == "2.0");
  CHECK(significant(123456789, 4) == "123,500,000");
}

TEST_CASE("rounding up to the next power of ten keeps the number of digits") {
  CHECK(significant(9.996) == "10.0");
  CHECK(significant(0.9996) == "1.00");
  CHECK(significant(99.96, 2) == "100");
  CHECK(significant(0.00009999, 2) == "0.00010");
}

TEST_CASE("very large and very small numbers have exponents") {
  CHECK(significant(1.234e-7) == "1.23e-07");
  CHECK(significant(1.234e12, 2) == "1.2e+12");
}

TEST_CASE("what is no number is a dash") {
  CHECK(significant(std::nan("")) == "-");
  CHECK(percent_text(std::numeric_limits<double>::infinity()) == "-");
  CHECK(time_text(std::nan("")) == "-");
  CHECK(axis_text(std::nan("")) == "-");
}

TEST_CASE("percentages near the whole keep what separates them from it") {
  CHECK(percent_text(0) == "0" + kSpace + "%");
  CHECK(percent_text(1) == "100" + kSpace + "%");
  CHECK(percent_text(0.9) == "90" + kSpace + "%");
  CHECK(percent_text(0.9995) == "99.95" + kSpace + "%");
  CHECK(percent_text(0.99999) == "> 99.99" + kSpace + "%");
  CHECK(percent_text(0.000123) == "0.0123" + kSpace + "%");
  CHECK(percent_text(0.4567) == "45.7" + kSpace + "%");
}

TEST_CASE("counts are grouped by threes") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1000) == "1,000");
  CHECK(count_text(1234567) == "1,234,567");
  CHECK(counted(1, "device", "devices") == "1" + kSpace + "device");
  CHECK(range_text("2", "5", " to ") == "2 to 5");
  CHECK(range_text(percent_text(0.08021), percent_text(0.08023)) == percent_text(0.0802));
  CHECK(counted(1200, "device", "devices") == "1,200" + kSpace + "devices");
}

TEST_CASE("times have the unit that suits them") {
  CHECK(time_text(500) == "500" + kSpace + "ns");
  CHECK(time_text(1234) == "1.23" + kSpace + "\xc2\xb5s");
  CHECK(time_text(4.56e7) == "45.6" + kSpace + "ms");
  CHECK(time_text(9e10) == "90.0" + kSpace + "s");
  CHECK(time_text(1.8e12) == "30.0" + kSpace + "min");
  CHECK(time_text(3.6e13) == "10.0" + kSpace + "h");
}

TEST_CASE("labels of axes are short") {
  CHECK(axis_text(0) == "0");
  CHECK(axis_text(0.01) == "0.01");
  CHECK(axis_text(0.0001) == "1e-4");
  CHECK(axis_text(1000) == "1k");
  CHECK(axis_text(2500000) == "2.5M");
  CHECK(axis_text(1e10) == "10G");
}

TEST_CASE("shapes are written with an x between their dimensions") {
  CHECK(shape_text({4096, 64, 1}) == "4096x64x1");
  CHECK(shape_text({7}) == "7");
  CHECK(shape_text({}) == "-");
}

TEST_CASE("counts that are means keep what is behind the point") {
  CHECK(mean_count_text(1473) == "1,473");
  CHECK(mean_count_text(1473.5) == "1,473.5");
  CHECK(mean_count_text(0.0123) == "0.0123");
  CHECK(mean_count_text(-4) == "-4");
}

TEST_CASE("changes have a sign") {
  CHECK(change_text(0.0123) == "+1.23\u00A0%");
  CHECK(change_text(-0.5) == "-50\u00A0%");
}
