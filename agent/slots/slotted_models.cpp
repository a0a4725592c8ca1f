#include "agent/slots/slotted_models.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "agent/api/agent_state.hpp"
#include "agent/signing/pushed_file.hpp"
#include "models/core/lists.hpp"
#include "models/core/order.hpp"

namespace idletune::slots {
namespace {

constexpr Nanoseconds kYouth = std::chrono::seconds(60);
constexpr Place kSlots[] = {Place::a, Place::b};

const char* file_of(Place place) { return place == Place::a ? "a.itmodel" : "b.itmodel"; }

KnownModel known(const ModelPointer& pushed, Place place) {
  if (pushed == nullptr) return {};
  return {pushed->content_digest(), pushed->generation(), place};
}

Result<ModelPointer> open_model(std::vector<std::uint8_t> bytes, const std::string& name,
                                const FileTrust* trust) {
  Result<std::vector<std::uint8_t>> part = believed_part(std::move(bytes), name, trust);
  if (!part.ok()) return part.status();
  return Model::open(std::move(*part), name);
}

// Of a file itself; else it may be read, or taken, another time.
bool is_final(const Status& status) {
  return status.code() == StatusCode::corrupt || status.code() == StatusCode::untrusted ||
         status.code() == StatusCode::version_mismatch || status.code() == StatusCode::not_found ||
         status.code() == StatusCode::invalid_argument;
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end.data(), end.size()) == 0;
}

}  // namespace

// --- at the start ---

Status SlottedModels::open(const std::string& own_path, const ModelPointer& image) {
  own_path_ = own_path;
  Status status;
  folders_ = open_folders_();
  SlotRecord next;
  const std::vector<std::uint8_t> kept = kept_->kept();
  const bool is_known = !kept.empty() && SlotRecord::decode(kept, next);
  if (!is_known) next = begun_with(image);
  if (Status found = find_confirmed(image, next); !found.ok()) status = found;
  if (Status found = find_trial(image, next); !found.ok()) status = found;
  const bool changes = is_known ? next.encode() != kept : next.trial.is_there();
  // Nothing is tried that is not on the medium first, and nothing is forgotten that cannot be read.
  if (changes && folders_.writable && !keep(next).ok()) trial_ = {};
  record_ = std::move(next);
  if (trial_ != nullptr) begin_youth();
  return status;
}

Result<ModelPointer> SlottedModels::read(Place place) const {
  if (folders_.models == nullptr) return Status(StatusCode::io_error, "no folder of models");
  Result<std::vector<std::uint8_t>> bytes = folders_.models->read(file_of(place), kMaxModelBytes);
  if (!bytes.ok()) return bytes.status();
  return open_model(std::move(*bytes), file_of(place), trust_);
}

// What the record says is there; nothing: the program has another model of its own.
Result<ModelPointer> SlottedModels::find(const KnownModel& wanted,
                                         const ModelPointer& image) const {
  if (known(image, Place::image).digest == wanted.digest) return image;
  if (wanted.place == Place::image) return ModelPointer();
  Result<ModelPointer> slot = read(wanted.place);
  if (!slot.ok() || (*slot)->content_digest() == wanted.digest) return slot;
  return Status(StatusCode::corrupt, "'%': holds another model than was recorded",
                file_of(wanted.place));
}

// Nobody knows any more, or yet, what is confirmed: the program's own model, or the older one of the
// slots where both are newer. One slot alone may hold what was refuted: it is on trial again.
SlotRecord SlottedModels::begun_with(const ModelPointer& image) const {
  std::vector<KnownModel> there;
  for (const Place place : kSlots) {
    const Result<ModelPointer> slot = read(place);
    if (slot.ok()) there.push_back(known(*slot, place));
  }
  SlotRecord record;
  if (there.size() == 2)
    record.confirmed = there[there[1].generation < there[0].generation ? 1 : 0];
  const KnownModel own = known(image, Place::image);
  if (own.is_there() && own.generation >= record.confirmed.generation) record.confirmed = own;
  record.lowest_generation = record.confirmed.generation;
  if (there.size() == 1 && there[0].digest != own.digest && record.admits(there[0]).ok()) {
    record.begin_trial(there[0], kept_->trials());
    record.young_starts = 0;  // find_trial() counts this one
  }
  return record;
}

Status SlottedModels::find_confirmed(const ModelPointer& image, SlotRecord& record) {
  if (!record.confirmed.is_there()) return {};
  Result<ModelPointer> found = find(record.confirmed, image);
  Status status = found.status();
  if (found.ok()) confirmed_ = std::move(*found);
  if (confirmed_ != nullptr) return {};
  // A program with another model of its own has no older one any more; else what is left serves,
  // this once where the slot may be read another time.
  const auto [model, pushed] = another(image, record, record.confirmed.digest);
  if (status.ok() || is_final(status)) {
    record.confirmed = model;
    record.lowest_generation = std::max(record.lowest_generation, model.generation);
  }
  confirmed_ = pushed;
  return status;
}

std::pair<KnownModel, ModelPointer> SlottedModels::another(const ModelPointer& image,
                                                           const SlotRecord& record,
                                                           std::uint64_t not_this) const {
  std::pair<KnownModel, ModelPointer> best;
  const auto offer = [&](const ModelPointer& pushed, Place place) {
    const KnownModel model = known(pushed, place);
    if (model.digest == not_this || model.digest == record.trial.digest ||
        !record.may_serve(model)) {
      return;
    }
    if (!best.first.is_there() || model.generation > best.first.generation) best = {model, pushed};
  };
  offer(image, Place::image);
  for (const Place place : kSlots) {
    if (const Result<ModelPointer> slot = read(place); slot.ok()) offer(*slot, place);
  }
  return best;
}

Status SlottedModels::find_trial(const ModelPointer& image, SlotRecord& record) {
  if (!folders_.writable) return {};
  const KnownModel own = known(image, Place::image);
  if (record.trial.is_there() && record.young_starts >= kYoungDeaths)
    record.refute_trial("three starts with it ended within a minute");
  Status status;
  if (record.trial.is_there()) {
    Result<ModelPointer> found = find(record.trial, image);
    status = found.status();
    if (found.ok()) trial_ = std::move(*found);
    if (trial_ != nullptr) {
      ++record.young_starts;
      return {};
    }
    if (!status.ok() && !is_final(status)) return status;  // it goes on at another start
    record.trial = {};
  }
  // The program came with a newer one.
  if (own.generation > record.confirmed.generation && own.digest != record.confirmed.digest &&
      record.admits(own).ok()) {
    record.begin_trial(own, kept_->trials());
    trial_ = image;
  }
  return status;
}

// --- while it runs ---

Status SlottedModels::receive(const std::string& path) {
  Result<std::vector<std::uint8_t>> bytes = read_file(path, kMaxModelBytes);
  if (!bytes.ok()) return bytes.status();
  return take(std::move(*bytes), path, path == own_path_);
}

Status SlottedModels::take(std::vector<std::uint8_t> bytes, const std::string& name,
                           bool is_image) {
  Result<ModelPointer> pushed = open_model(bytes, name, trust_);
  if (!pushed.ok()) return pushed.status();
  const KnownModel model = known(*pushed, is_image ? Place::image : record_.free_slot());
  const bool is_on_trial = trial_ != nullptr && model.digest == record_.trial.digest;
  if (is_on_trial || model.digest == record_.confirmed.digest) return {};
  if (Status admitted = record_.admits(model); !admitted.ok())
    return Status(admitted.code(), "model '%': %", name, admitted.message());
  if (!folders_.writable) {
    return Status(StatusCode::unsupported,
                  "model '%': nothing is tried without a state folder of this process alone", name);
  }
  // What is in a slot where nothing is recorded passes for confirmed.
  if (Status begun = keep(record_); !begun.ok()) return begun;
  if (Status put_there = is_image ? Status() : put(model.place, bytes); !put_there.ok())
    return put_there;
  SlotRecord next = record_;
  next.begin_trial(model, kept_->trials());
  if (Status kept = keep(next); !kept.ok()) return kept;
  trial_ = std::move(*pushed);
  begin_youth();
  return {};
}

Status SlottedModels::put(Place place, Bytes bytes) const {
  (void)folders_.models->open_again();
  return replace_whole(*folders_.models, "new", file_of(place), bytes).status;
}

Status SlottedModels::keep(const SlotRecord& next) {
  Status status = kept_->keep(next.encode());
  if (!status.ok()) return status;
  record_ = next;
  return {};
}

Status SlottedModels::confirm() {
  if (trial_ == nullptr)
    return Status(StatusCode::not_found, "confirm_model: no model is on trial");
  // Another one was written over it where that could not be recorded.
  if (Status there = find(record_.trial, {}).status(); !there.ok()) return there;
  SlotRecord next = record_;
  next.confirm();
  if (Status kept = keep(next); !kept.ok()) return kept;
  confirmed_ = std::exchange(trial_, {});
  return {};
}

Status SlottedModels::reject(const std::string& why) {
  SlotRecord next = record_;
  if (trial_ != nullptr) {
    next.refute_trial(why);
    trial_ = {};
  } else if (!next.confirmed.is_there()) {
    return Status(StatusCode::not_found, "reject_model: there is no model");
  } else {
    const Result<ModelPointer> image = read_model(own_path_, trust_);
    // What stands in for one that could not be read is what is bad.
    if (confirmed_ != nullptr) next.confirmed = known(confirmed_, next.confirmed.place);
    const auto [model, pushed] =
        another(image.ok() ? *image : ModelPointer(), record_, next.confirmed.digest);
    next.refute_confirmed(why, model);
    confirmed_ = pushed;
  }
  // Gone back from now, whether that can be written or not.
  seen_.clear();
  Status kept = keep(next);
  record_ = std::move(next);
  return kept;
}

Status SlottedModels::look() {
  Status status;
  if (clock_.now() >= due_) {
    lived();
    status = judge_trial();
  }
  if (!folders_.may_take()) folders_ = open_folders_();
  if (!folders_.opened.ok()) status = folders_.opened;
  if (!folders_.may_take()) return status;
  // It may have been made anew.
  if (Status opened = folders_.incoming->open_again(); !opened.ok()) return opened;
  Result<std::vector<std::string>> names = folders_.incoming->list();
  if (!names.ok()) return names.status();
  sort_stably(*names, std::less<std::string>());
  for (const std::string& name : *names) {
    if (!ends_with(name, ".itmodel")) continue;
    const std::string path = joined("%/%", folders_.incoming_name, name);
    const std::uint64_t stamp = file_stamp(path);
    const auto seen = seen_.find(name);
    if (seen != seen_.end() && stamp != 0 && seen->second.stamp == stamp) {
      if (!seen->second.why.ok()) status = seen->second.why;
      continue;
    }
    Result<std::vector<std::uint8_t>> bytes = folders_.incoming->read(name, kMaxModelBytes);
    Status taken = bytes.ok() ? take(std::move(*bytes), path, false) : bytes.status();
    // What is taken goes, unless another one has come meanwhile.
    const bool stays = !taken.ok()
                           ? is_final(taken)
                           : file_stamp(path) == stamp && !folders_.incoming->remove(name).ok();
    if (stays) seen_[name] = {stamp, taken};
    if (!taken.ok()) status = std::move(taken);
  }
  return status;
}

// What the journal says of the model on trial, once in a while.
Status SlottedModels::judge_trial() {
  if (trial_ == nullptr) return {};
  due_ = clock_.now() + kYouth;
  const Judgement judgement =
      judge(kept_->picks(confirmed_.get(), *trial_), record_.before, kept_->trials());
  if (judgement.verdict == ModelVerdict::stays) return confirm();
  return judgement.verdict == ModelVerdict::goes_back ? reject(judgement.why) : Status();
}

void SlottedModels::begin_youth() { due_ = clock_.now() + kYouth; }

void SlottedModels::lived() {
  due_ = Nanoseconds::max();
  if (trial_ == nullptr || record_.young_starts == 0) return;
  SlotRecord next = record_;
  next.young_starts = 0;
  // A cut that loses it counts one young start too many.
  kept_->keep_soon(next.encode());
  record_ = std::move(next);
}

ModelStanding SlottedModels::standing() const {
  ModelStanding standing;
  if (newest() != nullptr)
    standing.state = trial_ != nullptr ? ModelState::trial : ModelState::confirmed;
  standing.lowest_generation = record_.lowest_generation;
  standing.refuted = static_cast<std::uint32_t>(record_.refuted.size());
  if (!record_.refuted.empty()) standing.gone_back = Status(StatusCode::untrusted, record_.reason);
  return standing;
}

// --- what agents keep ---

namespace {

class AgentsRecord final : public ModelRecord {
 public:
  explicit AgentsRecord(detail::AgentState& agent) : agent_(agent) {}
  std::vector<std::uint8_t> kept() const override { return agent_.kept_models(); }
  Status keep(Bytes record) override { return agent_.keep_models(record, /*wait=*/true); }
  void keep_soon(Bytes record) override { (void)agent_.keep_models(record, /*wait=*/false); }
  TrialCount trials() const override {
    TrialCount count;
    agent_.look_at([&](const journal::State& state, Kernels) { count = count_trials(state); });
    return count;
  }
  PickCount picks(const Model* confirmed, const Model& trial) const override {
    PickCount count;
    std::vector<std::uint64_t> seen;
    agent_.look_at([&](const journal::State& state, Kernels kernels) {
      for (const std::unique_ptr<detail::KernelTask>& each : kernels) {
        const std::uint64_t subject = each->facts().trial({}, {}).subject();
        if (contains(seen, subject)) continue;
        push(seen, subject);
        const detail::KernelState& kernel = *each->state;
        count.add(state, kernel.package(), kernel.device().info(), confirmed, trial);
      }
    });
    return count;
  }

 private:
  using Kernels = Span<const std::unique_ptr<detail::KernelTask>>;
  detail::AgentState& agent_;
};

}  // namespace

std::unique_ptr<ModelRecord> record_in(detail::AgentState& agent) {
  return std::make_unique<AgentsRecord>(agent);
}

}  // namespace idletune::slots

namespace idletune {
namespace {

std::unique_ptr<Storage> open_folder(const std::string& path, Status& status) {
  Result<std::unique_ptr<Storage>> opened = open_posix_storage(path);
  if (opened.ok()) return std::move(*opened);
  status = opened.status();
  return nullptr;
}

slots::ModelFolders folders_of(const detail::AgentState& agent) {
  slots::ModelFolders folders;
  const auto [state, writable] = agent.model_folder();
  if (state.empty()) return folders;
  folders.models = open_folder(state + "/models", folders.opened);
  folders.incoming_name = state + "/incoming";
  folders.incoming = open_folder(folders.incoming_name, folders.opened);
  folders.writable = folders.models != nullptr && writable;
  if (folders.writable) tidy_folder(folders.incoming_name);
  return folders;
}

class TwoSlots final : public ModelSlots {
 public:
  std::unique_ptr<detail::KeptModels> make(const FileTrust* trust, const MonotonicClock& clock,
                                           detail::AgentState& agent) const override {
    return std::make_unique<slots::SlottedModels>(
        trust, slots::record_in(agent), [&agent] { return folders_of(agent); }, clock);
  }
};

}  // namespace

const ModelSlots* model_slots() {
  static const TwoSlots slots;
  return &slots;
}

}  // namespace idletune
