#include "tests/bench/conversion_pays/left_out_models.hpp"

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "agent/host/cli/sparse_families.hpp"
#include "kernels/krylov/features.hpp"
#include "kernels/krylov/formats.hpp"
#include "models/host/history/history.hpp"
#include "models/host/learn/model_contents.hpp"
#include "models/host/learn/sparse_times.hpp"
#include "models/predict/model_format.hpp"
#include "models/schema/model_generated.h"
#include "platform/os/storage.hpp"
#include "tests/bench/required.hpp"

namespace idletune::bench {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

std::vector<std::uint8_t> model_with(std::vector<std::uint8_t> section) {
  ModelKernel kernel;
  kernel.name = kProductsEntry;
  kernel.parameters = {"FORMAT", "GROUP_PER_ROW", "WG"};
  kernel.sections.push_back({static_cast<std::uint32_t>(model_schema::SectionKind::products),
                             model_schema::kSectionVersion, std::move(section)});
  ModelContents contents;
  contents.kernels.push_back(std::move(kernel));
  return write_model(contents);
}

}  // namespace

LeftOutModels::LeftOutModels(const std::string& folder) {
  std::vector<History> histories;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    const auto bytes = required(read_file(path, kMaxBytes));
    for (History& history : required(read_histories({bytes.data(), bytes.size()}, path)))
      histories.push_back(std::move(history));
  }
  std::vector<const History*> all;
  for (const History& history : histories) all.push_back(&history);
  for (sparse::Table& table : sparse::tables_of(all)) {
    if (table.number_bytes != sizeof(double)) continue;
    table_ = std::move(table);
    return;
  }
  throw std::runtime_error(folder + ": no explorations of matrices in double precision");
}

std::vector<std::uint8_t> LeftOutModels::without(const std::string& family) const {
  sparse::Table others;
  others.device = table_.device;
  others.number_bytes = table_.number_bytes;
  others.candidates = table_.candidates;
  for (std::size_t m = 0; m < table_.matrices.size(); ++m) {
    if (table_.matrices[m].family == family) continue;
    others.matrices.push_back(table_.matrices[m]);
    others.ns.push_back(table_.ns[m]);
  }
  return model_with(sparse::write_product_times({others}));
}

std::optional<LeftOutModel> LeftOutModels::of(const std::string& matrix) const {
  LeftOutModel made;
  made.device = table_.device;
  if (cli::names_sparse_family(matrix)) {
    const krylov::SparsityPattern pattern = required(cli::generated_pattern(matrix));
    const auto features = krylov::features_of(pattern);
    for (std::size_t f = 0; f < krylov::kSparseFormats; ++f) {
      const auto format = static_cast<krylov::SparseFormat>(f);
      made.inputs[f] =
          product_inputs(features, static_cast<double>(krylov::stored_slots(pattern, format)));
    }
    made.bytes = without(matrix.substr(0, matrix.find(':')));
    return made;
  }
  for (const sparse::Matrix& asked : table_.matrices) {
    if (asked.name != matrix) continue;
    for (std::size_t f = 0; f < krylov::kSparseFormats; ++f)
      made.inputs[f] = product_inputs(asked.features, asked.slots[f]);
    made.bytes = without(asked.family);
    return made;
  }
  return {};
}

}  // namespace idletune::bench
