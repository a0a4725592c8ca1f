// The second step of Li and Suda 2012 as they took it (agent/bibliography.md): C-SVC and
// epsilon-SVR on unscaled inputs, 60 % of the rows to learn from, 40 % to test on. Host side, of
// the lab.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/result.hpp>

#include "models/host/learn/sparse_table.hpp"

namespace idletune::sparse {

// Rows of inputs, and the performance of each in operations per nanosecond.
struct PublishedRows {
  std::vector<std::vector<double>> inputs;
  std::vector<double> performance;
  std::vector<std::size_t> group;  // number of the matrix, or of the length
};

// Five columns of formats, ten of kernels, the work group, the twelve features.
PublishedRows published_rows(const Table& table);
// The length, a column per kernel, the work group.
PublishedRows published_rows(const VectorTable& table);

enum class PublishedKernel : std::uint8_t {
  radial,     // exp(-0.5 |x - z|^2)
  polynomial  // (<x, z> + 1)^degree
};
enum class PublishedSplit : std::uint8_t {
  drawn,     // rows of one matrix stand on both sides
  in_order,  // the first 60 % of the rows
  by_group   // 60 % of the matrices, drawn: none stands on both sides
};

struct PublishedFigures {
  double train_accuracy = 0;
  double test_accuracy = 0;
  double test_majority = 0;  // of the more frequent label among the test rows
  double test_balanced = 0;  // mean over the labels there of the share of right answers
  double same_answer = 0;    // share of the test rows that get the more frequent answer
  double train_mse = 0;
  double test_mse = 0;
  double test_variance = 0;               // the error of always answering the mean of the test rows
  double class_cost = 0, value_cost = 0;  // C of the two machines
};

// Rows that have the inputs of another one: nothing that is learned can tell these apart.
std::size_t rows_of_equal_inputs(const PublishedRows& rows);

// The same with at most kMostPublishedRows, evenly taken: on unscaled inputs the polynomial does
// not converge, and ten million rounds of training take minutes with more.
inline constexpr std::size_t kMostPublishedRows = 600;
PublishedRows thinned(const PublishedRows& rows);

// Labelled +1 from mean + 0.1 (best - mean) of the training rows on; C = 50; epsilon = 0.01, whose
// square is the error on training rows that was published. Error: invalid_argument (fewer than ten
// rows, or one label alone among the training rows).
Result<PublishedFigures> as_published(const PublishedRows& rows, PublishedKernel kernel, int degree,
                                      PublishedSplit split, std::uint64_t seed);

// The same, but that each input is sign(x) log2(1 + |x|), of mean 0 and deviation 1 over the training
// rows, <x, z> and |x - z|^2 count per input, and C of each machine is the one of kCosts with the best
// mean over five folds of the training rows (by number of the row, or of the group; of equal ones the
// least): what the publication says of C, with inputs that a kernel can compare.
inline constexpr double kCosts[] = {0.5, 5, 50, 500};
Result<PublishedFigures> with_scaled_inputs(const PublishedRows& rows, PublishedKernel kernel,
                                            int degree, PublishedSplit split, std::uint64_t seed);

}  // namespace idletune::sparse
