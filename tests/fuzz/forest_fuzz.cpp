// Forests, kernel machines and perceptrons out of hostile bytes: what their verifiers accept
// predicts without leaving its numbers, and row by row as well as sliced. And learning from hostile
// numbers: what is accepted makes a sound forest.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "models/forest/forest.hpp"
#include "models/forest/sliced_rows.hpp"
#include "models/host/learners/kernel_machine.hpp"
#include "models/host/learners/nearest_neighbors.hpp"
#include "models/host/learners/perceptron.hpp"
#include "tests/unit/forest/sound_forest.hpp"

namespace {

using namespace idletune;
using namespace idletune::learners;

// Takes numbers from the front of the input; zeros when it is used up.
class Reader {
 public:
  Reader(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  template <class T>
  T take() {
    T value{};
    const std::size_t count = sizeof value < size_ ? sizeof value : size_;
    if (count > 0) std::memcpy(static_cast<void*>(&value), data_, count);
    data_ += count;
    size_ -= count;
    return value;
  }
  template <class T>
  std::vector<T> take_many(std::size_t limit) {
    std::vector<T> values(take<std::uint16_t>() % (limit + 1));
    for (T& value : values) value = take<T>();
    return values;
  }
  template <class T>
  std::vector<T> take_rest() {
    std::vector<T> values(size_ / sizeof(T));
    for (T& value : values) value = take<T>();
    return values;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

void require(bool holds) {
  if (!holds) std::abort();
}

// Rows of finite and other numbers, `columns` each.
std::vector<float> some_rows(std::size_t columns) {
  const float values[] = {0, 1, -1, 0.5f, 31, 32, 1e30f, -1e30f, 3, 2, 7, NAN, INFINITY, -INFINITY};
  std::vector<float> rows;
  for (std::size_t i = 0; i < 70 * columns; ++i) rows.push_back(values[(i * i + i / 3) % 14]);
  return rows;
}

void use(const ForestView& forest) {
  const std::size_t columns = forest.shape.columns;
  const std::vector<float> odd = some_rows(columns);
  for (std::size_t r = 0; r < 70; ++r) {
    const float value = forest.predict({odd.data() + r * columns, columns}).value;
    if (forest.shape.classes != 0)
      require(value >= 0 && value < static_cast<float>(forest.shape.classes));
  }
  const std::vector<std::uint32_t> levels(columns, 41);
  auto rows = SlicedRows::zeros(levels, 70);
  require(rows.ok());
  std::vector<float> plain;
  std::vector<std::uint16_t> codes(columns);
  for (std::size_t r = 0; r < 70; ++r) {
    for (std::uint16_t& code : codes) {
      plain.push_back(code = static_cast<std::uint16_t>((plain.size() * plain.size() + r) % 41));
    }
    rows->set(r, codes);
  }
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    const TreeView tree = forest.tree(t);
    require(tree.height() <= kMaxTreeHeight && tree.leaf_count() * 2 == tree.nodes().size() + 1);
    std::vector<std::int32_t> numbers, found(rows->rows());
    for (std::size_t n = 0; n < tree.nodes().size(); ++n)
      numbers.push_back(static_cast<std::int32_t>(n));
    rows->add(tree, numbers, found);
    for (std::size_t r = 0; r < rows->rows(); ++r) {
      require(static_cast<std::size_t>(found[r]) ==
              tree.leaf_of({plain.data() + r * columns, columns}));
    }
  }
}

void read_forest(Reader& reader) {
  TreeShape shape;
  shape.columns = reader.take<std::uint8_t>() % 40;
  shape.classes = reader.take<std::uint8_t>() % 40;
  const std::vector<std::uint32_t> starts = reader.take_many<std::uint32_t>(20);
  const std::vector<TreeNode> nodes = reader.take_rest<TreeNode>();
  const ForestView forest{nodes, starts, shape};
  if (test::is_sound(forest)) use(forest);
}

void read_machine(Reader& reader) {
  KernelMachine machine;
  machine.gamma = reader.take<double>();
  machine.columns = reader.take_many<InputColumn>(8);
  machine.class_numbers = reader.take_many<std::uint32_t>(40);
  machine.class_vectors = reader.take_many<std::uint32_t>(40);
  machine.offsets = reader.take_many<double>(1000);
  machine.coefficients = reader.take_many<double>(1000);
  machine.vectors = reader.take_rest<float>();
  if (!verify(machine.view()).ok()) return;
  const std::vector<float> rows = some_rows(machine.columns.size());
  for (std::size_t r = 0; r < 4; ++r) {
    machine.view().predict({rows.data() + r * machine.columns.size(), machine.columns.size()});
  }
}

void read_perceptron(Reader& reader) {
  Perceptron perceptron;
  perceptron.classes = reader.take<std::uint8_t>() % 8;
  perceptron.columns = reader.take_many<InputColumn>(8);
  perceptron.layers = reader.take_many<std::uint32_t>(10);
  perceptron.weights = reader.take_rest<float>();
  if (!verify(perceptron.view()).ok()) return;
  const std::vector<float> rows = some_rows(perceptron.columns.size());
  for (std::size_t r = 0; r < 4; ++r) {
    perceptron.view().predict(
        {rows.data() + r * perceptron.columns.size(), perceptron.columns.size()});
  }
}

void learn(Reader& reader) {
  const std::size_t columns = reader.take<std::uint8_t>() % 6;
  const std::uint32_t classes = reader.take<std::uint8_t>() % 6;
  ForestOptions options;
  options.trees = reader.take<std::uint8_t>() % 6;
  options.tree.height = reader.take<std::uint8_t>();
  options.tree.leaf_rows = reader.take<std::uint8_t>() % 5;
  options.tree.leaf_share = static_cast<double>(reader.take<std::uint8_t>()) / 128;
  options.tree.candidate_features = reader.take<std::uint8_t>() % 6;
  options.bootstrap = reader.take<std::uint8_t>() % 2 != 0;
  std::vector<FeatureKind> kinds;
  for (std::size_t c = 0; c < columns; ++c)
    kinds.push_back(static_cast<FeatureKind>(reader.take<std::uint8_t>() % 2));
  const bool small = reader.take<std::uint8_t>() % 2 != 0;  // small numbers are more often accepted
  std::vector<float> values, targets;
  if (small) {
    for (const std::uint8_t byte : reader.take_rest<std::uint8_t>())
      values.push_back(static_cast<float>(byte % 8));
  } else {
    values = reader.take_rest<float>();
  }
  const std::size_t rows = values.size() / (columns + 1);
  targets.assign(values.end() - static_cast<std::ptrdiff_t>(rows), values.end());
  values.resize(rows * columns);
  const Dataset data{values, columns, kinds, targets, classes};
  auto forest = Forest::grow(data, options);
  if (!forest.ok()) return;
  require(test::is_sound(forest->view()));
  use(forest->view());
  require(forest->renew(data, 2).ok() && test::is_sound(forest->view()));
  NearestNeighbors neighbors;
  require(neighbors.fit(data).ok());
  const std::vector<float> odd = some_rows(columns);
  for (std::size_t r = 0; r < 4; ++r) neighbors.predict({odd.data() + r * columns, columns});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Reader reader(data, size);
  switch (reader.take<std::uint8_t>() % 4) {
    case 0: read_forest(reader); break;
    case 1: read_machine(reader); break;
    case 2: read_perceptron(reader); break;
    default: learn(reader); break;
  }
  return 0;
}
