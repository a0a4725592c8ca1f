// Calls of the library idletune::gemm, drawn at random, against double precision on the host.
#pragma once

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

#include <idletune/gemm.h>
#include <idletune/c_handles.hpp>
#include <idletune/cuda.hpp>
#include <idletune/gemm.hpp>
#include <idletune/opencl.hpp>

#include "models/core/random.hpp"
#include "models/core/scalar.hpp"
#include "tests/unit/cuda/asked_cuda.hpp"
#include "tests/unit/repeats.hpp"

namespace idletune::gemm_tests {

inline constexpr std::uint64_t kSeed = 20261122;
// Elements behind each buffer's last. A device that sees every access itself needs none, but buffers
// of nothing there are not.
inline const std::size_t kGuard = test::sees_every_access() ? 1 : 32;

// What only succeeds.
inline void done(idletune_status status) {
  REQUIRE_MESSAGE(status == IDLETUNE_OK, std::string(idletune_last_message()));
}

inline constexpr MatrixStorage kStorages[] = {MatrixStorage::single, MatrixStorage::half};

// What a number becomes in memory.
inline float stored(MatrixStorage storage, float value) {
  if (storage == MatrixStorage::single || std::isnan(value)) return value;
  std::uint16_t half = 0;
  store_number(ScalarType::f16, static_cast<double>(value), &half);
  return static_cast<float>(load_number(ScalarType::f16, &half));
}

// By OpenCL; or the CUDA device that is asked for.
inline idletune_device* open_device() {
  idletune_device* device = nullptr;
  if (!test::asks_for_cuda()) {
    done(idletune_opencl_open(0, &device));
    return device;
  }
  const std::string library = test::emulated_cuda();
  ::setenv("IDLETUNE_CUDA_LIBRARY", library.c_str(), 1);
  ::setenv("IDLETUNE_NVRTC_LIBRARY", library.c_str(), 1);
  done(idletune_cuda_open(0, &device));
  return device;
}

// The library by both its interfaces.
struct Library {
  explicit Library(MatrixStorage as = MatrixStorage::single) : storage(as) {
    c_device = open_device();
    done(idletune_open("-", nullptr, &c_agent));
    const bool halves = storage == MatrixStorage::half;
    done((halves ? idletune_gemm_open_half : idletune_gemm_open)(c_agent, c_device, &c_gemm));
    device = &device_of(c_device);
    agent = &agent_of(c_agent);
    queue = application_queue();
    auto loaded = Gemm::open(*agent, *device, application_queue(), storage);
    REQUIRE_MESSAGE(loaded.ok(), loaded.status().to_string());
    gemm.emplace(std::move(*loaded));
  }
  ~Library() {
    gemm.reset();
    queue.reset();
    idletune_gemm_close(c_gemm);
    idletune_close(c_agent);
    idletune_device_close(c_device);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  std::unique_ptr<ApplicationQueue> application_queue() const {
    auto made = device->info().backend == "cuda" ? cuda::application_queue(*device)
                                                 : opencl::application_queue(*device);
    REQUIRE_MESSAGE(made.ok(), made.status().to_string());
    return std::move(*made);
  }
  ScalarType type() const {
    return storage == MatrixStorage::half ? ScalarType::f16 : ScalarType::f32;
  }
  std::unique_ptr<Buffer> upload(const std::vector<float>& values) const {
    auto buffer = queue->allocate(values.size() * scalar_size_bytes(type()));
    REQUIRE(buffer.ok());
    write(**buffer, values);
    return std::move(*buffer);
  }
  void write(Buffer& buffer, const std::vector<float>& values) const {
    std::vector<std::uint8_t> bytes(values.size() * scalar_size_bytes(type()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      store_number(type(), static_cast<double>(values[i]), &bytes[i * scalar_size_bytes(type())]);
    }
    REQUIRE(queue->write(buffer, 0, Bytes(bytes)).ok());
    wait();
  }
  void wait() const { REQUIRE(queue->wait().ok()); }
  // Anything that is no number is the same one.
  std::vector<float> download(const Buffer& buffer) const {
    std::vector<std::uint8_t> bytes(buffer.size_bytes());
    REQUIRE(queue->read(buffer, 0, MutableBytes(bytes)).ok());
    std::vector<float> values(bytes.size() / scalar_size_bytes(type()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double value = load_number(type(), &bytes[i * scalar_size_bytes(type())]);
      values[i] =
          std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(value);
    }
    return values;
  }
  MatrixStorage storage;
  idletune_device* c_device = nullptr;
  idletune_agent* c_agent = nullptr;
  idletune_gemm* c_gemm = nullptr;
  Device* device = nullptr;
  Agent* agent = nullptr;
  std::unique_ptr<ApplicationQueue> queue;
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

enum class Way { plain, strided, anywhere, packed };

// A call drawn from a seed: shapes of ones, primes and multiples of tiles, any placement.
struct Call {
  Call(std::uint64_t seed, MatrixStorage as) : random(seed), storage(as) {
    way = static_cast<Way>(random.below(4));
    in_c = random.below(2) == 1;
    packs_a = random.below(2) == 1;
    count = way == Way::plain || (way == Way::packed && in_c) ? 1 : 1 + random.below(4);
    product.layout = random.below(2) == 0 ? MatrixLayout::row_major : MatrixLayout::column_major;
    product.transpose_a = random.below(2) == 1;
    product.transpose_b = random.below(2) == 1;
    product.m = side(), product.n = side(), product.k = side();
    if (way != Way::packed && random.below(20) == 0) product.k = 0;
    product.alpha = random.below(10) == 0 ? 0.0f : number();
    product.beta = random.below(3) == 0 ? 0.0f : number();
    const bool by_rows = product.layout == MatrixLayout::row_major;
    const auto m = static_cast<std::size_t>(product.m);
    const auto n = static_cast<std::size_t>(product.n);
    const auto k = static_cast<std::size_t>(product.k);
    const bool read = product.alpha != 0.0f;
    const auto stays = [&](bool packed) {
      return random.below(4) == 0 || (way == Way::packed && packed);
    };
    draw(a, m, k, by_rows != product.transpose_a, stays(packs_a), read);
    draw(b, k, n, by_rows != product.transpose_b, stays(!packs_a), read);
    draw(c, m, n, by_rows, false, product.beta != 0.0f);
  }

  Status enqueue(Library& library) {
    product.a = a.place, product.b = b.place, product.c = c.place;
    if (in_c && storage == MatrixStorage::half) return enqueue_in_c(library.c_gemm, kHalves);
    if (in_c) return enqueue_in_c(library.c_gemm, kFloats);
    if (way == Way::plain) return library.gemm->multiply(product);
    const Strides strides{static_cast<std::int64_t>(count), stride(a), stride(b), stride(c)};
    if (way == Way::strided) return library.gemm->multiply_strided(product, strides);
    if (way == Way::packed) {
      auto packed = library.gemm->pack(packs_a ? GemmArgument::a : GemmArgument::b, product);
      if (!packed.ok()) return packed.status();
      (packs_a ? product.a : product.b) = {};
      Status status = library.gemm->multiply_packed(product, *packed, strides);
      library.wait();
      return status;
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
    library.wait();
    idletune_packed_free(kept);
    return changed(a.values, library.download(*device_a)) +
           changed(b.values, library.download(*device_b)) + wrong(library.download(*device_c));
  }

  Random random;
  MatrixStorage storage;
  Way way = Way::plain;
  bool in_c = false;
  bool packs_a = false;
  idletune_packed* kept = nullptr;  // until all is done
  std::size_t count = 1;
  Product product;
  Matrix a, b, c;

 private:
  std::int64_t stride(const Matrix& x) const {
    return count > 1 ? static_cast<std::int64_t>(x.begins[1]) : 0;
  }
  // The functions in C, by storage.
  struct Functions {
    decltype(&idletune_sgemm) plain;
    decltype(&idletune_sgemm_strided_batched) strided;
    decltype(&idletune_sgemm_batched) batched;
    decltype(&idletune_sgemm_packed) packed;
  };
  static constexpr Functions kFloats{idletune_sgemm, idletune_sgemm_strided_batched,
                                     idletune_sgemm_batched, idletune_sgemm_packed};
  static constexpr Functions kHalves{idletune_hgemm, idletune_hgemm_strided_batched,
                                     idletune_hgemm_batched, idletune_hgemm_packed};

  Status enqueue_in_c(idletune_gemm* gemm, const Functions& call) {
    const Product& p = product;
    const auto layout = static_cast<idletune_layout>(p.layout);
    const auto transposed = [](bool is) { return is ? IDLETUNE_TRANSPOSED : IDLETUNE_PLAIN; };
    const auto handle = [](const MatrixPlace& place) {
      void* value = nullptr;
      std::memcpy(&value, place.buffer.data(), sizeof value);
      return value;
    };
    const idletune_transpose ta = transposed(p.transpose_a), tb = transposed(p.transpose_b);
    void *const da = handle(p.a), *const db = handle(p.b), *const dc = handle(p.c);
    const auto number_of_products = static_cast<std::int64_t>(count);
    if (way == Way::plain) {
      done(call.plain(gemm, layout, ta, tb, p.m, p.n, p.k, p.alpha, da, p.a.offset, p.a.leading, db,
                      p.b.offset, p.b.leading, p.beta, dc, p.c.offset, p.c.leading, nullptr,
                      nullptr));
    } else if (way == Way::strided) {
      done(call.strided(gemm, layout, ta, tb, p.m, p.n, p.k, p.alpha, da, p.a.offset, p.a.leading,
                        stride(a), db, p.b.offset, p.b.leading, stride(b), p.beta, dc, p.c.offset,
                        p.c.leading, stride(c), number_of_products, nullptr, nullptr));
    } else if (way == Way::anywhere) {
      // The arrays alone say where: there are no offsets besides.
      const auto from = [](const Matrix& x) {
        std::vector<std::size_t> begins = x.begins;
        for (std::size_t& begin : begins) begin += static_cast<std::size_t>(x.place.offset);
        return begins;
      };
      done(call.batched(gemm, layout, ta, tb, p.m, p.n, p.k, p.alpha, da, from(a).data(),
                        p.a.leading, db, from(b).data(), p.b.leading, p.beta, dc, from(c).data(),
                        p.c.leading, number_of_products, nullptr, nullptr));
    } else {
      const MatrixPlace& own = packs_a ? p.a : p.b;
      const MatrixPlace& other = packs_a ? p.b : p.a;
      idletune_packed* packed = nullptr;
      done(idletune_gemm_pack(gemm, packs_a ? IDLETUNE_OPERAND_A : IDLETUNE_OPERAND_B, layout,
                              packs_a ? ta : tb, packs_a ? p.m : p.k, packs_a ? p.k : p.n,
                              packs_a ? da : db, own.offset, own.leading, nullptr, nullptr,
                              &packed));
      done(call.packed(gemm, packed, layout, packs_a ? tb : ta, p.m, p.n, p.k, p.alpha,
                       packs_a ? db : da, other.offset, other.leading, p.beta, dc, p.c.offset,
                       p.c.leading, nullptr, nullptr));
      kept = packed;
    }
    return {};
  }
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
          if (read) matrix.values[matrix.at(i, row, column)] = stored(storage, number());
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
    // A half has 11 bits, and 2^-24 between the smallest ones.
    const double rounding =
        storage == MatrixStorage::half ? std::max(std::fabs(sum) / (1 << 11), 1.0 / (1 << 25)) : 0;
    return std::fabs(static_cast<double>(result) - sum) <= bound * 1.01 + rounding * 1.01;
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

}  // namespace idletune::gemm_tests
