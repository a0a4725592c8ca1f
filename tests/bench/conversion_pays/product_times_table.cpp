#include "tests/bench/conversion_pays/product_times_table.hpp"

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace idletune::bench {
namespace {

using krylov::SparseFormat;

SparseFormat format_of(const std::string& name) {
  for (std::size_t i = 0; i < krylov::kSparseFormats; ++i) {
    const auto format = static_cast<SparseFormat>(i);
    if (name == krylov::sparse_format_name(format)) return format;
  }
  throw std::runtime_error("no format is called " + name);
}

void take(std::istringstream& line, const std::string& what, ProductTimesTable& table) {
  if (what == "matrix") {
    TimedMatrix matrix;
    line >> matrix.name >> matrix.rows >> matrix.entries >> matrix.check_us >> matrix.sizes_us;
    table.matrices.push_back(std::move(matrix));
    return;
  }
  std::string name;
  line >> name;
  TimedKernel kernel;
  kernel.format = format_of(name);
  if (what == "program") {
    line >> kernel.variant.kind >> kernel.variant.work_group >> kernel.cold_us >> kernel.warm_us;
    table.programs.push_back(kernel);
    return;
  }
  if (table.matrices.empty()) throw std::runtime_error("no matrix before it");
  TimedMatrix& matrix = table.matrices.back();
  if (what == "stored") {
    TimedFormat& format = matrix.formats[static_cast<std::size_t>(kernel.format)];
    line >> format.bytes >> format.put_us;
  } else if (what == "product") {
    line >> kernel.variant.kind >> kernel.variant.work_group >> kernel.us;
    kernel.other_us = kernel.us;
    if (line && !line.eof()) line >> kernel.other_us;
    matrix.products.push_back(kernel);
  } else {
    throw std::runtime_error("expected matrix, stored, product or program");
  }
}

}  // namespace

ProductTimesTable read_times(const std::string& path) {
  ProductTimesTable table;
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    if (text.empty() || text[0] == '#') continue;
    std::istringstream line(text);
    std::string what;
    line >> what;
    const std::string where = path + ":" + std::to_string(number) + ": ";
    try {
      take(line, what, table);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(where + error.what());
    }
    if (!line) throw std::runtime_error(where + "numbers are missing");
  }
  if (table.matrices.empty() || table.programs.empty())
    throw std::runtime_error(path + ": no matrices or no programs");
  return table;
}

void print_program(const TimedKernel& program) {
  std::printf("program %s %d %d %.0f %.0f\n", krylov::sparse_format_name(program.format),
              program.variant.kind, program.variant.work_group, program.cold_us, program.warm_us);
}

void print_matrix(const TimedMatrix& matrix) {
  std::printf("matrix %s %d %" PRIu64 " %.4g %.4g\n", matrix.name.c_str(), matrix.rows,
              matrix.entries, matrix.check_us, matrix.sizes_us);
  for (std::size_t i = 0; i < krylov::kSparseFormats; ++i) {
    std::printf("stored %s %" PRIu64 " %.4g\n",
                krylov::sparse_format_name(static_cast<SparseFormat>(i)), matrix.formats[i].bytes,
                matrix.formats[i].put_us);
  }
  for (const TimedKernel& kernel : matrix.products) {
    std::printf("product %s %d %d %.4g %.4g\n", krylov::sparse_format_name(kernel.format),
                kernel.variant.kind, kernel.variant.work_group, kernel.us, kernel.other_us);
  }
  std::fflush(stdout);
}

}  // namespace idletune::bench
