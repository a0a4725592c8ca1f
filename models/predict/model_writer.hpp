// Writes model files: what model.hpp reads in place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <idletune/span.hpp>

#include "models/schema/model_generated.h"

namespace idletune::model_schema {

using Builder = flatbuffers::FlatBufferBuilder;
template <class Table>
using OffsetList = std::vector<flatbuffers::Offset<Table>>;

flatbuffers::Offset<Section> write_section(Builder& builder, std::uint32_t kind,
                                           std::uint32_t version, Bytes bytes);

// As in model.fbs. A device's name may be too long; without one: of all devices.
struct TreeToWrite {
  std::string_view device;
  std::vector<std::string> inputs;
  std::vector<double> low, high;
  std::vector<std::int8_t> exponents;
  std::vector<std::int64_t> classes;
  Bytes nodes;
};
flatbuffers::Offset<Selector> write_tree(Builder& builder, const TreeToWrite& tree);
// The section of such trees.
std::vector<std::uint8_t> finish_trees(Builder& builder, const OffsetList<Selector>& trees);

// The file, with the digest of its contents. `reader`: the least version that reads it right.
std::vector<std::uint8_t> finish_model(Builder& builder, const OffsetList<KernelEntry>& kernels,
                                       std::uint64_t generation, std::uint32_t reader,
                                       const std::vector<std::string>& provenance = {});

}  // namespace idletune::model_schema
