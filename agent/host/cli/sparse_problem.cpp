#include "agent/host/cli/sparse_problem.hpp"

#include <array>
#include <cctype>
#include <filesystem>

#include "agent/host/cli/matrix_description.hpp"
#include "agent/host/cli/places.hpp"
#include "agent/host/cli/sparse_families.hpp"
#include "kernels/krylov/features.hpp"
#include "kernels/krylov/formats.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {
namespace {

using krylov::SparseFormat;
using krylov::SparsityPattern;
using krylov::StoredPattern;
using Features = std::array<double, krylov::kFeatures>;

constexpr std::size_t kMaxMatrixBytes = std::size_t{1} << 30;
constexpr int kTimings = 3;  // of the host's work; the fastest counts

bool is_matrix_file(const std::string& name) {
  return has_ending(name, ".mtx") || has_ending(name, ".mtx.gz");
}

Status wrong_package(const KernelPackage& package, const std::string& why) {
  return Status(StatusCode::invalid_argument, std::string(package.name()) + ": " + why);
}

Result<SparsityPattern> pattern_of(const std::string& text) {
  if (names_sparse_family(text)) return generated_pattern(text);
  const auto bytes = read_file(text, kMaxMatrixBytes);
  if (!bytes.ok()) return bytes.status();
  auto read = read_matrix(*bytes, text);
  if (!read.ok()) return read.status();
  return std::move(read->matrix.pattern);
}

// "spmv_ell_double": ELL, 8 bytes a number.
struct PackageFormat {
  SparseFormat format = SparseFormat::csr;
  std::size_t number_bytes = sizeof(float);
};

Result<PackageFormat> format_of(const KernelPackage& package) {
  const std::string name(package.name());
  PackageFormat found;
  found.number_bytes = has_ending(name, "_double") ? sizeof(double) : sizeof(float);
  for (std::size_t i = 0; i < krylov::kSparseFormats; ++i) {
    found.format = static_cast<SparseFormat>(i);
    std::string wanted = std::string("spmv_") + krylov::sparse_format_name(found.format);
    std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (name == wanted || name == wanted + "_double") return found;
  }
  return wrong_package(
      package,
      "--problem expected a product of a known format (spmv_csr, ...) or a kernel of vectors");
}

// Repeats the work, and keeps what it answered.
template <class Work, class Answer>
double fastest_ns(const Work& work, Answer& answer) {
  double best = 0;
  for (int i = 0; i < kTimings; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    answer = work();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    if (i == 0 || took.count() < best) best = took.count();
  }
  return best;
}

std::int32_t longest_row(const SparsityPattern& pattern) {
  std::int32_t longest = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(pattern.rows); ++i)
    longest = std::max(longest, pattern.row_start[i + 1] - pattern.row_start[i]);
  return longest;
}

Result<Shape> shape_of(const KernelPackage& package, const SparsityPattern& pattern,
                       const StoredPattern& stored, const Features& features) {
  Shape shape;
  const auto rest = static_cast<std::int64_t>(stored.row.size());
  const std::pair<std::string_view, std::int64_t> dimensions[] = {
      {"ROWS", pattern.rows},
      {"COLUMNS", pattern.columns},
      {"ENTRIES", static_cast<std::int64_t>(pattern.entries())},
      {"WIDTH", stored.width},
      {"DIAGONALS", stored.width},
      {"REST", rest},
      {"SLOTS", stored.slots},
      {"LONGEST", longest_row(pattern)},
      {"N", pattern.rows}};
  for (std::size_t d = 0; d < package.dimension_count(); ++d) {
    const auto* found =
        std::find_if(std::begin(dimensions), std::end(dimensions), [&](const auto& dimension) {
          return dimension.first == package.inputs().dimension_name(d);
        });
    if (found == std::end(dimensions))
      return wrong_package(package, "dimension " + std::string(package.inputs().dimension_name(d)) +
                                        " is none of a sparse matrix");
    shape.push_back(found->second);
  }
  for (std::size_t f = 0; f < package.inputs().given_feature_count(); ++f) {
    const auto* found = std::find(krylov::kFeatureNames.begin(), krylov::kFeatureNames.end(),
                                  package.inputs().feature_name(f));
    if (found == krylov::kFeatureNames.end())
      return wrong_package(package, "feature " + std::string(package.inputs().feature_name(f)) +
                                        " is none of a sparse matrix");
    shape.push_feature(features[static_cast<std::size_t>(found - krylov::kFeatureNames.begin())]);
  }
  return shape;
}

bool has_captured(const KernelPackage& package) {
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    if (package.argument(i).captured) return true;
  }
  return false;
}

Result<CapturedArguments> capture(const KernelPackage& package, const Shape& shape,
                                  const StoredPattern& stored) {
  auto captured = CapturedArguments::make(package, shape, CapturedArguments::kMaxBytes / 2);
  if (!captured.ok()) return captured;
  const std::pair<std::string_view, const std::vector<std::int32_t>*> arrays[] = {
      {"row_start", &stored.row_start},
      {"slice_start", &stored.row_start},
      {"row_of", &stored.row},
      {"column", &stored.column},
      {"offset", &stored.offset}};
  for (std::size_t i = 0; i < captured->arrays().size(); ++i) {
    const std::string name(captured->arrays()[i].name);
    const auto* found = std::find_if(std::begin(arrays), std::end(arrays),
                                     [&](const auto& array) { return array.first == name; });
    if (found == std::end(arrays))
      return wrong_package(package, "'" + name + "' is no array of a sparse matrix");
    const std::vector<std::int32_t>& values = *found->second;
    const MutableBytes bytes = captured->writable(i);
    // An empty array has one element there, which is 0.
    const std::size_t size = std::min(bytes.size(), values.size() * sizeof(std::int32_t));
    if (size > 0) std::memcpy(bytes.data(), values.data(), size);
  }
  captured->seal();
  if (Status status = captured->check(package); !status.ok()) return status;
  return captured;
}

nlohmann::ordered_json note_of(const std::string& text, const SparsityPattern& pattern,
                               Features& features) {
  nlohmann::ordered_json note;
  note["name"] = sparse_problem_name(text);
  note["family"] = nullptr;
  if (names_sparse_family(text)) note["family"] = text.substr(0, text.find(':'));
  const double features_ns = fastest_ns([&] { return krylov::features_of(pattern); }, features);
  for (std::size_t i = 0; i < krylov::kFeatures; ++i)
    note["features"][krylov::kFeatureNames[i]] = features[i];
  note["features_ns"] = features_ns;
  return note;
}

}  // namespace

Result<std::vector<std::string>> sparse_problems_of(const std::string& text) {
  std::error_code error;
  if (!std::filesystem::is_directory(text, error)) return std::vector<std::string>{text};
  std::vector<std::string> found;
  for (std::filesystem::directory_iterator at(text, error), end; !error && at != end;
       at.increment(error)) {
    if (is_matrix_file(at->path().string())) found.push_back(at->path().string());
  }
  if (found.empty())
    return Status(StatusCode::not_found, text + ": no .mtx or .mtx.gz in this folder");
  std::sort(found.begin(), found.end());
  return found;
}

std::string sparse_problem_name(const std::string& text) {
  if (names_sparse_family(text)) return text;
  std::string name = std::filesystem::path(text).filename().string();
  for (const char* end : {".gz", ".mtx"}) {
    if (has_ending(name, end)) name.resize(name.size() - std::strlen(end));
  }
  return name;
}

Result<SparseProblem> sparse_problem(const KernelPackage& package, const std::string& text,
                                     std::uint64_t limit_bytes) {
  auto pattern = pattern_of(text);
  if (!pattern.ok()) return pattern.status();
  SparseProblem problem;
  Features features{};
  problem.note = note_of(text, *pattern, features);
  StoredPattern stored;
  if (has_captured(package)) {
    const auto format = format_of(package);
    if (!format.ok()) return format.status();
    Result<StoredPattern> converted = StoredPattern();
    const double conversion_ns = fastest_ns(
        [&] {
          return krylov::convert(*pattern, format->format, format->number_bytes, limit_bytes);
        },
        converted);
    if (!converted.ok())
      return Status(converted.code(), text + ": " + converted.status().message());
    stored = std::move(*converted);
    problem.note["format"] = krylov::sparse_format_name(format->format);
    problem.note["number_bytes"] = format->number_bytes;
    problem.note["bytes"] = krylov::stored_bytes(*pattern, format->format, format->number_bytes);
    problem.note["conversion_ns"] = conversion_ns;
  }
  auto shape = shape_of(package, *pattern, stored, features);
  if (!shape.ok()) return shape.status();
  problem.shape = *shape;
  if (!has_captured(package)) return problem;
  auto captured = capture(package, *shape, stored);
  if (!captured.ok()) return captured.status();
  problem.captured = std::move(*captured);
  return problem;
}

}  // namespace idletune::cli
