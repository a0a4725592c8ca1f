#include "models/host/offload/stored_model.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include <nlohmann/json.hpp>

#include "models/host/history/compression.hpp"
#include "models/host/learn/model_contents.hpp"
#include "models/predict/model_format.hpp"

namespace idletune::offload {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kVersion = 1;
constexpr std::uint64_t kMaxStoredBytes = std::uint64_t{64} << 20;
constexpr const char* kEntry = "offload";

Json json_of(const Sample& sample) {
  const Groups& groups = sample.groups;
  return {{"name", sample.name},
          {"groups", {groups.kernel, groups.program, groups.suite, groups.network, groups.kind}},
          {"cpu_ms", sample.cpu_ms},
          {"gpu_ms", sample.best_gpu_ms()},
          {"bytes", {sample.bytes_in, sample.bytes_out}},
          {"features", sample.features}};
}

Json json_of(const OffloadModel& model) {
  Json samples = Json::array();
  for (const Sample& sample : model.set.samples) samples.push_back(json_of(sample));
  return {{"set", model.set.name},
          {"device", model.set.device},
          {"features",
           {{"name", model.set.features.name},
            {"version", model.set.features.version},
            {"names", model.set.features.names}}},
          {"method", model.options.learner.method},
          {"cpu_time", model.options.learner.cpu_time},
          {"models", model.options.learner.models},
          {"seed", model.options.learner.seed},
          {"group", group_by_name(model.options.group)},
          {"folds", model.options.folds},
          {"samples", std::move(samples)}};
}

bool is_good(const Sample& sample, std::size_t features) {
  bool good = sample.features.size() == features && sample.cpu_ms > 0 &&
              std::isfinite(sample.cpu_ms) && sample.gpu_ms[0] > 0 &&
              std::isfinite(sample.gpu_ms[0]);
  for (const double value : sample.features) good = good && std::isfinite(value);
  return good;
}

Sample sample_of(const Json& json) {
  Sample sample;
  sample.name = json.at("name").get<std::string>();
  const auto groups = json.at("groups").get<std::array<std::string, 5>>();
  sample.groups = {groups[0], groups[1], groups[2], groups[3], groups[4]};
  sample.cpu_ms = json.at("cpu_ms").get<double>();
  sample.gpu_ms = {json.at("gpu_ms").get<double>()};
  sample.bytes_in = json.at("bytes").at(0).get<std::uint64_t>();
  sample.bytes_out = json.at("bytes").at(1).get<std::uint64_t>();
  sample.features = json.at("features").get<std::vector<double>>();
  return sample;
}

// Throws what nlohmann's library throws for values that are not there or of another kind.
Result<OffloadModel> model_of(const Json& json, const std::string& path) {
  OffloadModel model;
  model.set.name = json.at("set").get<std::string>();
  model.set.device = json.at("device").get<std::string>();
  model.set.features.name = json.at("features").at("name").get<std::string>();
  model.set.features.version = json.at("features").at("version").get<std::uint32_t>();
  model.set.features.names = json.at("features").at("names").get<std::vector<std::string>>();
  model.set.variants = {"fastest"};
  model.options.learner.method = json.at("method").get<std::string>();
  model.options.learner.cpu_time = json.at("cpu_time").get<bool>();
  model.options.learner.models = json.at("models").get<std::size_t>();
  model.options.learner.seed = json.at("seed").get<std::uint64_t>();
  model.options.folds = json.at("folds").get<std::size_t>();
  const auto group = group_by_name(json.at("group").get<std::string>());
  if (!group.ok()) return Status(StatusCode::corrupt, path + ": " + group.status().message());
  model.options.group = *group;
  if (model.options.learner.models < 1 || model.options.learner.models > 1000 ||
      model.options.folds < 2 || model.options.folds > 1000) {
    return Status(StatusCode::corrupt, path +
                                           ": its numbers of models and folds are not from 1 "
                                           "and 2 to 1000");
  }
  for (const Json& one : json.at("samples")) {
    model.set.samples.push_back(sample_of(one));
    if (!is_good(model.set.samples.back(), model.set.features.names.size())) {
      return Status(StatusCode::corrupt, path + ": sample '" + model.set.samples.back().name +
                                             "' has another number of features, or a number "
                                             "that is none");
    }
  }
  return model;
}

Result<OffloadModel> read_section(const ModelSection& section, const std::string& path) {
  Status damaged(StatusCode::corrupt, path + ": the section about offloading is damaged");
  if (section.version > kVersion) {
    return Status(StatusCode::version_mismatch,
                  path + ": the section about offloading is of version " +
                      std::to_string(section.version) + "; this program reads up to " +
                      std::to_string(kVersion));
  }
  std::uint64_t size = 0;
  if (section.bytes.size() < sizeof size) return damaged;
  std::memcpy(&size, section.bytes.data(), sizeof size);
  if (size > kMaxStoredBytes) return damaged;
  const Bytes packed(section.bytes.data() + sizeof size, section.bytes.size() - sizeof size);
  const auto raw = inflate_bytes(packed, static_cast<std::size_t>(size));
  if (!raw.ok()) return damaged;
  const Json json = Json::parse(raw->begin(), raw->end(), nullptr, false);
  if (json.is_discarded() || !json.is_object()) return damaged;
  try {
    return model_of(json, path);
  } catch (const Json::exception& error) {
    return Status(StatusCode::corrupt, path + ": the section about offloading: " + error.what());
  }
}

}  // namespace

std::vector<std::uint8_t> write_offload_model(const OffloadModel& model) {
  const std::string text = json_of(model).dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::uint64_t size = text.size();
  ModelSection section;
  section.kind = static_cast<std::uint32_t>(model_schema::SectionKind::offload);
  section.version = kVersion;
  section.bytes.resize(sizeof size);
  std::memcpy(section.bytes.data(), &size, sizeof size);
  const auto packed =
      deflate_bytes({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  section.bytes.insert(section.bytes.end(), packed.begin(), packed.end());
  ModelContents contents;
  contents.kernels.push_back({kEntry, {kEntry}, {std::move(section)}});
  return write_model(contents);
}

Result<OffloadModel> read_offload_model(Bytes bytes, const std::string& path) {
  const auto contents = read_model(bytes, path);
  if (!contents.ok()) return contents.status();
  for (const ModelKernel& kernel : contents->kernels) {
    for (const ModelSection& section : kernel.sections) {
      if (section.kind == static_cast<std::uint32_t>(model_schema::SectionKind::offload))
        return read_section(section, path);
    }
  }
  return Status(StatusCode::not_found, path + ": says nothing about offloading");
}

}  // namespace idletune::offload
