#include "agent/host/lab/steps/published_fractions.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>

#include "models/devices/plain_name.hpp"

namespace idletune {

namespace {

constexpr Processor kGpu = Processor::gpu;
constexpr Processor kCpu = Processor::cpu;

constexpr PublishedFraction kCells[] = {
    {"BiCG", "Vega56", kGpu, 0.00459},
    {"BiCG", "K20", kGpu, 0.00527},
    {"BiCG", "750", kGpu, 0.00332},
    {"BiCG", "1070", kGpu, 0.0168},
    {"BiCG", "2080Ti", kGpu, 0.0181},
    {"Convolution", "Vega56", kGpu, 0.00280},
    {"Convolution", "K20", kGpu, 0.00321},
    {"Convolution", "750", kGpu, 0.00117},
    {"Convolution", "1070", kGpu, 0.00204},
    {"Convolution", "2080Ti", kGpu, 0.00175},
    {"3D Coulomb Sum", "K20", kGpu, 0.0603},
    {"3D Coulomb Sum", "750", kGpu, 0.0405},
    {"3D Coulomb Sum", "1070", kGpu, 0.0389},
    {"3D Coulomb Sum", "2080Ti", kGpu, 0.0476},
    {"Fourier (32)", "750", kGpu, 0.0190},
    {"Fourier (32)", "1070", kGpu, 0.0286},
    {"Fourier (32)", "2080Ti", kGpu, 0.0357},
    {"Fourier (64)", "750", kGpu, 0.0595},
    {"Fourier (64)", "1070", kGpu, 0.119},
    {"Fourier (64)", "2080Ti", kGpu, 0.0357},
    {"Fourier (128)", "750", kGpu, 0.0167},
    {"Fourier (128)", "1070", kGpu, 0.0571},
    {"Fourier (128)", "2080Ti", kGpu, 0.0119},
    {"GEMM", "K20", kGpu, 0.000791},
    {"GEMM", "750", kGpu, 0.00107},
    {"GEMM", "1070", kGpu, 0.00231},
    {"GEMM", "2080Ti", kGpu, 0.00793},
    {"GEMM Batched", "Vega56", kGpu, 0.120},
    {"GEMM Batched", "K20", kGpu, 0.0943},
    {"GEMM Batched", "750", kGpu, 0.151},
    {"GEMM Batched", "1070", kGpu, 0.818},
    {"GEMM Batched", "2080Ti", kGpu, 0.642},
    {"Hotspot", "Vega56", kGpu, 0.0169},
    {"Hotspot", "K20", kGpu, 0.00743},
    {"Hotspot", "750", kGpu, 0.00495},
    {"Hotspot", "1070", kGpu, 0.00495},
    {"Hotspot", "2080Ti", kGpu, 0.0149},
    {"Matrix Transpose", "Vega56", kGpu, 0.0210},
    {"Matrix Transpose", "K20", kGpu, 0.0461},
    {"Matrix Transpose", "750", kGpu, 0.0413},
    {"Matrix Transpose", "1070", kGpu, 0.150},
    {"Matrix Transpose", "2080Ti", kGpu, 0.0101},
    {"N-body", "K20", kGpu, 0.0207},
    {"N-body", "750", kGpu, 0.0576},
    {"N-body", "1070", kGpu, 0.0277},
    {"N-body", "2080Ti", kGpu, 0.0492},
    {"Reduction", "Vega56", kGpu, 0.0775},
    {"Reduction", "K20", kGpu, 0.327},
    {"Reduction", "750", kGpu, 0.463},
    {"Reduction", "1070", kGpu, 0.715},
    {"Reduction", "2080Ti", kGpu, 0.368},
    {"BiCG", "dual-E5-2650", kCpu, 0.00203},
    {"BiCG", "i7-3820", kCpu, 0.00968},
    {"BiCG", "i7-4790", kCpu, 0.00156},
    {"BiCG", "i7-8700", kCpu, 0.00234},
    {"Convolution", "dual-E5-2650", kCpu, 0.0145},
    {"Convolution", "i7-3820", kCpu, 0.00672},
    {"Convolution", "i7-4790", kCpu, 0.00152},
    {"Convolution", "i7-8700", kCpu, 0.00305},
    {"3D Coulomb Sum", "dual-E5-2650", kCpu, 0.163},
    {"3D Coulomb Sum", "i7-3820", kCpu, 0.405},
    {"3D Coulomb Sum", "i7-4790", kCpu, 0.187},
    {"3D Coulomb Sum", "i7-8700", kCpu, 0.198},
    {"GEMM", "dual-E5-2650", kCpu, 0.000765},
    {"GEMM", "i7-3820", kCpu, 0.000885},
    {"GEMM", "i7-4790", kCpu, 0.000331},
    {"GEMM Batched", "dual-E5-2650", kCpu, 0.0125},
    {"GEMM Batched", "i7-3820", kCpu, 0.0125},
    {"GEMM Batched", "i7-4790", kCpu, 0.403},
    {"GEMM Batched", "i7-8700", kCpu, 0.480},
    {"Hotspot", "dual-E5-2650", kCpu, 0.0112},
    {"Hotspot", "i7-3820", kCpu, 0.0179},
    {"Hotspot", "i7-4790", kCpu, 0.0112},
    {"Hotspot", "i7-8700", kCpu, 0.0156},
    {"Matrix Transpose", "dual-E5-2650", kCpu, 0.0152},
    {"Matrix Transpose", "i7-3820", kCpu, 0.0319},
    {"Matrix Transpose", "i7-4790", kCpu, 0.0235},
    {"Matrix Transpose", "i7-8700", kCpu, 0.0128},
    {"N-body", "dual-E5-2650", kCpu, 0.0231},
    {"N-body", "i7-3820", kCpu, 0.111},
    {"N-body", "i7-4790", kCpu, 0.0359},
    {"N-body", "i7-8700", kCpu, 0.0119},
    {"Reduction", "dual-E5-2650", kCpu, 0.0314},
    {"Reduction", "i7-3820", kCpu, 0.0307},
    {"Reduction", "i7-4790", kCpu, 0.145},
    {"Reduction", "i7-8700", kCpu, 0.130},
};
constexpr std::size_t kCellCount = sizeof kCells / sizeof kCells[0];

// What a kernel's PlainName has to contain to mean a benchmark; the first rule
// that fits counts. `and_also` and `but_not` may be empty.
struct NameRule {
  const char* contains;
  const char* and_also;
  const char* but_not;
  const char* benchmark;  // or how it begins
};
constexpr NameRule kRules[] = {
    {"gemm", "batch", "", "GEMM Batched"},
    {"gemm", "", "", "GEMM"},
    {"matmul", "", "", "GEMM"},
    {"conv", "", "converg", "Convolution"},
    {"coulomb", "", "", "3D Coulomb Sum"},
    {"fourier", "", "", "Fourier"},
    {"bicg", "", "stab", "BiCG"},
    {"hotspot", "", "", "Hotspot"},
    {"transpos", "", "", "Matrix Transpose"},
    {"mtran", "", "", "Matrix Transpose"},
    {"nbody", "", "", "N-body"},
    {"reduc", "", "", "Reduction"},
};

bool fits(const NameRule& rule, const PlainName& name) {
  if (!name.contains(rule.contains) || !name.contains(rule.and_also)) return false;
  return *rule.but_not == '\0' || !name.contains(rule.but_not);
}

// Whether a cell's benchmark is the one named: itself, or one of its sizes ("Fourier (32)").
bool is_of(const PublishedFraction& cell, const char* benchmark) {
  const std::size_t length = std::strlen(benchmark);
  if (std::strncmp(cell.benchmark, benchmark, length) != 0) return false;
  return cell.benchmark[length] == '\0' || std::strncmp(cell.benchmark + length, " (", 2) == 0;
}

template <typename Predicate>
PublishedPrior summarize_cells(const char* benchmark, Predicate counts) {
  PublishedPrior prior;
  prior.benchmark = benchmark;
  double sum = 0;
  for (const PublishedFraction& cell : kCells) {
    if (!counts(cell)) continue;
    sum += std::log(cell.fraction);
    prior.lowest =
        prior.devices == 0 || cell.fraction < prior.lowest ? cell.fraction : prior.lowest;
    prior.highest = cell.fraction > prior.highest ? cell.fraction : prior.highest;
    ++prior.devices;
  }
  if (prior.devices == 0) return prior;
  const double mean = sum / prior.devices;
  prior.fraction = std::exp(mean);
  double squares = 0;
  for (const PublishedFraction& cell : kCells) {
    if (counts(cell)) squares += std::pow(std::log(cell.fraction) - mean, 2);
  }
  if (prior.devices > 1) prior.log_spread = std::sqrt(squares / (prior.devices - 1));
  return prior;
}

}  // namespace

Span<const PublishedFraction> published_fractions() { return {kCells, kCellCount}; }

std::optional<PublishedPrior> published_prior(std::string_view kernel, Processor processor) {
  const PlainName name(kernel);
  for (const NameRule& rule : kRules) {
    if (!fits(rule, name)) continue;
    const PublishedPrior prior =
        summarize_cells(rule.benchmark, [&](const PublishedFraction& cell) {
          return cell.processor == processor && is_of(cell, rule.benchmark);
        });
    if (prior.devices == 0) return std::nullopt;
    return prior;
  }
  return std::nullopt;
}

double published_spread_between_devices(Processor processor) {
  double squares = 0;
  unsigned degrees = 0;
  const char* previous = "";
  for (const PublishedFraction& cell : kCells) {
    if (cell.processor != processor || std::strcmp(cell.benchmark, previous) == 0) continue;
    previous = cell.benchmark;
    const PublishedPrior prior = summarize_cells(previous, [&](const PublishedFraction& other) {
      return other.processor == processor && std::strcmp(other.benchmark, previous) == 0;
    });
    squares += prior.log_spread * prior.log_spread * (prior.devices - 1);
    degrees += prior.devices - 1;
  }
  return std::sqrt(squares / degrees);
}

}  // namespace idletune
