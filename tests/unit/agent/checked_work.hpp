// Problems of the tests' kernels whose every output is compared with the host's.
#pragma once

#include <idletune/agent.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/core/random.hpp"
#include "tests/unit/agent/raw_application.hpp"
#include "tests/unit/agent/watched_agent.hpp"
#include "tests/unit/os/temporary_folder.hpp"

namespace idletune::test {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kScale = 1.5f;
constexpr float kAlpha = 1.25f;

// An application with a state folder of its own, and the messages of the agents that it opens.
struct EagerApplication {
  const TemporaryFolder folder;
  Messages messages;
  RawApplication application{/*profiling=*/true};
  std::string state() const { return folder.file("state"); }
  Agent open() { return open_agent(eager(state(), messages)); }
};

inline std::vector<float> random_values(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(size);
  for (float& x : values) x = static_cast<float>(random.uniform() - 0.5);
  return values;
}

// The broken kernel at one shape, every output compared with the host's.
struct Transposition {
  static constexpr std::int64_t kRows = 100;
  static constexpr std::int64_t kColumns = 70;
  const Shape shape{kRows, kColumns};
  RawApplication application{/*profiling=*/true};
  std::vector<float> input = random_values(kRows * kColumns, 7);
  cl_mem in = application.buffer(input);
  cl_mem out = application.buffer(input);

  // Launches once; the number of wrong elements.
  std::size_t wrong(TunedKernel& kernel) {
    application.write(out, std::vector<float>(input.size(), kNan));
    const Status status = kernel.launch(shape, in, out, kScale);
    REQUIRE_MESSAGE(status.ok(), status.to_string());
    const std::vector<float> result = application.read(out, input.size());
    std::size_t count = 0;
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        count += !(result[c * kRows + r] == kScale * input[r * kColumns + c]);
      }
    }
    return count;
  }
};

// The deadly kernel at one shape.
struct Doubling {
  const Shape shape{1000};
  RawApplication application{/*profiling=*/true};
  std::vector<float> input = random_values(1000, 8);
  cl_mem in = application.buffer(input);
  cl_mem out = application.buffer(input);

  std::size_t wrong(TunedKernel& kernel) {
    application.write(out, std::vector<float>(input.size(), kNan));
    const Status status = kernel.launch(shape, in, out);
    REQUIRE_MESSAGE(status.ok(), status.to_string());
    const std::vector<float> result = application.read(out, input.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < input.size(); ++i) count += !(result[i] == 2 * input[i]);
    return count;
  }
};

// A matrix product with beta 0: C is poisoned before each launch and compared after it.
struct Product {
  Product(RawApplication& owner, std::int64_t m, std::int64_t n, std::int64_t k)
      : application(owner), shape{m, n, k} {
    const auto rows = static_cast<std::size_t>(m);
    const auto columns = static_cast<std::size_t>(n);
    const auto depth = static_cast<std::size_t>(k);
    const std::vector<float> left = random_values(rows * depth, 1);
    const std::vector<float> right = random_values(depth * columns, 2);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        double sum = 0;
        double size = 0;
        for (std::size_t d = 0; d < depth; ++d) {
          const double term = static_cast<double>(left[i * depth + d]) *
                              static_cast<double>(right[d * columns + j]);
          sum += term;
          size += std::fabs(term);
        }
        expected.push_back(static_cast<double>(kAlpha) * sum);
        slack.push_back(static_cast<double>(kAlpha) * size * (std::sqrt(k) + 2) / (1 << 23));
      }
    }
    poison.assign(rows * columns, kNan);
    a = application.buffer(left);
    b = application.buffer(right);
    c = application.buffer(poison);
  }
  // Launches once; the number of wrong elements.
  std::size_t wrong(TunedKernel& kernel) {
    application.write(c, poison);
    const Status status = kernel.launch(shape, a, b, c, kAlpha, 0.0f);
    if (!status.ok()) throw std::runtime_error(status.to_string());
    const std::vector<float> result = application.read(c, poison.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      count += !(std::fabs(static_cast<double>(result[i]) - expected[i]) <= slack[i]);
    }
    return count;
  }

  RawApplication& application;
  Shape shape;
  std::vector<double> expected;
  std::vector<double> slack;
  std::vector<float> poison;
  cl_mem a = nullptr;
  cl_mem b = nullptr;
  cl_mem c = nullptr;
};

// c = a * b, or c = a * transposed w, with one of two sets of weights; compared with the host's.
struct ConstantProduct {
  ConstantProduct(RawApplication& owner, std::int64_t m, std::int64_t n, std::int64_t k,
                  bool packs = false)
      : application(owner),
        shape{m, n, k},
        rows(static_cast<std::size_t>(m)),
        columns(static_cast<std::size_t>(n)),
        depth(static_cast<std::size_t>(k)),
        transposed(packs),
        left(random_values(rows * depth, 1)),
        poison(rows * columns, kNan) {
    a = application.buffer(left);
    c = application.buffer(poison);
    for (std::uint64_t i = 0; i < 2; ++i) {
      weights[i] = random_values(depth * columns, 2 + i);
      w[i] = application.buffer(weights[i]);
    }
  }
  float weight(std::size_t set, std::size_t d, std::size_t j) const {
    return weights[set][transposed ? j * depth + d : d * columns + j];
  }
  std::size_t wrong(TunedKernel& kernel, std::size_t set = 0) {
    application.write(c, poison);
    const Status status = kernel.launch(shape, a, w[set], c);
    REQUIRE_MESSAGE(status.ok(), status.to_string());
    const std::vector<float> result = application.read(c, poison.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        double sum = 0;
        for (std::size_t d = 0; d < depth; ++d) {
          sum += static_cast<double>(left[i * depth + d]) * static_cast<double>(weight(set, d, j));
        }
        const double error = std::fabs(static_cast<double>(result[i * columns + j]) - sum);
        count += !(error <= 1e-6 * static_cast<double>(depth));
      }
    }
    return count;
  }

  RawApplication& application;
  const Shape shape;
  const std::size_t rows, columns, depth;
  const bool transposed;
  const std::vector<float> left;
  const std::vector<float> poison;
  std::vector<float> weights[2];
  cl_mem a = nullptr;
  cl_mem c = nullptr;
  cl_mem w[2] = {nullptr, nullptr};
};

}  // namespace idletune::test
