#include "models/host/offload/runtime/region_record.hpp"

#include <charconv>

namespace idletune::offload {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr std::uint64_t kWord = 8;  // bytes that a copy moves at once

void write_text(std::FILE* file, const std::string& text) {
  std::fputc('"', file);
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') std::fputc('\\', file);
    if (static_cast<unsigned char>(letter) < ' ') {
      std::fprintf(file, "\\u%04x", static_cast<unsigned>(letter));
    } else {
      std::fputc(letter, file);
    }
  }
  std::fputc('"', file);
}

void write_count(std::FILE* file, const char* name, std::uint64_t count, bool last = false) {
  std::fprintf(file, "\"%s\": %llu%s", name, static_cast<unsigned long long>(count),
               last ? "" : ", ");
}

}  // namespace

void RegionRecord::begin_run() {
  counts_before_ = all_runs();
  bulk_.assign(program_.operations.size(), 0);
  tracer_.reset();
  analysis_ = std::make_unique<Analysis>(program_.operations, program_.values);
  tracer_ = std::make_unique<Tracer>(program_, *analysis_);
  entries = 0;
  seconds = 0;
  sampled = false;
}

void RegionRecord::bulk(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                        std::uint32_t load, std::uint32_t store, bool tracing) {
  const auto one = [&](std::uint32_t operation, std::uint64_t address, bool writes) {
    if (operation == kNone) return;
    ++bulk_[operation];
    if (writes) {
      analysis_->footprint().write(address);
    } else {
      analysis_->footprint().read(address);
    }
    if (tracing) analysis_->execute_in_burst(operation, address);
  };
  if (tracing) tracer_->fill(to, bytes);
  for (std::uint64_t done = 0; done < bytes; done += kWord) {
    one(load, from + done, false);
    one(store, to + done, true);
  }
}

std::vector<std::uint64_t> RegionRecord::all_runs() const {
  std::vector<std::uint64_t> blocks(program_.blocks.size());
  for (std::uint32_t i = 0; i < blocks.size(); ++i) blocks[i] = program_.runs(i, counts_);
  return blocks;
}

std::vector<std::uint64_t> RegionRecord::block_runs() const {
  std::vector<std::uint64_t> blocks = all_runs();
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] -= counts_before_[i];
  return blocks;
}

Iterations RegionRecord::iterations() const {
  std::vector<std::uint64_t> operations;
  for (const Block& block : program_.blocks) operations.push_back(block.operations);
  return tracer_->dependences().judge(block_runs(), operations);
}

std::vector<std::uint64_t> RegionRecord::executions() const {
  std::vector<std::uint64_t> executions = program_.executions(block_runs().data());
  for (std::size_t i = 0; i < executions.size(); ++i) executions[i] += bulk_[i];
  return executions;
}

void RegionRecord::write(std::FILE* file, const std::string& label) const {
  const std::vector<std::uint64_t> executions = this->executions();
  const auto kinds = count_kinds(program_.operations, executions);
  const auto kind = [&kinds](OperationKind one) { return kinds[static_cast<std::size_t>(one)]; };
  std::uint64_t all = 0;
  for (const std::uint64_t count : kinds) all += count;
  const Footprint& footprint = const_cast<Analysis&>(*analysis_).footprint();
  std::fprintf(file, "{\"name\": ");
  write_text(file, name());
  std::fprintf(file, ", \"label\": ");
  write_text(file, label);
  std::fprintf(file, ", \"iterations\": \"%s\"", iterations_name(iterations()));
  std::fprintf(file, ", \"sampled\": %s, \"bytes_in\": %llu, \"bytes_out\": %llu",
               sampled ? "true" : "false",
               static_cast<unsigned long long>(128 * footprint.blocks_in()),
               static_cast<unsigned long long>(128 * footprint.blocks_out()));
  std::fprintf(file, ",\n \"counts\": {");
  write_count(file, "entries", entries);
  write_count(file, "instructions", all);
  write_count(file, "loads", kind(OperationKind::load));
  write_count(file, "stores", kind(OperationKind::store));
  write_count(file, "accesses", kind(OperationKind::load) + kind(OperationKind::store));
  write_count(file, "branches", kind(OperationKind::decision));
  write_count(file, "blocks", footprint.blocks());
  write_count(file, "pages", footprint.pages());
  write_count(file, "profiling_us", static_cast<std::uint64_t>(1e6 * seconds));
  std::uint64_t traced = 0;
  for (const std::uint64_t count : analysis_->executions()) traced += count;
  write_count(file, "traced", traced, true);
  std::fprintf(file, "},\n \"features\": {");
  const auto features = analysis_->features(executions);
  for (std::size_t i = 0; i < kStreamFeatures; ++i) {
    // The program may have set a locale whose point is a comma.
    char number[32];
    *std::to_chars(number, number + 31, features[i]).ptr = '\0';
    std::fprintf(file, "%s\"%s\": %s", i == 0 ? "" : ", ", kStreamFeatureNames[i], number);
  }
  std::fprintf(file, "},\n \"remarks\": [");
  bool first = true;
  for (const std::string& remark : program_.remarks) {
    std::fprintf(file, "%s", first ? "" : ", ");
    write_text(file, remark);
    first = false;
  }
  if (!analysis_->access_windows().any()) {
    std::fprintf(file,
                 "%s\"no access ran 32 times within what was traced: stride0, noConflict, shMemBW, "
                 "gMemBW and coalesced are not known, and 0\"",
                 first ? "" : ", ");
    first = false;
  }
  if (footprint.overflow() > 0) {
    std::fprintf(file, "%s\"%llu accesses lie beyond the memory that is followed\"",
                 first ? "" : ", ", static_cast<unsigned long long>(footprint.overflow()));
  }
  std::fprintf(file, "]}");
}

}  // namespace idletune::offload
