#include "kernels/krylov/matrix_market.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/unit/krylov/matrices.hpp"

using namespace idletune;
using Indices = std::vector<std::int32_t>;
using Numbers = std::vector<double>;

namespace {

const std::string kGeneral = "%%MatrixMarket matrix coordinate real general\n";

// The message of a text that must be refused.
std::string refusal(const std::string& text, StatusCode code = StatusCode::corrupt) {
  const auto read = krylov::read_matrix_market(text, "a.mtx");
  CHECK(read.status().code() == code);
  return read.status().message();
}

}  // namespace

TEST_CASE("rows come in order; an entry in two lines is their sum; a zero stays") {
  const krylov::MatrixMarket read = test::read_good(test::krylov_data("small.mtx"));
  CHECK(read.matrix.pattern.rows == 6);
  CHECK(read.matrix.pattern.columns == 8);
  CHECK(read.matrix.pattern.row_start == Indices{0, 4, 5, 5, 7, 8, 11});
  CHECK(read.matrix.pattern.column == Indices{0, 2, 3, 7, 1, 0, 3, 5, 1, 2, 5});
  CHECK(read.matrix.values == Numbers{2.5, -1, 1e-3, 4, 3, 0, -2.25, 1.5, 1.5, -0.5, 7});
  CHECK(read.file_entries == 12);
  CHECK(read.explicit_zeros == 1);
  CHECK(read.duplicates == 1);
}

TEST_CASE("the missing half of a symmetric matrix is its mirror, a pattern is ones") {
  const krylov::MatrixMarket read = test::read_good(test::krylov_data("symmetric.mtx"));
  CHECK(read.matrix.pattern.row_start == Indices{0, 2, 5, 6, 8});
  CHECK(read.matrix.pattern.column == Indices{0, 1, 0, 1, 3, 2, 1, 3});
  CHECK(read.matrix.values == Numbers{4, -1, -1, 4, -2, 4, -2, 5});
  const krylov::MatrixMarket pattern = test::read_good(test::krylov_data("pattern.mtx"));
  CHECK(pattern.field == "pattern");
  CHECK(pattern.matrix.values == Numbers{1, 1, 1, 1});
  const krylov::MatrixMarket skew = test::read_good(
      "%%MatrixMarket MATRIX Coordinate Real Skew-Symmetric\r\n2 2 1\r\n2 1 3.5\r\n");
  CHECK(skew.matrix.values == Numbers{-3.5, 3.5});
  CHECK(test::read_good(kGeneral + "0 0 0\n").matrix.pattern.entries() == 0);
}

TEST_CASE("a wrong file is told by its line") {
  CHECK(refusal("") == "a.mtx:0: expected a line that begins with '%%MatrixMarket matrix'");
  CHECK(refusal("%%MatrixMarket matrix array real general\n1 1\n1\n", StatusCode::unsupported) ==
        "a.mtx:1: got a matrix as 'array', expected 'coordinate'");
  CHECK(refusal("%%MatrixMarket matrix coordinate complex general\n", StatusCode::unsupported) ==
        "a.mtx:1: got 'complex' entries, expected real, integer or pattern");
  CHECK(refusal("%%MatrixMarket matrix coordinate real hermitian\n", StatusCode::unsupported)
            .find("got a 'hermitian' matrix") != std::string::npos);
  CHECK(refusal(kGeneral) == "a.mtx:1: the file ends before the line of sizes");
  CHECK(refusal(kGeneral + "2 2\n") == "a.mtx:2: expected rows, columns and entries");
  CHECK(refusal(kGeneral + "2 -2 1\n").find("a.mtx:2: expected rows and columns from 0") == 0);
  CHECK(refusal(kGeneral + "3 3 1000000000\n1 1 1\n") ==
        "a.mtx:2: 1000000000 entries promised, but only 6 bytes follow");
  CHECK(refusal(kGeneral + "2000000000 1 0\n", StatusCode::out_of_memory)
            .find("a.mtx:2: 2000000000 x 1 with 0 entries") == 0);
  CHECK(refusal(kGeneral + "2 2 2\n1 1 1\n") ==
        "a.mtx:3: the file ends after 1 entries, expected 2");
  CHECK(refusal(kGeneral + "2 2 1\n1 1 1\n2 2 1\n") == "a.mtx:4: expected no more than 1 entries");
  CHECK(refusal(kGeneral + "2 2 1\n3 1 1\n") ==
        "a.mtx:3: expected a row from 1 to 2 and a column to 2");
  for (const char* number : {"", "x", "nan", "inf", "1e999", "0x10", "1.2.3"}) {
    CAPTURE(number);
    CHECK(refusal(kGeneral + "2 2 1\n1 1 " + number + "\n") == "a.mtx:3: expected a finite number");
  }
  CHECK(refusal(kGeneral + "2 2 1\n1 1 1 1\n") == "a.mtx:3: more on the line than an entry");
}

TEST_CASE("a symmetric file that is not is refused") {
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
  CHECK(refusal(symmetric + "2 3 0\n").find("as many rows as columns") != std::string::npos);
  CHECK(
      refusal(symmetric + "2 2 2\n2 1 1\n1 2 1\n").find("row 1, column 2 stands in both halves") !=
      std::string::npos);
  CHECK(refusal("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n") ==
        "a.mtx:3: a skew-symmetric matrix has zeros on its diagonal");
}
