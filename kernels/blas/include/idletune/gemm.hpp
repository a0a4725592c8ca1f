// Matrix multiplication as in BLAS, C = alpha op(A) op(B) + beta C in single precision, of matrices
// of floats or halves, by kernels that the agent tunes on the device that runs them. The kernels
// are part of the library.
//
//   auto gemm = idletune::Gemm::open(*agent, *device, std::move(queue));
//   idletune::Product product;
//   product.m = 64, product.n = 1000, product.k = 256;
//   product.a = {a, 0, 256}, product.b = {b, 0, 1000}, product.c = {c, 0, 1000};
//   gemm->multiply(product);
//
// Device-side rules: no exceptions. For C: <idletune/gemm.h>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <idletune/agent.hpp>
#include <idletune/application_queue.hpp>
#include <idletune/device.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune {

enum class MatrixLayout : std::uint8_t { row_major = 0, column_major = 1 };

// What the elements of all matrices are in memory. Products are added up in single precision either
// way; halves are rounded to the nearest when C is written, and need no device that computes in
// them. What is beyond a half's largest number becomes infinite.
enum class MatrixStorage : std::uint8_t { single = 0, half = 1 };

// Where a matrix lies. Offset and leading dimension (how far a row, or in column-major
// layout a column, lies behind the one before) count elements.
struct MatrixPlace {
  Argument buffer;  // cl_mem or device pointer
  std::int64_t offset = 0;
  std::int64_t leading = 0;
};

// op(A) is m x k, op(B) k x n, C m x n; op(X) is X, or its transpose.
struct Product {
  MatrixLayout layout = MatrixLayout::row_major;
  bool transpose_a = false;
  bool transpose_b = false;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  float alpha = 1;
  float beta = 0;  // 0: C is not read
  MatrixPlace a;
  MatrixPlace b;
  MatrixPlace c;
};

// How many products, and how many elements further the matrices of the next one begin. A and B may
// stay where they are (0); the matrices of C must not overlap.
struct Strides {
  std::int64_t count = 1;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
};

// Where the matrices of each product begin, in elements from the offsets of the MatrixPlaces on; as
// many of each.
struct Offsets {
  Span<const std::size_t> a;
  Span<const std::size_t> b;
  Span<const std::size_t> c;
};

// How several products, or those of a call with something packed, find their matrices: what
// kernels are made for. Strides of 0 share; Offsets are anywhere.
enum class GemmOperands : std::uint8_t { apart, a_shared, b_shared, anywhere, a_packed, b_packed };

enum class GemmArgument : std::uint8_t { none, m, n, k, count, a, b, c, lda, ldb, ldc };

// A copy of an operand that many products share, such as a layer's weights, in the order in which
// the kernels read it: they do not copy it again. Made by Gemm::pack; must outlive what was
// enqueued with it.
class PackedOperand {
 public:
  bool is_a() const { return is_a_; }                               // else it is a B
  std::int64_t outer() const { return outer_; }                     // m of an A, n of a B
  std::int64_t depth() const { return depth_; }                     // k
  std::size_t size_bytes() const { return buffer_->size_bytes(); }  // on the device

 private:
  friend class Gemm;
  MatrixStorage storage_ = MatrixStorage::single;
  bool is_a_ = false;
  std::int64_t outer_ = 0;
  std::int64_t depth_ = 0;
  std::unique_ptr<Buffer> buffer_;
};

// A light handle on kernels that belong to the agent, which must outlive it; so must the device.
//
// The products enqueue on options.queue (null: the device's adopted queue) and do not wait; the
// other rules are those of TunedKernel::launch. Any thread. Whatever is wrong with the arguments is
// one error that names the argument, and nothing is enqueued then. Sizes of 0 (m, n, count) are no
// error: nothing is enqueued, and options.event stays as it was. With k or alpha of 0 C becomes
// beta C, and A and B may be null. Sizes are at most 2^31 - 4096.
//
// Errors: invalid_argument (also: a buffer that is too small, or a C that overlaps A, B or another
// C, as far as this can be told from the handles), unsupported, device_error.
class Gemm {
 public:
  // Loads the kernels: see Agent::kernel. `queue`, if not null, is the device's application queue
  // (opencl::application_queue, cuda::application_queue): what tables of offsets go through.
  // Without it products at any offsets are launched one by one.
  static Result<Gemm> open(Agent& agent, Device& device,
                           std::unique_ptr<ApplicationQueue> queue = nullptr,
                           MatrixStorage storage = MatrixStorage::single);
  Gemm(Gemm&&) noexcept;
  Gemm& operator=(Gemm&&) noexcept;
  ~Gemm();  // what was enqueued must be done

  // Allocates nothing, as TunedKernel::launch.
  Status multiply(const Product& product, const LaunchOptions& options = {});
  // Many products of one shape in one launch (more where there are over 32768).
  Status multiply_strided(const Product& product, const Strides& strides,
                          const LaunchOptions& options = {});
  // The same, anywhere. The arrays are read before this returns. Allocates where it has to grow,
  // and waits for the device where the last eight such calls are not done.
  Status multiply_batched(const Product& product, const Offsets& offsets,
                          const LaunchOptions& options = {});
  // With an alpha and a beta of each, in place of the product's: neighbours that have the same ones
  // go together.
  Status multiply_batched(const Product& product, const Offsets& offsets, Span<const float> alphas,
                          Span<const float> betas, const LaunchOptions& options = {});

  // Copies operand a or b of `product`, of which that operand's size, place and transpose, and the
  // layout, count. Enqueued as a product is. Needs the queue of open(). Allocates.
  Result<PackedOperand> pack(GemmArgument operand, const Product& product,
                             const LaunchOptions& options = {});
  // The same again, where the values have changed; sizes must be as before.
  Status pack_again(PackedOperand& packed, const Product& product,
                    const LaunchOptions& options = {});
  // Products with `packed` for that operand: its place, transpose and stride do not count. What is
  // packed serves both layouts.
  Status multiply_packed(const Product& product, const PackedOperand& packed,
                         const Strides& strides = {}, const LaunchOptions& options = {});

  // Makes products of this shape, `count` at once, ready before their first call. Buffers do not
  // matter. Blocks: see TunedKernel::prepare.
  Status prepare(const Product& product, std::int64_t count = 1,
                 GemmOperands operands = GemmOperands::apart);
  Result<Explanation> explain(const Product& product, std::int64_t count = 1,
                              GemmOperands operands = GemmOperands::apart) const;
  MatrixStorage storage() const;
  // Which argument the calling thread's last call failed for; none: it did not, or for no argument.
  static GemmArgument last_wrong_argument();

 private:
  struct State;
  explicit Gemm(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace idletune
