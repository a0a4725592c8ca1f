// The library idletune::gemm on this machine's OpenCL device against double precision on the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <idletune/gemm.hpp>
#include <idletune/opencl.hpp>

#include "models/core/random.hpp"

namespace {

using namespace idletune;

constexpr std::uint64_t kSeed = 20261122;
constexpr std::size_t kGuard = 32;  // elements behind each buffer's last

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Library {
  explicit Library(Mode mode = Mode::off) {
    auto opened = opencl::open(0);
    REQUIRE_MESSAGE(opened.ok(), opened.status().to_string());
    device = std::move(*opened);
    queue = application_queue();
    AgentOptions options;
    options.mode = mode;
    options.model = kNoModel;
    options.read_environment = mode == Mode::tune;
    auto made = Agent::open(options);
    REQUIRE_MESSAGE(made.ok(), made.status().to_string());
    agent.emplace(std::move(*made));
    auto loaded = Gemm::open(*agent, *device, application_queue());
    REQUIRE_MESSAGE(loaded.ok(), loaded.status().to_string());
    gemm.emplace(std::move(*loaded));
  }
  std::unique_ptr<ApplicationQueue> application_queue() const {
    auto made = opencl::application_queue(*device);
    REQUIRE_MESSAGE(made.ok(), made.status().to_string());
    return std::move(*made);
  }
  std::unique_ptr<Buffer> upload(const std::vector<float>& values) const {
    auto buffer = queue->allocate(values.size() * sizeof(float));
    REQUIRE(buffer.ok());
    const Bytes bytes(reinterpret_cast<const std::uint8_t*>(values.data()),
                      values.size() * sizeof(float));
    REQUIRE(queue->write(**buffer, 0, bytes).ok());
    REQUIRE(queue->wait().ok());
    return std::move(*buffer);
  }
  std::vector<float> download(const Buffer& buffer) const {
    std::vector<float> values(buffer.size_bytes() / sizeof(float));
    REQUIRE(queue
                ->read(buffer, 0,
                       MutableBytes(reinterpret_cast<std::uint8_t*>(values.data()),
                                    buffer.size_bytes()))
                .ok());
    REQUIRE(queue->wait().ok());
    return values;
  }
  std::unique_ptr<Device> device;
  std::unique_ptr<ApplicationQueue> queue;
  std::optional<Agent> agent;
  std::optional<Gemm> gemm;
};

// One operand of a call: where each product's matrix begins, and where its elements are.
struct Matrix {
  std::size_t rows = 0, columns = 0;
  bool by_rows = true;  // its rows lie side by side
  MatrixPlace place;
  std::vector<std::size_t> begins;  // from place.offset on
  std::vector<float> values;

  std::size_t minor() const { return by_rows ? columns : rows; }
  std::size_t major() const { return by_rows ? rows : columns; }
  std::size_t leading() const { return static_cast<std::size_t>(place.leading); }
  std::size_t extent() const {
    return major() == 0 || minor() == 0 ? 0 : (major() - 1) * leading() + minor();
  }
  std::size_t at(std::size_t product, std::size_t row, std::size_t column) const {
    return static_cast<std::size_t>(place.offset) + begins[product] +
           (by_rows ? row * leading() + column : column * leading() + row);
  }
};

enum class Way { plain, strided, anywhere };

// A call drawn from a seed: shapes of ones, primes and multiples of tiles, any placement.
struct Call {
  explicit Call(std::uint64_t seed) : random(seed) {
    way = static_cast<Way>(random.below(3));
    count = way == Way::plain ? 1 : 1 + random.below(4);
    product.layout = random.below(2) == 0 ? MatrixLayout::row_major : MatrixLayout::column_major;
    product.transpose_a = random.below(2) == 1;
    product.transpose_b = random.below(2) == 1;
    product.m = side(), product.n = side(), product.k = side();
    if (random.below(20) == 0) product.k = 0;
    product.alpha = random.below(10) == 0 ? 0.0f : number();
    product.beta = random.below(3) == 0 ? 0.0f : number();
    const bool by_rows = product.layout == MatrixLayout::row_major;
    const auto m = static_cast<std::size_t>(product.m);
    const auto n = static_cast<std::size_t>(product.n);
    const auto k = static_cast<std::size_t>(product.k);
    const bool read = product.alpha != 0.0f;
    draw(a, m, k, by_rows != product.transpose_a, random.below(4) == 0, read);
    draw(b, k, n, by_rows != product.transpose_b, random.below(4) == 0, read);
    draw(c, m, n, by_rows, false, product.beta != 0.0f);
  }

  Status enqueue(Library& library) {
    product.a = a.place, product.b = b.place, product.c = c.place;
    if (way == Way::plain) return library.gemm->multiply(product);
    const auto stride = [&](const Matrix& x) {
      return count > 1 ? static_cast<std::int64_t>(x.begins[1]) : 0;
    };
    if (way == Way::strided) {
      return library.gemm->multiply_strided(
          product, {static_cast<std::int64_t>(count), stride(a), stride(b), stride(c)});
    }
    return library.gemm->multiply_batched(product, {a.begins, b.begins, c.begins});
  }

  // Runs it; the number of elements of C that are wrong, and of all others that have changed.
  std::size_t wrong_elements(Library& library) {
    const auto on_device = [&](Matrix& matrix) {
      auto buffer = library.upload(matrix.values);
      matrix.place.buffer = buffer->argument();
      return buffer;
    };
    const auto device_a = on_device(a);
    const auto device_b = on_device(b);
    const auto device_c = on_device(c);
    const Status status = enqueue(library);
    REQUIRE_MESSAGE(status.ok(), status.to_string());
    return changed(a.values, library.download(*device_a)) +
           changed(b.values, library.download(*device_b)) + wrong(library.download(*device_c));
  }

  Random random;
  Way way = Way::plain;
  std::size_t count = 1;
  Product product;
  Matrix a, b, c;

 private:
  float number() { return static_cast<float>(2 * random.uniform() - 1); }
  std::int64_t side() {
    constexpr std::int64_t kSides[] = {1, 1, 2, 3, 7, 8, 13, 16, 31, 32, 33, 61, 64, 97};
    return kSides[random.below(sizeof kSides / sizeof kSides[0])];
  }
  // What is not read is no number.
  void draw(Matrix& matrix, std::size_t rows, std::size_t columns, bool by_rows, bool stays,
            bool read) {
    matrix.rows = rows, matrix.columns = columns, matrix.by_rows = by_rows;
    matrix.place.offset = static_cast<std::int64_t>(random.below(9));
    matrix.place.leading =
        static_cast<std::int64_t>(std::max<std::size_t>(matrix.minor(), 1) + random.below(6));
    const std::size_t apart = stays ? 0 : matrix.extent() + random.below(7);
    for (std::size_t i = 0; i < count; ++i) matrix.begins.push_back(i * apart);
    if (way == Way::anywhere) {
      std::reverse(matrix.begins.begin(), matrix.begins.end());
    }
    const float nan = std::numeric_limits<float>::quiet_NaN();
    matrix.values.assign(
        static_cast<std::size_t>(matrix.place.offset) + (count - 1) * apart + matrix.extent(), nan);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
          if (read) matrix.values[matrix.at(i, row, column)] = number();
        }
      }
    }
    matrix.values.insert(matrix.values.end(), kGuard, nan);
  }
  static std::size_t changed(const std::vector<float>& before, const std::vector<float>& now) {
    std::size_t different = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
      different += std::memcmp(&before[i], &now[i], sizeof(float)) != 0 ? 1 : 0;
    }
    return different;
  }
  std::size_t wrong(const std::vector<float>& result) const {
    std::vector<float> expected = c.values;
    std::size_t wrong_elements = 0;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t row = 0; row < c.rows; ++row) {
        for (std::size_t column = 0; column < c.columns; ++column) {
          const std::size_t at = c.at(i, row, column);
          wrong_elements += is_right(i, row, column, result[at]) ? 0 : 1;
          expected[at] = result[at];
        }
      }
    }
    return wrong_elements + changed(expected, result);
  }
  // Within the rounding errors of a sum of k terms in single precision.
  bool is_right(std::size_t i, std::size_t row, std::size_t column, float result) const {
    double sum = 0;
    if (product.beta != 0.0f) {
      sum = static_cast<double>(product.beta) * static_cast<double>(c.values[c.at(i, row, column)]);
    }
    double magnitude = std::fabs(sum);
    for (std::size_t k = 0; product.alpha != 0.0f && k < a.columns; ++k) {
      const double term = static_cast<double>(product.alpha) *
                          static_cast<double>(a.values[a.at(i, row, k)]) *
                          static_cast<double>(b.values[b.at(i, k, column)]);
      sum += term;
      magnitude += std::fabs(term);
    }
    const double bound = (std::sqrt(static_cast<double>(a.columns)) + 4) / (1 << 23) * magnitude;
    return std::fabs(static_cast<double>(result) - sum) <= bound;
  }
};

// Three dense matrices of 4 x 4 in one buffer each, for calls that must be refused.
struct Small {
  explicit Small(Library& library) : gemm(*library.gemm) {
    for (Matrix4& matrix : matrices) {
      matrix.buffer = library.upload(std::vector<float>(16, 1.0f));
    }
    product.m = product.n = product.k = 4;
    product.beta = 1;
    product.a = {matrices[0].buffer->argument(), 0, 4};
    product.b = {matrices[1].buffer->argument(), 0, 4};
    product.c = {matrices[2].buffer->argument(), 0, 4};
  }
  struct Matrix4 {
    std::unique_ptr<Buffer> buffer;
  };
  // What is said of a call that is changed by `change`.
  template <class Change>
  void is_refused(GemmArgument argument, const std::string& message, Change change,
                  const Strides& strides = {}) {
    Product changed = product;
    change(changed);
    const Status status = gemm.multiply_strided(changed, strides);
    CHECK(status.code() == StatusCode::invalid_argument);
    CHECK_MESSAGE(status.message().find(message) != std::string::npos, status.message());
    CHECK(Gemm::last_wrong_argument() == argument);
  }
  Gemm& gemm;
  Matrix4 matrices[3];
  Product product;
};

}  // namespace

// Campaigns of more calls are started by hand through the environment: IDLETUNE_GEMM_CALLS=10000.
TEST_CASE("random calls of the gemm library are right in every element and touch nothing else") {
  const std::uint64_t calls = number_from_environment("IDLETUNE_GEMM_CALLS", 200);
  const std::uint64_t seed = number_from_environment("IDLETUNE_GEMM_SEED", kSeed);
  const std::uint64_t tuned_ms = number_from_environment("IDLETUNE_GEMM_IDLE_MS", 0);
  Library library(tuned_ms > 0 ? Mode::tune : Mode::off);
  std::size_t wrong = 0;
  for (std::uint64_t i = 0; i < calls; ++i) {
    CAPTURE(i);
    Call call(seed + i);
    const std::size_t elements = call.wrong_elements(library);
    CHECK(elements == 0);
    wrong += elements > 0 ? 1 : 0;
    if (tuned_ms > 0) library.agent->idle(std::chrono::milliseconds(tuned_ms));
  }
  MESSAGE(calls << " calls, " << wrong << " wrong");
}

TEST_CASE("the gemm library refuses what it cannot do, naming the argument") {
  Library library;
  Small small(library);
  using A = GemmArgument;
  small.is_refused(A::m, "m is -1", [](Product& p) { p.m = -1; });
  small.is_refused(A::n, "n is 2147483648", [](Product& p) { p.n = std::int64_t{1} << 31; });
  small.is_refused(A::k, "k is -7", [](Product& p) { p.k = -7; });
  small.is_refused(A::lda, "lda is 3, expected 4", [](Product& p) { p.a.leading = 3; });
  small.is_refused(A::ldb, "ldb is 0, expected 4", [](Product& p) { p.b.leading = 0; });
  small.is_refused(A::ldc, "ldc is -4, expected 4", [](Product& p) { p.c.leading = -4; });
  small.is_refused(A::lda, "lda is 4, expected 5", [](Product& p) { p.k = 5; });
  small.is_refused(A::lda, "lda is 4, expected 5", [](Product& p) {
    p.layout = MatrixLayout::column_major;
    p.m = 5;
  });
  small.is_refused(A::a, "the offset of a is -1", [](Product& p) { p.a.offset = -1; });
  small.is_refused(A::a, "a: ", [](Product& p) { p.a.offset = 1; });
  small.is_refused(A::b, "b: ", [](Product& p) { p.b.leading = 5; });
  small.is_refused(A::c, "c: ", [](Product& p) { p.c.leading = 5; });
  small.is_refused(A::b, "b: ", [](Product& p) {
    p.layout = MatrixLayout::column_major;
    p.b.offset = 1;
  });
  small.is_refused(A::b, "b would reach beyond",
                   [](Product& p) { p.b.offset = std::int64_t{1} << 60; });
  small.is_refused(A::c, "c overlaps a", [](Product& p) { p.c.buffer = p.a.buffer; });
  small.is_refused(A::c, "c overlaps b", [](Product& p) { p.c.buffer = p.b.buffer; });
  const auto halves = [](Product& p) { p.m = p.n = p.k = 2; };
  small.is_refused(A::c, "stride of 1", halves, {2, 0, 0, 1});
  small.is_refused(A::a, "the stride of a is -2", halves, {2, -2, 0, 2});
  small.is_refused(A::a, "a would reach beyond", halves, {3, std::int64_t{1} << 62, 0, 2});
  small.is_refused(A::count, "the number of products is -1", halves, {-1, 0, 0, 2});
  const std::size_t one[] = {0};
  const std::size_t two[] = {0, 8};
  CHECK(small.gemm.multiply_batched(small.product, {one, two, two}).code() ==
        StatusCode::invalid_argument);
  small.product.m = small.product.n = small.product.k = 2;
  const std::size_t close[] = {0, 5};
  CHECK(small.gemm.multiply_batched(small.product, {two, two, close}).message().find("overlap") !=
        std::string::npos);
  // Nothing of all this has run.
  CHECK(library.download(*small.matrices[2].buffer) == std::vector<float>(16, 1.0f));
}

TEST_CASE("matrices that interleave within one buffer do not overlap") {
  Library library;
  const auto buffer = library.upload(std::vector<float>(4 * 6, 1.0f));
  Product product;
  product.m = 4, product.n = product.k = 2;
  product.a = {buffer->argument(), 0, 6};
  product.c = {buffer->argument(), 4, 6};
  product.b = {buffer->argument(), 2, 6};
  CHECK(library.gemm->multiply(product).ok());
  const std::vector<float> values = library.download(*buffer);
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == (i % 6 >= 4 ? 2.0f : 1.0f));
}

TEST_CASE("a product of nothing succeeds, and one without a depth scales C") {
  Library library;
  Small small(library);
  for (std::int64_t Product::*size : {&Product::m, &Product::n}) {
    Product product = small.product;
    product.*size = 0;
    product.a.buffer = product.b.buffer = product.c.buffer = Argument();
    CHECK(library.gemm->multiply(product).ok());
  }
  CHECK(library.gemm->multiply_strided(small.product, {0, 0, 0, 0}).ok());
  CHECK(library.download(*small.matrices[2].buffer) == std::vector<float>(16, 1.0f));
  Product scaled = small.product;
  scaled.k = 0;
  scaled.beta = 3;
  scaled.a.buffer = scaled.b.buffer = Argument();
  CHECK(library.gemm->multiply(scaled).ok());
  CHECK(library.download(*small.matrices[2].buffer) == std::vector<float>(16, 3.0f));
  scaled.k = 4;
  scaled.alpha = 0;
  CHECK(library.gemm->multiply(scaled).ok());
  CHECK(library.download(*small.matrices[2].buffer) == std::vector<float>(16, 9.0f));
}
