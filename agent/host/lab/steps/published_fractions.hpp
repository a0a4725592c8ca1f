// Well-performing fractions that were published: a small prior for kernels without a history.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <idletune/span.hpp>

namespace idletune {

enum class Processor : std::uint8_t { gpu, cpu };

// One cell of tables 4 (GPU) and 5 (CPU) of Olha et al. 2020 (agent/bibliography.md): the share of
// the tuning space within 90 % of the best, measured exhaustively on KTT's spaces of these
// benchmarks.
struct PublishedFraction {
  const char* benchmark;
  const char* device;
  Processor processor;
  double fraction;
};
inline constexpr double kPublishedThreshold = 0.9;
Span<const PublishedFraction> published_fractions();

// What the tables say about one benchmark, over its devices.
struct PublishedPrior {
  const char* benchmark = "";
  double fraction = 0;    // geometric mean
  double log_spread = 0;  // standard deviation of the natural logarithm over devices (n - 1)
  double lowest = 0;
  double highest = 0;
  unsigned devices = 0;  // cells; the three sizes of Fourier count as devices of one benchmark
};
// For the benchmark that a kernel's name suggests ("Xgemm", "convolution_kernel", "mtran"); nothing
// if it suggests none. Another implementation of the same problem has another space: this is a
// hint.
std::optional<PublishedPrior> published_prior(std::string_view kernel, Processor processor);

// How much ln p_b differs between devices for one and the same benchmark: pooled standard deviation
// (GPU: 0.7).
double published_spread_between_devices(Processor processor);

}  // namespace idletune
