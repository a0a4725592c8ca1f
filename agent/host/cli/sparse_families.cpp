#include "agent/host/cli/sparse_families.hpp"

#include "models/core/random.hpp"

namespace idletune::cli {
namespace {

using krylov::SparsityPattern;

// Row by row. Columns of a row come in any order, also several times.
class PatternBuilder {
 public:
  explicit PatternBuilder(std::int32_t rows) { pattern_.columns = rows; }
  std::int32_t rows() const { return pattern_.columns; }
  void add(std::int64_t column) {
    if (column >= 0 && column < rows()) row_.push_back(static_cast<std::int32_t>(column));
  }
  void end_row() {
    std::sort(row_.begin(), row_.end());
    row_.erase(std::unique(row_.begin(), row_.end()), row_.end());
    pattern_.column.insert(pattern_.column.end(), row_.begin(), row_.end());
    pattern_.row_start.push_back(static_cast<std::int32_t>(pattern_.column.size()));
    ++pattern_.rows;
    row_.clear();
  }
  SparsityPattern finish() { return std::move(pattern_); }

 private:
  SparsityPattern pattern_;
  std::vector<std::int32_t> row_;
};

// A grid of equal sides; which neighbours count is said by the sum of the steps' lengths.
SparsityPattern grid(std::int32_t rows, int dimensions, int farthest, std::int32_t unknowns) {
  const double points = static_cast<double>(rows) / unknowns;
  const auto side = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::pow(points, 1.0 / dimensions) + 1e-9));
  const std::int64_t deep = dimensions == 3 ? side : 1;
  PatternBuilder builder(static_cast<std::int32_t>(side * side * deep * unknowns));
  const auto inside = [&](std::int64_t i, std::int64_t limit) { return i >= 0 && i < limit; };
  for (std::int64_t row = 0; row < builder.rows(); ++row) {
    const std::int64_t point = row / unknowns;
    const std::int64_t x = point % side;
    const std::int64_t y = point / side % side;
    const std::int64_t z = point / (side * side);
    for (int step = 0; step < 27; ++step) {
      const int dx = step % 3 - 1;
      const int dy = step / 3 % 3 - 1;
      const int dz = step / 9 - 1;
      const bool near = std::abs(dx) + std::abs(dy) + std::abs(dz) <= farthest;
      if (!near || !inside(x + dx, side) || !inside(y + dy, side) || !inside(z + dz, deep))
        continue;
      const std::int64_t other = (z + dz) * side * side + (y + dy) * side + x + dx;
      for (std::int64_t u = 0; u < unknowns; ++u) builder.add(other * unknowns + u);
    }
    builder.end_row();
  }
  return builder.finish();
}

SparsityPattern banded(std::int32_t rows, Random& random) {
  PatternBuilder builder(rows);
  const auto half = static_cast<std::int64_t>(2 + random.below(15));
  const double filled = 0.3 + 0.7 * random.uniform();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = row - half; column <= row + half; ++column) {
      if (column == row || random.uniform() < filled) builder.add(column);
    }
    builder.end_row();
  }
  return builder.finish();
}

// Row i has a number of entries that falls with the power of a random rank, and many columns
// are popular ones.
SparsityPattern power_law(std::int32_t rows, Random& random) {
  PatternBuilder builder(rows);
  const double exponent = 0.5 + 0.4 * random.uniform();
  const double mean = 4 + 8 * random.uniform();
  for (std::int64_t row = 0; row < rows; ++row) {
    const double rank = 1 - random.uniform();  // above 0
    const double wanted = std::min<double>(mean * (1 - exponent) * std::pow(rank, -exponent),
                                           static_cast<double>(rows) / 4 + 1);
    builder.add(row);
    for (double i = 1; i < wanted; ++i) {
      const double popular = random.uniform();
      builder.add(static_cast<std::int64_t>(popular * popular * popular * rows));
    }
    builder.end_row();
  }
  return builder.finish();
}

// Few entries a row, but a few rows that are full.
SparsityPattern dense_rows(std::int32_t rows, Random& random) {
  PatternBuilder builder(rows);
  const std::uint64_t full = 1 + random.below(4);
  const std::uint64_t of_row = 2 + random.below(8);
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool dense = random.below(static_cast<std::uint64_t>(rows)) < full || row == rows / 2;
    builder.add(row);
    if (dense) {
      for (std::int64_t column = 0; column < rows; ++column) builder.add(column);
    } else {
      for (std::uint64_t i = 0; i < of_row; ++i)
        builder.add(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(rows))));
    }
    builder.end_row();
  }
  return builder.finish();
}

SparsityPattern random_pattern(std::int32_t rows, Random& random) {
  PatternBuilder builder(rows);
  const std::uint64_t most = 3 + random.below(30);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::uint64_t of_row = 1 + random.below(most);
    builder.add(row);
    for (std::uint64_t i = 0; i < of_row; ++i)
      builder.add(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(rows))));
    builder.end_row();
  }
  return builder.finish();
}

Status not_a_family(const std::string& text) {
  return Status(StatusCode::invalid_argument,
                "problem '" + text + "': expected FAMILY:ROWS or FAMILY:ROWS:SEED, of " +
                    listed(sparse_family_names()) + ", with 1 to " +
                    std::to_string(kMaxGeneratedRows) + " rows");
}

}  // namespace

const std::vector<std::string_view>& sparse_family_names() {
  static const std::vector<std::string_view> names = {"5-point",    "7-point",    "27-point",
                                                      "banded",     "fem-blocks", "power-law",
                                                      "dense-rows", "random"};
  return names;
}

bool names_sparse_family(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && contains(sparse_family_names(), text.substr(0, colon));
}

Result<SparsityPattern> generated_pattern(const std::string& text) {
  if (!names_sparse_family(text)) return not_a_family(text);
  const std::string_view all = text;
  const std::size_t colon = all.find(':');
  const std::string_view family = all.substr(0, colon);
  const std::string_view numbers = all.substr(colon + 1);
  const std::size_t second = numbers.find(':');
  std::uint64_t given = 0;
  std::uint64_t seed = 1;
  bool fine = read_number(numbers.substr(0, second), given);
  if (second != std::string_view::npos)
    fine = fine && read_number(numbers.substr(second + 1), seed);
  if (!fine || given < 1 || given > static_cast<std::uint64_t>(kMaxGeneratedRows))
    return not_a_family(text);
  const auto rows = static_cast<std::int32_t>(given);
  Random random(seed);
  if (family == "5-point") return grid(rows, 2, 1, 1);
  if (family == "7-point") return grid(rows, 3, 1, 1);
  if (family == "27-point") return grid(rows, 3, 3, 1);
  if (family == "fem-blocks") return grid(rows, 2, 2, 3);
  if (family == "banded") return banded(rows, random);
  if (family == "power-law") return power_law(rows, random);
  if (family == "dense-rows") return dense_rows(rows, random);
  return random_pattern(rows, random);
}

}  // namespace idletune::cli
