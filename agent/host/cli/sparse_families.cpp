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

// A grid's points, and what may be drawn of them.
struct Mesh {
  std::int64_t width = 1, height = 1, depth = 1;
  std::vector<bool> fixed;           // by point: its row has the diagonal's entries alone
  std::vector<std::int64_t> number;  // by point
  std::vector<std::int64_t> point;   // by number
  bool contains(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return x >= 0 && x < width && y >= 0 && y < height && z >= 0 && z < depth;
  }
};

// Equal sides, all points free and in order; drawn: one side up to eight times as long, up to three
// tenths of the points fixed, and in a third of the meshes any order.
Mesh mesh_of(double points, int dimensions, Random* drawn) {
  Mesh mesh;
  const double longer = drawn != nullptr ? std::pow(8, drawn->uniform()) : 1;
  const double side = std::pow(points / longer, 1.0 / dimensions) + 1e-9;
  mesh.height = std::max<std::int64_t>(1, static_cast<std::int64_t>(side));
  mesh.depth = dimensions == 3 ? mesh.height : 1;
  mesh.width = std::max<std::int64_t>(1, static_cast<std::int64_t>(side * longer));
  const auto count = static_cast<std::size_t>(mesh.width * mesh.height * mesh.depth);
  mesh.fixed.resize(count);
  mesh.number.resize(count);
  mesh.point.resize(count);
  const double fixed = drawn != nullptr ? 0.3 * drawn->uniform() : 0;
  const bool mixed = drawn != nullptr && drawn->below(3) == 0;
  const Permutation order(count, drawn != nullptr ? drawn->next() : 0);
  for (std::size_t i = 0; i < count; ++i) {
    mesh.fixed[i] = fixed > 0 && drawn->uniform() < fixed;
    const std::uint64_t at = mixed ? order(i) : i;
    mesh.number[i] = static_cast<std::int64_t>(at);
    mesh.point[at] = static_cast<std::int64_t>(i);
  }
  return mesh;
}

// Which neighbours count is said by the sum of the steps' lengths.
SparsityPattern grid(std::int32_t rows, int dimensions, int farthest, std::int32_t unknowns,
                     Random* drawn) {
  const Mesh mesh = mesh_of(static_cast<double>(rows) / unknowns, dimensions, drawn);
  PatternBuilder builder(static_cast<std::int32_t>(mesh.point.size()) * unknowns);
  for (std::int64_t row = 0; row < builder.rows(); ++row) {
    const std::int64_t point = mesh.point[static_cast<std::size_t>(row / unknowns)];
    const std::int64_t x = point % mesh.width;
    const std::int64_t y = point / mesh.width % mesh.height;
    const std::int64_t z = point / (mesh.width * mesh.height);
    for (int step = 0; step < 27; ++step) {
      const int dx = step % 3 - 1;
      const int dy = step / 3 % 3 - 1;
      const int dz = step / 9 - 1;
      const bool near = std::abs(dx) + std::abs(dy) + std::abs(dz) <= farthest;
      if (!near || !mesh.contains(x + dx, y + dy, z + dz)) continue;
      const auto other =
          static_cast<std::size_t>(((z + dz) * mesh.height + y + dy) * mesh.width + x + dx);
      const bool apart = mesh.fixed[other] || mesh.fixed[static_cast<std::size_t>(point)];
      if (apart && other != static_cast<std::size_t>(point)) continue;
      for (std::int64_t u = 0; u < unknowns; ++u) builder.add(mesh.number[other] * unknowns + u);
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
  Random* const drawn = second != std::string_view::npos ? &random : nullptr;
  if (family == "5-point") return grid(rows, 2, 1, 1, drawn);
  if (family == "7-point") return grid(rows, 3, 1, 1, drawn);
  if (family == "27-point") return grid(rows, 3, 3, 1, drawn);
  if (family == "fem-blocks") return grid(rows, 2, 2, 3, drawn);
  if (family == "banded") return banded(rows, random);
  if (family == "power-law") return power_law(rows, random);
  if (family == "dense-rows") return dense_rows(rows, random);
  return random_pattern(rows, random);
}

}  // namespace idletune::cli
