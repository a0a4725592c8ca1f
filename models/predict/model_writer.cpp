#include "models/predict/model_writer.hpp"

#include <algorithm>

#include "models/predict/model_format.hpp"

namespace idletune::model_schema {
namespace {

std::vector<std::uint8_t> bytes_of(const Builder& builder) {
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

// They are read in place.
flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> write_aligned(Builder& builder,
                                                                     Bytes bytes) {
  builder.ForceVectorAlignment(bytes.size(), sizeof(std::uint8_t), 8);
  return builder.CreateVector(bytes.data(), bytes.size());
}

}  // namespace

flatbuffers::Offset<Section> write_section(Builder& builder, std::uint32_t kind,
                                           std::uint32_t version, Bytes bytes) {
  return CreateSection(builder, kind, version, write_aligned(builder, bytes));
}

flatbuffers::Offset<Selector> write_tree(Builder& builder, const TreeToWrite& tree) {
  const std::size_t length = std::min(tree.device.size(), kMaxNameBytes);
  const auto device = length == 0 ? flatbuffers::Offset<flatbuffers::String>()
                                  : builder.CreateString(tree.device.data(), length);
  const auto inputs = builder.CreateVectorOfStrings(tree.inputs);
  const auto low = builder.CreateVector(tree.low);
  const auto high = builder.CreateVector(tree.high);
  const auto exponents = builder.CreateVector(tree.exponents);
  const auto classes = builder.CreateVector(tree.classes);
  const auto nodes = write_aligned(builder, tree.nodes);
  return CreateSelector(builder, device, inputs, low, high, exponents, classes, nodes);
}

std::vector<std::uint8_t> finish_trees(Builder& builder, const OffsetList<Selector>& trees) {
  builder.Finish(CreateSelectorSection(builder, builder.CreateVector(trees)));
  return bytes_of(builder);
}

// The digest is of the contents, so it is known only once they are laid out.
std::vector<std::uint8_t> finish_model(Builder& builder, const OffsetList<KernelEntry>& kernels,
                                       std::uint64_t generation, std::uint32_t reader,
                                       const std::vector<std::string>& provenance) {
  const auto kernels_at = builder.CreateVector(kernels);
  const auto provenance_at = builder.CreateVectorOfStrings(provenance);
  FinishModelFileBuffer(builder, CreateModelFile(builder, 1, generation, reader, 1 /* later */, 0,
                                                 provenance_at, kernels_at));
  auto* made = flatbuffers::GetMutableRoot<flatbuffers::Table>(builder.GetBufferPointer());
  made->SetField<std::uint64_t>(ModelFile::VT_CONTENT_DIGEST,
                                content_digest(*GetModelFile(builder.GetBufferPointer())), 0);
  return bytes_of(builder);
}

}  // namespace idletune::model_schema
