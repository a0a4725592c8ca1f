// The models of a board: the program's own, and two slots in the state folder.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "agent/api/agent_models.hpp"
#include "agent/slots/slot_record.hpp"
#include "platform/os/storage.hpp"

namespace idletune::slots {

// What a source keeps across restarts: one record in the agent's journal. Any thread that has none
// of the agent's locks.
class ModelRecord {
 public:
  virtual ~ModelRecord() = default;
  virtual std::vector<std::uint8_t> kept() const = 0;
  // Success: it is on the medium. Else it is where the journal is, in memory, and this says why.
  virtual Status keep(Bytes record) = 0;
  // The same without waiting for the medium: a power cut may lose it.
  virtual void keep_soon(Bytes record) = 0;
  // What the journal says of trials, and of two models' first picks at the agent's kernels.
  virtual TrialCount trials() const = 0;
  virtual PickCount picks(const Model* confirmed, const Model& trial) const = 0;
};

// Where a source may keep models.
struct ModelFolders {
  std::unique_ptr<Storage> models;    // null: nothing can be kept
  std::unique_ptr<Storage> incoming;  // where they are pushed to; null: nowhere
  std::string incoming_name;          // its path
  bool writable = false;              // by this process alone
  Status opened;                      // why what is null is so
  bool may_take() const { return incoming != nullptr && writable; }
};
using OpenModelFolders = std::function<ModelFolders()>;

// In the agent's journal; the agent outlives it.
std::unique_ptr<ModelRecord> record_in(detail::AgentState& agent);

// Every change is on the medium before anything follows from it: first the slot, then the record.
class SlottedModels final : public detail::KeptModels {
 public:
  SlottedModels(const FileTrust* trust, std::unique_ptr<ModelRecord> kept, OpenModelFolders folders,
                const MonotonicClock& clock)
      : trust_(trust), kept_(std::move(kept)), open_folders_(std::move(folders)), clock_(clock) {}

  // A damaged slot costs nothing but itself: then the other one serves, or the program's own.
  Status open(const std::string& own_path, const ModelPointer& own) override;
  const ModelPointer& newest() const override { return trial_ != nullptr ? trial_ : confirmed_; }
  Status receive(const std::string& path) override;
  Status confirm() override;
  Status reject(const std::string& why) override;
  Status look() override;
  Nanoseconds due() const override { return due_; }
  void end() override { lived(); }
  ModelStanding standing() const override;

 private:
  Result<ModelPointer> read(Place place) const;
  Result<ModelPointer> find(const KnownModel& wanted, const ModelPointer& image) const;
  void lived();
  void begin_youth();
  Status judge_trial();
  SlotRecord begun_with(const ModelPointer& image) const;
  // Both read what the record says, and mend it where that is not there.
  Status find_confirmed(const ModelPointer& image, SlotRecord& record);
  Status find_trial(const ModelPointer& image, SlotRecord& record);
  // The newest model that may serve untried and is not this one; nothing: there is none.
  std::pair<KnownModel, ModelPointer> another(const ModelPointer& image, const SlotRecord& record,
                                              std::uint64_t not_this) const;
  Status take(std::vector<std::uint8_t> bytes, const std::string& name, bool is_image);
  Status put(Place place, Bytes bytes) const;
  Status keep(const SlotRecord& next);

  const FileTrust* trust_;
  std::unique_ptr<ModelRecord> kept_;
  std::string own_path_;
  OpenModelFolders open_folders_;
  ModelFolders folders_;
  const MonotonicClock& clock_;
  // A process that dies before may have died of its model; later, the next verdict. Never: nothing
  // is on trial.
  Nanoseconds due_ = Nanoseconds::max();
  SlotRecord record_;
  // Null: not in use, or not before another start.
  ModelPointer confirmed_, trial_;
  // What was found among the pushed files and is not looked at again.
  struct Seen {
    std::uint64_t stamp = 0;  // of the file
    Status why;               // it was refused; ok: it was taken, and cannot be removed
  };
  std::map<std::string, Seen> seen_;
};

}  // namespace idletune::slots
