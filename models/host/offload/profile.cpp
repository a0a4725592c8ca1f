#include "models/host/offload/profile.hpp"

#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "models/host/history/json_stream.hpp"

namespace idletune::offload {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "idletune offload profile";
constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxRegions = 100000;
constexpr std::size_t kMaxOthers = 16;

// --- writing ---

struct NamedGroup {
  const char* name;
  std::string Groups::*member;
};
constexpr NamedGroup kGroups[] = {{"kernel", &Groups::kernel},
                                  {"program", &Groups::program},
                                  {"suite", &Groups::suite},
                                  {"network", &Groups::network},
                                  {"kind", &Groups::kind}};

Status check_features(const std::vector<double>& features, const std::string& where) {
  const FeatureSet& set = profiled_features();
  if (features.size() != set.names.size()) {
    return {StatusCode::invalid_argument, where + std::to_string(features.size()) +
                                              " features instead of " +
                                              std::to_string(set.names.size())};
  }
  for (std::size_t i = 0; i < set.names.size(); ++i) {
    if (!std::isfinite(features[i])) {
      return {StatusCode::invalid_argument,
              where + "feature '" + set.names[i] + "' is not a finite number"};
    }
  }
  return {};
}

Status check_region(const RegionProfile& region) {
  const std::string where = "region '" + region.name + "': ";
  if (Status status = check_features(region.features, where); !status.ok()) return status;
  if (region.others.size() > kMaxOthers) {
    return {StatusCode::invalid_argument, where + "more than 16 others"};
  }
  for (const std::vector<double>& other : region.others) {
    if (Status status = check_features(other, where); !status.ok()) return status;
  }
  if (region.cpu_ms && !(std::isfinite(*region.cpu_ms) && *region.cpu_ms > 0)) {
    return {StatusCode::invalid_argument, where + "the CPU's time is not above 0"};
  }
  return {};
}

Json json_of(const std::vector<double>& features) {
  const FeatureSet& set = profiled_features();
  Json json = Json::object();
  for (std::size_t i = 0; i < set.names.size(); ++i) json[set.names[i]] = features[i];
  return json;
}

Json json_of(const RegionProfile& region) {
  Json json = {{"name", region.name}};
  for (const NamedGroup& group : kGroups) {
    if (!(region.groups.*group.member).empty())
      json["groups"][group.name] = region.groups.*group.member;
  }
  if (region.cpu_ms) json["cpu_ms"] = *region.cpu_ms;
  json["bytes_in"] = region.bytes_in;
  json["bytes_out"] = region.bytes_out;
  json["sampled"] = region.sampled;
  json["iterations"] = iterations_name(region.iterations);
  if (!region.remarks.empty()) json["remarks"] = region.remarks;
  Json counts = Json::object();
  for (const auto& [name, count] : region.counts) counts[name] = count;
  json["counts"] = std::move(counts);
  json["features"] = json_of(region.features);
  for (const std::vector<double>& other : region.others) json["others"].push_back(json_of(other));
  return json;
}

// --- reading ---

// Collects the first thing that is wrong, so that the reading code stays straight.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}
  Status status() const { return status_; }
  bool ok() const { return status_.ok(); }
  void enter(const std::string& place) { place_ = place; }
  void fail(StatusCode code, const std::string& what) {
    if (ok()) status_ = Status(code, path_ + ": " + place_ + what);
  }
  void require(bool condition, const std::string& what) {
    if (!condition) fail(StatusCode::corrupt, what);
  }

  const Json* member(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
  }
  std::string text(const Json& object, const char* name, bool needed) {
    const Json* value = member(object, name);
    if (value == nullptr && !needed) return "";
    require(value != nullptr && value->is_string(), std::string("no text '") + name + "'");
    return ok() && value != nullptr && value->is_string() ? value->get<std::string>() : "";
  }
  std::uint64_t whole(const Json& value, const std::string& name) {
    require(value.is_number_unsigned(), "'" + name + "' is not a whole number of at least 0");
    return ok() ? value.get<std::uint64_t>() : 0;
  }
  std::uint64_t whole_member(const Json& object, const char* name) {
    const Json* value = member(object, name);
    return value == nullptr ? 0 : whole(*value, name);
  }
  // Python and others write NaN as it stands; nlohmann's parser refuses it as no JSON.
  double number(const Json& value, const std::string& name) {
    const bool good = value.is_number() && std::isfinite(value.get<double>());
    require(good, "'" + name + "' is not a finite number");
    return good ? value.get<double>() : 0;
  }

 private:
  std::string path_;
  std::string place_;
  Status status_;
};

void read_groups(const Json& json, RegionProfile& region, Reader& reader) {
  const Json* groups = reader.member(json, "groups");
  if (groups == nullptr) return;
  reader.require(groups->is_object(), "'groups' is not an object");
  if (!reader.ok()) return;
  for (const NamedGroup& group : kGroups)
    region.groups.*group.member = reader.text(*groups, group.name, false);
}

std::vector<double> read_features(const Json* json, Reader& reader) {
  const FeatureSet& set = profiled_features();
  std::vector<double> features;
  reader.require(json != nullptr && json->is_object(), "no object 'features'");
  if (!reader.ok()) return features;
  for (const std::string& name : set.names) {
    const Json* value = reader.member(*json, name.c_str());
    reader.require(value != nullptr, "feature '" + name + "' is missing");
    features.push_back(value == nullptr ? 0 : reader.number(*value, name));
  }
  for (const auto& [name, value] : json->items())
    reader.require(set.find(name) < set.names.size(), "'" + name + "' is no feature");
  return features;
}

void read_others(const Json& json, RegionProfile& region, Reader& reader) {
  const Json* others = reader.member(json, "others");
  if (others == nullptr) return;
  reader.require(others->is_array() && others->size() <= kMaxOthers,
                 "'others' is not a list of at most 16 features");
  if (!reader.ok()) return;
  for (const Json& other : *others) region.others.push_back(read_features(&other, reader));
}

void read_counts(const Json& json, RegionProfile& region, Reader& reader) {
  const Json* counts = reader.member(json, "counts");
  if (counts == nullptr) return;
  reader.require(counts->is_object(), "'counts' is not an object");
  if (!reader.ok()) return;
  for (const auto& [name, value] : counts->items())
    region.counts.emplace_back(name, reader.whole(value, name));
}

void read_remarks(const Json& json, RegionProfile& region, Reader& reader) {
  const Json* remarks = reader.member(json, "remarks");
  if (remarks == nullptr) return;
  reader.require(remarks->is_array(), "'remarks' is not a list");
  if (!reader.ok()) return;
  for (const Json& remark : *remarks) {
    reader.require(remark.is_string(), "a remark is not a text");
    if (reader.ok()) region.remarks.push_back(remark.get<std::string>());
  }
}

void read_iterations(const Json& json, RegionProfile& region, Reader& reader) {
  const std::string name = reader.text(json, "iterations", false);
  bool known = name.empty();
  for (const Iterations one : kAllIterations) {
    if (name == iterations_name(one)) {
      region.iterations = one;
      known = true;
    }
  }
  reader.require(
      known, "iterations '" + name + "' are none of unknown, independent, reduction, dependent");
}

RegionProfile read_region(const Json& json, std::size_t number, Reader& reader) {
  RegionProfile region;
  reader.enter("region " + std::to_string(number) + ": ");
  reader.require(json.is_object(), "not an object");
  if (!reader.ok()) return region;
  region.name = reader.text(json, "name", true);
  reader.enter("region '" + region.name + "': ");
  read_groups(json, region, reader);
  if (const Json* ms = reader.member(json, "cpu_ms")) {
    region.cpu_ms = reader.number(*ms, "cpu_ms");
    reader.require(*region.cpu_ms > 0, "'cpu_ms' is not above 0");
  }
  region.bytes_in = reader.whole_member(json, "bytes_in");
  region.bytes_out = reader.whole_member(json, "bytes_out");
  if (const Json* sampled = reader.member(json, "sampled")) {
    reader.require(sampled->is_boolean(), "'sampled' is not true or false");
    if (reader.ok()) region.sampled = sampled->get<bool>();
  }
  read_iterations(json, region, reader);
  read_counts(json, region, reader);
  region.features = read_features(reader.member(json, "features"), reader);
  read_others(json, region, reader);
  read_remarks(json, region, reader);
  return region;
}

void check_version(const Json& root, Reader& reader) {
  const FeatureSet& set = profiled_features();
  const Json* format = reader.member(root, "format");
  reader.require(format != nullptr && *format == kFormat,
                 std::string("no profile: 'format' is not \"") + kFormat + "\"");
  const Json* version = reader.member(root, "feature_version");
  reader.require(version != nullptr && version->is_number_unsigned(),
                 "no whole number 'feature_version'");
  if (!reader.ok()) return;
  if (version->get<std::uint64_t>() != set.version) {
    reader.fail(StatusCode::version_mismatch,
                "features of version " + version->dump() + "; this program reads version " +
                    std::to_string(set.version) + ": profile the program again");
  }
}

}  // namespace

Result<std::string> profile_text(const Profile& profile) {
  Json json = {{"format", kFormat},
               {"feature_version", profiled_features().version},
               {"program", profile.program},
               {"regions", Json::array()}};
  for (const RegionProfile& region : profile.regions) {
    if (Status status = check_region(region); !status.ok()) return status;
    json["regions"].push_back(json_of(region));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Profile> parse_profile(std::string_view text, const std::string& path) {
  if (text.size() > kMaxTextBytes) {
    return Status(StatusCode::out_of_memory, path + ": more than 64 MiB");
  }
  // In pieces: a text without end is refused at its first bad byte, with line and column.
  Json root = Json::object();
  std::vector<Json> regions;
  JsonStreamCalls calls;
  calls.member = [&](const std::string& key, Json&& value) {
    root[key] = std::move(value);
    return Status();
  };
  calls.element = [&](const std::string&, Json&& value) {
    regions.push_back(std::move(value));
    return regions.size() <= kMaxRegions
               ? Status()
               : Status(StatusCode::out_of_memory,
                        path + ": more than " + std::to_string(kMaxRegions) + " regions");
  };
  const auto read = stream_json(text, path, "regions", calls);
  if (!read.ok()) return read.status();
  if (read->torn) return Status(StatusCode::corrupt, path + ": ends early");
  Reader reader(path);
  check_version(root, reader);
  Profile profile;
  if (reader.ok()) profile.program = reader.text(root, "program", false);
  std::set<std::string> names;
  for (std::size_t i = 0; i < regions.size() && reader.ok(); ++i) {
    profile.regions.push_back(read_region(regions[i], i, reader));
    reader.require(names.insert(profile.regions.back().name).second, "occurs twice in one profile");
  }
  if (!reader.ok()) return reader.status();
  return profile;
}

}  // namespace idletune::offload
