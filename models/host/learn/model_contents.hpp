// A model file taken apart into kernels and sections, and put together again. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune {

struct ModelSection {
  std::uint32_t kind = 0;  // model_schema::SectionKind, or one that this version does not know
  std::uint32_t version = 1;
  std::vector<std::uint8_t> bytes;
};

struct ModelKernel {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<ModelSection> sections;
  std::uint32_t reader = 1;  // that its file asked for, if there is a section of a later version

  // What it takes in the file: sections, names and their tables, rounded up.
  std::size_t bytes() const;
};

struct ModelContents {
  std::uint64_t generation = 1;
  std::vector<std::string> provenance;
  std::vector<ModelKernel> kernels;
};

// "sources", "portfolio", ...; "unknown" for a kind of a later version.
const char* section_kind_name(std::uint32_t kind);

// The bytes of a model file, digest included.
std::vector<std::uint8_t> write_model(const ModelContents& contents);
// Takes a file apart that Model::open accepts; sections of unknown kinds come along as they are.
// Errors: those of Model::open.
Result<ModelContents> read_model(Bytes bytes, const std::string& name);

// What a kernel's provenance section says.
struct KernelProvenance {
  struct Origin {
    std::string device;
    std::uint32_t shapes = 0;
    std::uint32_t histories = 0;
    std::uint64_t configurations = 0;
    std::uint64_t correct = 0;
    std::uint64_t digest = 0;
    std::vector<std::uint64_t> history_digests;  // of each; empty in models of earlier versions
  };
  std::int64_t learned_unix_seconds = 0;  // 0: not recorded
  std::vector<Origin> histories;
  std::vector<std::string> dropped;  // to stay within the size limit
};
ModelSection write_provenance(const KernelProvenance& provenance);
// Empty where the kernel has none, or a damaged one.
KernelProvenance provenance_of(const ModelKernel& kernel);

// A kernel that several of the models know.
struct MergeConflict {
  std::string kernel;
  std::string kept;     // the model's name
  std::string dropped;  // likewise
  bool same = false;    // both said the same
};
struct MergedModel {
  ModelContents contents;
  std::vector<MergeConflict> conflicts;
};
// One model of several. Kernels are the same if name, parameter names (in any order) and, where
// both know them, names of inputs are. Of the same kernel in two models the entry of the model with
// the higher generation is taken, whole: two sets of sources cannot be mixed without their
// histories. Among equal generations the later model wins. Only published configurations, which
// refer to no source, are taken along where the winner has none and the same order of parameters.
// The result's generation is one above the highest, if there is one. `names` are for conflicts; as
// many as models.
MergedModel merge_models(const std::vector<ModelContents>& models,
                         const std::vector<std::string>& names);

}  // namespace idletune
