// What is behind a Gemm.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <idletune/gemm.hpp>

#include "kernels/blas/placed_product.hpp"

namespace idletune {
namespace gemm {

// What the dimension LINKS of kernels/blas/sgemm says.
inline constexpr std::int64_t kScattered = 1;
inline constexpr std::int64_t kSharedA = 2;
inline constexpr std::int64_t kSharedB = 4;
inline constexpr std::int64_t kPanelsA = 8;  // twice that: B
// Devices count groups along the third axis in 16 bits.
inline constexpr std::int64_t kMaxProducts = 32768;
inline constexpr std::size_t kTables = 8;

// Rows of C that the smallest tile has, of which devices count 16 bits along the second axis.
inline constexpr std::int64_t kLeastRows = 4;

inline std::int64_t dense_size(const Operand& operand) {
  return operand.stored.rows * operand.stored.columns;
}

}  // namespace gemm

struct Gemm::State {
  // A table of offsets on its way to the device, or there.
  struct Table {
    std::vector<std::int64_t> values;
    std::unique_ptr<Buffer> buffer;
  };

  State(TunedKernel loaded, Device& on, MatrixStorage as)
      : kernel(loaded), device(on), element_bytes(as == MatrixStorage::half ? 2 : 4) {}

  // Fills in what was seen of the buffers.
  Status check(gemm::PlacedProduct& placed) const;
  Status check_operand(const gemm::Operand& operand, GemmArgument argument, std::int64_t count,
                       std::uint64_t& bytes) const;
  Status check_overlap(const gemm::PlacedProduct& placed, std::size_t operand) const;
  bool same_memory(const gemm::Operand& x, const gemm::Operand& y, std::int64_t& apart) const;
  bool holds_dense(const gemm::PlacedProduct& placed) const;
  // In as many launches as the rows of C take.
  Status launch(const gemm::PlacedProduct& placed, std::int64_t links, const Argument& table,
                const LaunchOptions& options);
  Status launch_rows(const gemm::PlacedProduct& placed, std::int64_t links, const Argument& table,
                     const LaunchOptions& options);
  // The kernels' dimensions of all launches of a product, wherever its matrices lie: those of most
  // rows and products first.
  Result<std::vector<Shape>> shapes(const Product& product, std::int64_t count,
                                    GemmOperands operands) const;
  Status check_and_enqueue(gemm::PlacedProduct& placed, const LaunchOptions& options);
  Status enqueue(gemm::PlacedProduct& placed, const LaunchOptions& options);
  Status enqueue_part(const gemm::PlacedProduct& placed, const LaunchOptions& options);
  Status check_offsets(const gemm::PlacedProduct& placed, const Offsets& offsets);
  Status enqueue_scattered(gemm::PlacedProduct placed, const Offsets& offsets,
                           const LaunchOptions& options);
  Status enqueue_table(gemm::PlacedProduct placed, const Offsets& offsets,
                       const LaunchOptions& options);
  // Whether the operand can be packed; nothing is enqueued.
  Status check_packable(const Product& product, bool is_a) const;
  Status make_one();
  Result<Argument> fill_table(const gemm::PlacedProduct& placed, const Offsets& offsets);
  // The last of several launches: its event is that of all.
  Status before_last(const LaunchOptions& options) {
    return options.event == nullptr ? Status() : device.order(options.queue, options.queue);
  }

  TunedKernel kernel;
  Device& device;
  std::uint32_t element_bytes;
  std::unique_ptr<ApplicationQueue> queue;  // may be null
  std::unique_ptr<Buffer> no_table;
  Argument no_table_argument;   // that one, so that calls need not ask for it
  std::unique_ptr<Buffer> one;  // the number 1; made when something is packed
  bool addresses = false;       // handles are addresses of device memory
  std::int64_t rows_at_once = gemm::kMaxSize;
  std::mutex tables_mutex;
  Table tables[gemm::kTables];
  std::size_t next_table = 0;
};

}  // namespace idletune
