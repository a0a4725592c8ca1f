#include "tests/bench/roofline/ceilings.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "models/host/pack/portable_dialect.hpp"
#include "tests/bench/required.hpp"

namespace idletune::bench {
namespace {

constexpr std::size_t kGroup = 64;
constexpr std::size_t kLeastFloats = std::size_t{1} << 14;  // per buffer of the triad
constexpr std::size_t kArithmeticItems = std::size_t{1} << 12;
constexpr double kIterations = 512;
constexpr Nanoseconds kDeadline = std::chrono::seconds(60);

constexpr const char* kTriad = R"(
KERNEL void triad(const GLOBAL float* RESTRICT a, const GLOBAL float* RESTRICT b, const float s,
                  GLOBAL float* RESTRICT c) {
  const int first = GLOBAL_ID(0) * PER_ITEM;
  for (int i = first; i < first + PER_ITEM; ++i) c[i] = a[i] + s * b[i];
}
)";

// CHAINS vectors of WIDTH sums, of 512 terms each, that do not wait for each other.
constexpr const char* kArithmetic = R"(
KERNEL void arithmetic(const float factor, const float term, GLOBAL float* RESTRICT out) {
  FLOAT_VECTOR(WIDTH) x[CHAINS];
  const FLOAT_VECTOR(WIDTH) factors = SPLAT(WIDTH, factor);
  const FLOAT_VECTOR(WIDTH) terms = SPLAT(WIDTH, term);
#pragma unroll CHAINS
  for (int j = 0; j < CHAINS; ++j) x[j] = SPLAT(WIDTH, (float)(GLOBAL_ID(0) + j));
  for (int i = 0; i < 512; ++i) {
#pragma unroll CHAINS
    for (int j = 0; j < CHAINS; ++j) x[j] = MULTIPLY_ADD(x[j], factors, terms);
  }
  FLOAT_VECTOR(WIDTH) sum = x[0];
#pragma unroll CHAINS
  for (int j = 1; j < CHAINS; ++j) sum = sum + x[j];
  float lanes[WIDTH];
  LANES_OF(WIDTH, sum, lanes);
  float all = 0.0f;
  for (int lane = 0; lane < WIDTH; ++lane) all += lanes[lane];
  out[GLOBAL_ID(0)] = all;
}
)";

// Neighbouring elements that an item of the triad takes: one suits GPUs, many suit CPUs.
constexpr std::size_t kPerItem[] = {1, 8, 64};
constexpr std::size_t kMostPerItem = 64;

struct Variant {
  int width, chains;
};
constexpr Variant kVariants[] = {{1, 8}, {1, 32}, {1, 128}, {4, 8},  {4, 16},
                                 {8, 8}, {8, 12}, {16, 4},  {16, 8}, {16, 12}};

}  // namespace

Ceilings::Ceilings(Device& device, double footprint_bytes) : device_(device) {
  constexpr std::size_t kStep = kGroup * kMostPerItem;
  const double floats = footprint_bytes / static_cast<double>(3 * sizeof(float));
  floats_ = std::max(kLeastFloats, static_cast<std::size_t>(floats) / kStep * kStep);
  const std::vector<std::uint8_t> zeros(floats_ * sizeof(float));
  for (std::unique_ptr<Buffer>& buffer : buffers_) {
    buffer = required(device.allocate(zeros.size()));
    require(device.write(*buffer, 0, zeros));
  }
  for (const std::size_t per_item : kPerItem) {
    const std::string options = "-DPER_ITEM=" + std::to_string(per_item);
    triads_.push_back({compile(kTriad, "triad", options.c_str()), per_item});
  }
  for (const Variant& variant : kVariants) {
    const std::string options =
        "-DWIDTH=" + std::to_string(variant.width) + " -DCHAINS=" + std::to_string(variant.chains);
    arithmetic_.push_back({compile(kArithmetic, "arithmetic", options.c_str()),
                           2 * kIterations * variant.width * variant.chains});
  }
}

std::unique_ptr<Program> Ceilings::compile(const char* source, const char* entry,
                                           const char* options) {
  const std::string text = std::string(package::portable_dialect()) + source;
  CompileRequest request;
  request.source = text;
  request.entry = entry;
  request.options = options;
  std::unique_ptr<Program> program = required(device_.compile(request));
  return program;
}

double Ceilings::run_ns(Program& program, std::size_t items, std::vector<Argument> arguments) {
  Range range;
  range.dimensions = 1;
  range.global[0] = items;
  range.local[0] = kGroup;
  const RunTimes times = required(device_.run(program, range, arguments, kDeadline));
  const Nanoseconds time = times.device.count() > 0 ? times.device : times.wall;
  return static_cast<double>(time.count());
}

void Ceilings::measure() {
  for (const Triad& triad : triads_) {
    const double time =
        run_ns(*triad.program, floats_ / triad.per_item,
               {buffers_[0]->argument(), buffers_[1]->argument(), 0.5f, buffers_[2]->argument()});
    bandwidth_ = std::max(bandwidth_, static_cast<double>(3 * sizeof(float) * floats_) / time);
  }
  const std::size_t items = std::min(kArithmeticItems, floats_);
  for (const Arithmetic& shape : arithmetic_) {
    const double time = run_ns(*shape.program, items, {0.5f, 1.0f, buffers_[2]->argument()});
    throughput_ =
        std::max(throughput_, shape.operations_per_item * static_cast<double>(items) / time);
  }
}

}  // namespace idletune::bench
