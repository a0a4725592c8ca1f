#include "tests/lives/played_models.hpp"

#include <algorithm>

#include "agent/api/agent_state.hpp"
#include "tests/unit/journal/folder_below.hpp"

namespace idletune::lives {

std::unique_ptr<detail::KeptModels> PlayedSlots::make(const FileTrust* trust,
                                                      const MonotonicClock& clock,
                                                      detail::AgentState& agent) const {
  const auto open = [disk = disk_, &agent] {
    slots::ModelFolders folders;
    folders.models = std::make_unique<test::FolderBelow>(disk, "models");
    folders.incoming = std::make_unique<test::FolderBelow>(disk, "incoming");
    folders.incoming_name = "incoming";
    folders.writable = agent.model_folder().second;
    return folders;
  };
  return std::make_unique<slots::SlottedModels>(trust, slots::record_in(agent), open, clock);
}

void push_model(const std::shared_ptr<test::Disk>& disk, const std::vector<std::uint8_t>& bytes) {
  test::FolderBelow incoming(disk, "incoming");
  const auto file = incoming.create("part");
  const bool written = file.ok() && (*file)->append(bytes).ok() && (*file)->sync().ok();
  if (written && incoming.rename("part", "m.itmodel").ok()) (void)incoming.sync_folder();
}

void ToldModels::confirmed(const Models& now) {
  lowest_generation_ = std::max(lowest_generation_, now.record.lowest_generation);
}

void ToldModels::rejects(const Models& now) {
  if (!now.record.trial.is_there()) lowest_generation_ = 0;
}

const char* ToldModels::wrong(const Models& now) const {
  const slots::SlotRecord& record = now.record;
  if (now.used != 0 && rejected_.count(now.used) != 0) return "rejected-is-used";
  if (now.used != 0 && record.is_refuted(now.used)) return "refuted-is-used";
  if (record.lowest_generation < lowest_generation_) return "confirmation-is-lost";
  for (const std::uint64_t each : rejected_)
    if (!record.is_refuted(each)) return "rejection-is-lost";
  if (record.young_starts > slots::kYoungDeaths) return "dies-young-again";
  const slots::KnownModel& said = record.trial.is_there() ? record.trial : record.confirmed;
  return now.used == said.digest ? "" : "another-one-is-used";
}

}  // namespace idletune::lives
