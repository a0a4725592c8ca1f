#include "agent/host/explore/log.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "agent/journal/record.hpp"
#include "models/core/digest.hpp"

namespace idletune::explore {
namespace {

using journal::get;
using journal::Payload;
using journal::put;

// A byte above 127 tells the file from text, a line feed catches text-mode copies.
constexpr std::uint8_t kMagic[8] = {0x89, 'I', 'T', 'X', 'P', 'L', 'R', '\n'};
constexpr char kNewLogName[] = "results.new";
constexpr std::uint16_t kFormatVersion = 1;
constexpr std::size_t kChecksumOffset = 20;
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;
constexpr std::size_t kMaxMessageBytes = 400;
constexpr std::chrono::seconds kSyncInterval{2};

enum Record : std::uint8_t { kIdentity = 1, kResult = 2, kControl = 3 };

// As long as the journal's header, so that its record reader finds the records.
Payload header_of(std::uint64_t generation) {
  Payload out(kMagic, kMagic + sizeof kMagic);
  put(kFormatVersion, 2, out);
  put(0, 2, out);
  put(generation, 8, out);
  put(crc32c(Bytes(out.data(), kChecksumOffset)), 4, out);
  return out;
}

Result<std::uint64_t> read_header(Bytes file) {
  if (file.size() < journal::kFileHeaderBytes ||
      std::memcmp(file.data(), kMagic, sizeof kMagic) != 0 ||
      crc32c(file.subspan(0, kChecksumOffset)) != get(file.data() + kChecksumOffset, 4)) {
    return Status(StatusCode::corrupt, std::string(kLogName) +
                                           ": no progress of an exploration (the header is "
                                           "damaged or another file's)");
  }
  const auto version = static_cast<std::uint16_t>(get(file.data() + 8, 2));
  if (version != kFormatVersion) {
    return Status(StatusCode::version_mismatch, std::string(kLogName) + ": format version " +
                                                    std::to_string(version) + ", expected " +
                                                    std::to_string(kFormatVersion));
  }
  return get(file.data() + 12, 8);
}

nlohmann::json times_json(const std::vector<Nanoseconds>& samples) {
  nlohmann::json list = nlohmann::json::array();
  for (const Nanoseconds sample : samples) list.push_back(sample.count());
  return list;
}

std::vector<Nanoseconds> times_of(const nlohmann::json& list) {
  std::vector<Nanoseconds> times;
  for (const nlohmann::json& value : list) times.emplace_back(value.get<std::int64_t>());
  return times;
}

// Cuts at a character's beginning, and replaces what is no UTF-8: drivers write what they like.
std::string storable(const std::string& message) {
  std::string text;
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x20 && byte < 0x7f ? c : (byte == '\n' || byte == '\t' ? ' ' : '?');
    if (text.size() == kMaxMessageBytes) break;
  }
  return text;
}

nlohmann::json json_of(const ExploredConfiguration& r) {
  const auto values = r.configuration.values();
  nlohmann::json json = {
      {"n", r.number},
      {"c", std::vector<std::int64_t>(values.begin(), values.end())},
      {"s", static_cast<unsigned>(r.status)},
      {"compile", r.compile.count()},
      {"check", r.check.count()},
      {"measure", r.measure.count()},
      {"error", r.max_error < 1e300 ? nlohmann::json(r.max_error) : nlohmann::json()},
      {"t", times_json(r.samples)},
      {"at", r.unix_seconds}};
  if (r.setup.count() > 0) json["setup"] = r.setup.count();
  if (!r.message.empty()) json["why"] = storable(r.message);
  return json;
}

ExploredConfiguration result_of(const nlohmann::json& json) {
  ExploredConfiguration r;
  r.number = json.at("n").get<std::uint64_t>();
  for (const nlohmann::json& value : json.at("c"))
    r.configuration.push_back(value.get<std::int64_t>());
  r.status = static_cast<TrialStatus>(json.at("s").get<unsigned>());
  r.compile = Nanoseconds(json.at("compile").get<std::int64_t>());
  r.check = Nanoseconds(json.at("check").get<std::int64_t>());
  r.measure = Nanoseconds(json.at("measure").get<std::int64_t>());
  r.max_error = json.at("error").is_null() ? std::numeric_limits<double>::infinity()
                                           : json.at("error").get<double>();
  r.samples = times_of(json.at("t"));
  r.unix_seconds = json.at("at").get<std::int64_t>();
  r.setup = Nanoseconds(json.value("setup", std::int64_t{0}));
  r.message = json.value("why", std::string());
  return r;
}

bool is_possible(const ExploredConfiguration& r) {
  const bool timed = std::all_of(r.samples.begin(), r.samples.end(),
                                 [](Nanoseconds sample) { return sample.count() > 0; });
  const bool correct = r.status == TrialStatus::correct;
  return static_cast<unsigned>(r.status) < kTrialStatusCount && timed &&
         correct == !r.samples.empty() && !r.configuration.empty();
}

ControlMeasurement control_of(const nlohmann::json& json) {
  ControlMeasurement control;
  control.after = json.at("after").get<std::uint64_t>();
  control.samples = times_of(json.at("t"));
  control.unix_seconds = json.at("at").get<std::int64_t>();
  return control;
}

// "seed: 1 there, 2 here" for the first difference.
std::string difference(const Identity& there, const Identity& here) {
  for (const auto& [key, value] : here.items()) {
    const nlohmann::json other = there.value(key, nlohmann::json());
    if (other != value) return key + ": " + other.dump() + " there, " + value.dump() + " here";
  }
  return "it has settings that this version does not know";
}

}  // namespace

Log::Log(std::unique_ptr<Storage> storage)
    : storage_(std::move(storage)), next_sync_(Clock::now() + kSyncInterval) {}

Result<std::unique_ptr<Log>> Log::open(std::unique_ptr<Storage> storage, const Identity& identity) {
  std::unique_ptr<Log> log(new Log(std::move(storage)));
  if (Status status = log->storage_->lock();
      !status.ok() && status.code() != StatusCode::unsupported) {
    return status;
  }
  Result<std::vector<std::uint8_t>> file = log->storage_->read(kLogName, kMaxFileBytes);
  const bool missing = !file.ok() && file.code() == StatusCode::not_found;
  if (!file.ok() && !missing) return file.status();
  if (Status status = missing ? log->create(identity) : log->load(*file, identity); !status.ok()) {
    return status;
  }
  return log;
}

// Under another name first: a log that is there has its header and its identity.
Status Log::create(const Identity& identity) {
  generation_ = digest_of(identity.dump());
  identity_ = identity;
  Result<std::unique_ptr<AppendFile>> file = storage_->create(kNewLogName);
  if (!file.ok()) return file.status();
  file_ = std::move(*file);
  const Payload header = header_of(generation_);
  if (Status status = file_->append(header); !status.ok()) return status;
  size_bytes_ = header.size();
  if (Status status = append_record(kIdentity, identity); !status.ok()) return status;
  if (Status status = sync(); !status.ok()) return status;
  if (Status status = storage_->rename(kNewLogName, kLogName); !status.ok()) return status;
  return storage_->sync_folder();
}

Status Log::load(Bytes file, const Identity& identity) {
  Result<std::uint64_t> generation = read_header(file);
  if (!generation.ok()) return generation.status();
  generation_ = *generation;
  journal::RecordReader reader(file, generation_);
  for (journal::RecordView record; reader.next(record);) {
    if (Status status = take(record.type, record.payload, identity); !status.ok()) return status;
  }
  if (identity_.is_null()) {
    return Status(StatusCode::corrupt,
                  std::string(kLogName) + ": the record that says what was explored is damaged");
  }
  size_bytes_ = reader.offset();
  if (file.size() > size_bytes_) {
    if (Status status = storage_->truncate(kLogName, size_bytes_); !status.ok()) return status;
  }
  Result<std::unique_ptr<AppendFile>> opened = storage_->open_append(kLogName);
  if (!opened.ok()) return opened.status();
  file_ = std::move(*opened);
  return {};
}

Status Log::take(std::uint8_t type, Bytes payload, const Identity& identity) {
  // The checksum is right, so these bytes are what some version wrote.
  try {
    const nlohmann::json json = nlohmann::json::parse(payload.begin(), payload.end());
    if (type == kIdentity) {
      identity_ = json;
      Identity wanted = identity;
      if (!json.contains(kEstimator)) wanted.erase(kEstimator);
      if (json != wanted) {
        return Status(StatusCode::invalid_argument,
                      "the progress is another exploration's (" + difference(json, wanted) + ")");
      }
    } else if (type == kResult) {
      ExploredConfiguration result = result_of(json);
      if (is_possible(result)) results_.push_back(std::move(result));
    } else if (type == kControl) {
      controls_.push_back(control_of(json));
    }
  } catch (const nlohmann::json::exception& error) {
    return Status(StatusCode::corrupt,
                  std::string(kLogName) + ": a record cannot be read: " + error.what());
  }
  return {};
}

Status Log::append_record(std::uint8_t type, const nlohmann::json& value) {
  const std::string text = value.dump();
  if (text.size() > journal::kMaxPayloadBytes) {
    return Status(StatusCode::internal, std::string(kLogName) + ": a record of " +
                                            std::to_string(text.size()) + " bytes, at most " +
                                            std::to_string(journal::kMaxPayloadBytes));
  }
  Payload bytes;
  journal::append_record(type, journal::kRecordVersion,
                         Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()),
                         generation_, size_bytes_, bytes);
  if (Status status = file_->append(bytes); !status.ok()) return status;
  size_bytes_ += bytes.size();
  return {};
}

Status Log::append(const ExploredConfiguration& result) {
  if (Status status = append_record(kResult, json_of(result)); !status.ok()) return status;
  results_.push_back(result);
  results_.back().message = storable(result.message);  // as whoever reads it has it
  return {};
}

Status Log::append(const ControlMeasurement& control) {
  const nlohmann::json json = {
      {"after", control.after}, {"t", times_json(control.samples)}, {"at", control.unix_seconds}};
  if (Status status = append_record(kControl, json); !status.ok()) return status;
  controls_.push_back(control);
  return {};
}

Status Log::sync() { return file_->sync(); }

Status Log::sync_if_due() {
  if (Clock::now() < next_sync_) return {};
  next_sync_ = Clock::now() + kSyncInterval;
  return sync();
}

}  // namespace idletune::explore
